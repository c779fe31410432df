import KithSystem

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The lock of an open database: while it is held no other process, and no second opening in this one, gets it. It ends
/// with the process, however that ends. The file stays, with the holder's process id in its first line and what the
/// holder claimed of the log in its second.
final class FileLock {
    private let lock: any OpenFile
    private let path: String
    /// What the last holder claimed of the log.
    private(set) var lastClaim: LogClaim

    init(_ file: DatabaseFile) throws(StoreError) {
        path = file.lockPath
        do throws(SystemError) {
            lock = try file.fileSystem.open(path, .create)
        } catch {
            throw StoreError(
                StoreError("make", path, error).code, path,
                "can't make the lock file of \(file.shortName) in \(file.shortDirectory): \(error.reason)")
        }
        guard (try? lock.lock()) == true else {
            let holder = Self.lines(lock).first.flatMap { Int($0) }
            throw Self.taken(file, by: holder)
        }
        let lines = Self.lines(lock)
        lastClaim = lines.count > 1 ? LogClaim(lines[1]) : .none
        write(lastClaim)
    }

    private static func taken(_ file: DatabaseFile, by holder: Int?) -> StoreError {
        let advice =
            holder == Int(getpid())
            ? "is open already in this process: use that one, or close it first"
            : "is open in \(holder.map { "process \($0)" } ?? "another process"): stop that one first"
        return StoreError(.locked, file.name.string, "\(file.shortName) \(advice)")
    }

    /// Writes what this holder claims of the log. The id before it is for people; a lock without both is as good.
    func write(_ claim: LogClaim) {
        // One write of one length: whatever ends the process, there is never half of it.
        var text = Array("\(getpid())\n\(claim.text)\n".utf8)
        text += [UInt8](repeating: UInt8(ascii: " "), count: max(0, Self.bytes - text.count))
        try? lock.write(text, at: 0)
    }

    /// What was written is on disk when this returns.
    /// - Returns: whether it is.
    func synchronize() -> Bool { (try? lock.synchronize()) != nil }

    /// Takes back what was claimed of the log. On disk when this returns.
    func claimNothing() throws(StoreError) {
        write(.empty)
        lastClaim = .empty
        guard synchronize() else {
            throw StoreError(
                .inputOutput, path, "the disk failed on the lock file of a database: look at the system's log")
        }
    }

    private static let bytes = 64

    private static func lines(_ lock: any OpenFile) -> [String] {
        let text = (try? lock.read(bytes, at: 0)) ?? []
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
