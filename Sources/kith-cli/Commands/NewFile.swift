import Glibc
import KithNode

/// A file that is made whole or not at all: written aside in its folder, for its owner only, and then given its name.
struct FileInMaking {
    let target: String
    /// Where it is written.
    let part: String
    private let replaces: Bool

    /// - Parameter replaces: whether a file that is there may be replaced.
    /// - Throws: `CommandError` where the name is taken, or a directory's.
    init(_ target: String, replaces: Bool) throws(CommandError) {
        self.target = target
        self.replaces = replaces
        // Aside in the same folder, so that the name stands for a whole file at any time.
        part = "\(target).part-\(getpid())"
        var status = stat()
        guard stat(target, &status) == 0 else { return }
        if status.st_mode & S_IFMT == S_IFDIR {
            throw CommandError("\(Shown.path(target)) is a directory: name a file in it")
        }
        if !replaces { throw CommandError("\(Shown.path(target)) is there already: say --force to replace it") }
    }

    /// Gives it its name; what is at `part` is whole and on disk.
    func putInPlace() throws(CommandError) {
        // A file that came into being meanwhile is not replaced either.
        let code = replaces ? rename(part, target) : link(part, target)
        guard code == 0 else {
            throw CommandError("cannot make \(Shown.path(target)): \(String(cString: strerror(errno)))")
        }
        if !replaces { unlink(part) }
        let folder = target.lastIndex(of: "/").map { $0 == target.startIndex ? "/" : String(target[..<$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor >= 0 {
            fsync(descriptor)
            close(descriptor)
        }
    }
}

/// A file that is written for its owner only.
final class NewFile {
    private let descriptor: Int32
    private let name: String

    /// - Parameter name: what errors call it.
    init(_ path: String, called name: String) throws(CommandError) {
        self.name = name
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw Self.failure(name, errno) }
    }

    deinit { close(descriptor) }

    func write(_ bytes: UnsafeRawBufferPointer) throws(CommandError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = Glibc.write(descriptor, part.baseAddress, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure(name, errno) }
            rest = rest.dropFirst(count)
        }
    }

    func write(_ bytes: [UInt8]) throws(CommandError) {
        let result = bytes.withUnsafeBytes { bytes in Result { () throws(CommandError) in try write(bytes) } }
        try result.get()
    }

    func synchronize() throws(CommandError) { if fsync(descriptor) != 0 { throw Self.failure(name, errno) } }

    private static func failure(_ name: String, _ error: Int32) -> CommandError {
        CommandError("cannot write \(Shown.path(name)): \(String(cString: strerror(error)))")
    }
}
