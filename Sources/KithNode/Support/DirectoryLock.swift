import Glibc
import KithSystem
import Synchronization

/// The lock on a node's directory: one running node holds it, and its process id stands in the file.
///
/// The lock is the file system's (on this machine `flock`), so it goes with the process however that ends.
package final class DirectoryLock: Sendable {
    /// Nil once it was let go.
    private let held: Mutex<(any OpenFile)?>

    /// Makes the directory with mode 0700 where there is none, and takes the lock.
    /// - Throws: `NodeError` `directory_in_use` with the holder's process id; `directory` when it can't be made or locked.
    package init(directory: String, on files: any FileSystem = LocalFileSystem()) throws(NodeError) {
        try Self.makeDirectory(directory, on: files)
        let path = directory + "/lock"
        let file: any OpenFile
        do throws(SystemError) { file = try files.open(path, .create) } catch { throw Self.closed(path, error) }
        try Self.take(file, of: directory)
        held = Mutex(file)
        // In one write of one length: at no moment does another process's id stand there.
        var text = Array("\(getpid())\n".utf8)
        text += [UInt8](repeating: UInt8(ascii: "\n"), count: max(0, Self.bytes - text.count))
        // A node starts on a full disk too: then who looks for its id finds none.
        try? file.write(text, at: 0)
    }

    /// Lets the directory go, before this object does.
    package func release() { held.withLock { $0 = nil } }

    /// Looks whether the lock could be taken, and leaves it.
    /// - Throws: as `init`.
    package static func requireFree(
        _ directory: String, on files: any FileSystem = LocalFileSystem()
    ) throws(NodeError) {
        let path = directory + "/lock"
        let file: any OpenFile
        do throws(SystemError) { file = try files.open(path, .write) } catch {
            if error.number == ENOENT { return }
            throw closed(path, error)
        }
        try take(file, of: directory)
    }

    /// Whether nobody holds the lock of a directory.
    package static func isFree(_ directory: String) -> Bool { (try? requireFree(directory)) != nil }

    /// Makes a directory and what is missing above it, for this user alone.
    package static func makeDirectory(
        _ path: String, on files: any FileSystem = LocalFileSystem()
    ) throws(NodeError) {
        do throws(SystemError) { try files.makeDirectories(path) } catch {
            throw NodeError(code: "directory", message: "can't make the directory \(path): \(error.reason)")
        }
    }

    /// Bytes of the file: the longest process id and its line's end fit.
    private static let bytes = 16

    private static func take(_ file: any OpenFile, of directory: String) throws(NodeError) {
        let isTaken: Bool
        do throws(SystemError) { isTaken = try file.lock() } catch { throw closed(directory + "/lock", error) }
        guard !isTaken else { return }
        let text = String(decoding: (try? file.read(bytes, at: 0)) ?? [], as: UTF8.self)
        let holder = text.split(separator: "\n").first.map(String.init) ?? "unknown"
        let advice =
            holder == String(getpid())
            ? "of this process; use that one, or stop it first" : "with process id \(holder); stop it with: kith stop"
        throw NodeError(code: "directory_in_use", message: "\(directory) is used by the running node \(advice)")
    }

    private static func closed(_ path: String, _ error: SystemError) -> NodeError {
        NodeError(
            code: "directory",
            message: "can't open \(path): \(error.reason); check the directory's owner and mode")
    }
}
