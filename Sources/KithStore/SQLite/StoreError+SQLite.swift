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
        return StoreError(kind, subject, explanation(of: kind, subject, code), sqliteCode: code)
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

    private static func explanation(of kind: Code, _ subject: String, _ code: Int32) -> String {
        let subject = shortened(subject, to: Limits.subjectCharacters)
        return switch kind {
        case .storageFull: "no space left to write \(subject); nothing was written: free some space and try again"
        case .inputOutput:
            "the disk failed on \(subject) (SQLite \(code)); nothing was written: look at the system's log"
        case .cannotOpen: "can't open \(subject) (SQLite \(code)): look at the path and its permissions"
        case .damaged:
            "\(subject) is damaged (SQLite \(code)): stop the node, look at the disk, and put a copy of the file back"
        case .locked: "\(subject) is in use by another connection (SQLite \(code)): try again"
        case .readOnly: "\(subject) can't be written: look at the permissions and at the file system"
        case .outOfMemory: "out of memory while working on \(subject)"
        case .invalid: "a value for \(subject) is too large"
        default:
            "a fault of Kith on \(subject) (SQLite \(code), \(String(cString: sqlite3_errstr(code)))): please report it"
        }
    }
}
