import CSQLite

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension StoreError {
    /// Whether a statement was ended by `Connection.watch`.
    var isInterruption: Bool { sqliteCode & 0xFF == SQLITE_INTERRUPT }

    /// Whether the file itself is at fault: its content contradicts itself, or the disk can't read it.
    var isDamage: Bool { code == .damaged || code == .inputOutput }

    /// The failure of a call into SQLite.
    static func sqlite(_ handle: OpaquePointer?, _ code: Int32, _ subject: String) -> StoreError {
        let systemError = handle.map { sqlite3_system_errno($0) } ?? 0
        let kind = Self.code(of: code, systemError: systemError)
        let path = handle.flatMap { sqlite3_db_filename($0, "main") }.map { String(cString: $0) } ?? ""
        return StoreError(
            kind, subject, explanation(of: kind, subject, path.isEmpty ? subject : path, code), sqliteCode: code)
    }

    private static func code(of code: Int32, systemError: Int32) -> Code {
        switch code & 0xFF {
        case SQLITE_FULL: .storageFull
        case SQLITE_IOERR, SQLITE_CANTOPEN:
            if systemError == ENOSPC || systemError == EDQUOT {
                .storageFull
            } else if systemError == EROFS {
                .readOnly
            } else {
                code & 0xFF == SQLITE_IOERR ? .inputOutput : .cannotOpen
            }
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: .damaged
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .locked
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .readOnly
        case SQLITE_NOMEM: .outOfMemory
        case SQLITE_TOOBIG: .invalid
        default: .internalError
        }
    }

    private static func explanation(of kind: Code, _ subject: String, _ path: String, _ code: Int32) -> String {
        let subject = shortened(subject, to: Limits.subjectCharacters)
        let path = shortened(path, to: Limits.pathCharacters)
        return switch kind {
        case .storageFull: "no space left to write to \(subject), and it is as it was: free some space and try again"
        case .inputOutput:
            "the disk failed on \(path) (SQLite \(code)), and no write is counted: look at the system's log"
        case .cannotOpen: "can't open \(path) (SQLite \(code)): look at the path and its permissions"
        case .damaged: "\(path) is damaged (SQLite \(code)): see kith help database-damaged"
        case .locked: "\(subject) is in use by another connection (SQLite \(code)): try again"
        case .readOnly: "\(path) can't be written: look at the permissions and at the file system"
        case .outOfMemory: "out of memory while working on \(subject)"
        case .invalid: "a value for \(subject) is too large"
        default:
            "a fault of Kith on \(subject) (SQLite \(code), \(String(cString: sqlite3_errstr(code)))): please report it"
        }
    }
}
