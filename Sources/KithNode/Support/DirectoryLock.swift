import Glibc

/// The lock on a node's directory: one running node holds it, and its process id stands in the file.
///
/// The lock is the kernel's (`flock`), so it goes with the process however that ends.
package final class DirectoryLock: Sendable {
    private let descriptor: Int32

    /// Makes the directory with mode 0700 where there is none, and takes the lock.
    /// - Throws: `NodeError` `directory_in_use` with the holder's process id; `directory` when it can't be made or locked.
    package init(directory: String) throws(NodeError) {
        try Self.makeDirectory(directory)
        let path = directory + "/lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw NodeError(
                code: "directory", message: "can't open \(path): \(Self.reason); check the directory's owner and mode")
        }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            defer { close(descriptor) }
            throw Self.inUse(directory, descriptor)
        }
        self.descriptor = descriptor
        ftruncate(descriptor, 0)
        let text = Array("\(getpid())\n".utf8)
        text.withUnsafeBytes { _ = pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }

    /// Unlocked first: a child that is being started holds a copy of the descriptor for a moment, and the lock with it.
    deinit {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Looks whether the lock could be taken, and leaves it.
    /// - Throws: as `init`.
    package static func requireFree(_ directory: String) throws(NodeError) {
        let path = directory + "/lock"
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return }
            throw NodeError(
                code: "directory", message: "can't open \(path): \(reason); check the directory's owner and mode")
        }
        defer { close(descriptor) }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 { throw inUse(directory, descriptor) }
    }

    private static func inUse(_ directory: String, _ descriptor: Int32) -> NodeError {
        NodeError(
            code: "directory_in_use",
            message:
                "\(directory) is used by the running node with process id \(holder(descriptor)); stop it with: kith stop"
        )
    }

    /// Whether nobody holds the lock of a directory.
    package static func isFree(_ directory: String) -> Bool { (try? requireFree(directory)) != nil }

    /// Makes a directory and what is missing above it, for this user alone.
    package static func makeDirectory(_ path: String) throws(NodeError) {
        var made = ""
        for part in path.split(separator: "/", omittingEmptySubsequences: false) {
            made += made.isEmpty && part.isEmpty ? "/" : (made == "/" || made.isEmpty ? String(part) : "/" + part)
            if mkdir(made, 0o700) != 0, errno != EEXIST, errno != EISDIR, errno != EROFS, errno != EACCES {
                throw NodeError(code: "directory", message: "can't make the directory \(made): \(reason)")
            }
        }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw NodeError(code: "directory", message: "can't make the directory \(path): \(reason)")
        }
    }

    private static func holder(_ descriptor: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 16)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        let text = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        return text.split(separator: "\n").first.map(String.init) ?? "unknown"
    }

    private static var reason: String { String(cString: strerror(errno)) }
}
