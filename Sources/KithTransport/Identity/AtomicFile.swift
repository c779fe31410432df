import Glibc

/// Files that are either as they were or as they should be, whatever happens in between: written aside, synced, renamed,
/// the directory synced.
package enum AtomicFile {
    /// Replaces or makes the file, readable by its owner only. On disk when this returns.
    package static func write(_ bytes: [UInt8], to path: String) throws(TransportError) {
        let aside = path + ".new"
        unlink(aside)
        try create(bytes, at: aside)
        guard rename(aside, path) == 0 else {
            let error = errno
            unlink(aside)
            throw .system("renaming \(aside)", error)
        }
        try syncDirectory(of: path)
    }

    /// Makes a file that must not be there yet. On disk when this returns.
    package static func create(_ bytes: [UInt8], at path: String) throws(TransportError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system("making \(path)", errno) }
        var failure = writeAll(bytes, to: descriptor)
        if failure == 0, fsync(descriptor) != 0 { failure = errno }
        if close(descriptor) != 0, failure == 0 { failure = errno }
        guard failure == 0 else {
            unlink(path)
            throw .system("writing \(path)", failure)
        }
    }

    /// The content; nil when there is no such file.
    /// - Throws: `.system`, `.malformed` when the file is longer than the limit.
    package static func read(_ path: String, atMost limit: Int) throws(TransportError) -> [UInt8]? {
        // Without waiting for anybody: a pipe in the place of a file has nobody at its other end.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .system("opening \(path)", errno)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFIFO else {
            throw .malformed("\(path) is a pipe and no file")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system("reading \(path)", errno) }
            if count == 0 { return bytes }
            guard bytes.count + count <= limit else { throw .malformed("\(path) is longer than \(limit) bytes") }
            bytes.append(contentsOf: buffer[0..<count])
        }
    }

    /// Removes the file if it is there. On disk when this returns.
    package static func remove(_ path: String) throws(TransportError) {
        guard unlink(path) == 0 else {
            if errno == ENOENT { return }
            throw .system("removing \(path)", errno)
        }
        try syncDirectory(of: path)
    }

    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = Glibc.write(descriptor, part.baseAddress, part.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { return errno }
                rest = rest.dropFirst(count)
            }
            return 0
        }
    }

    private static func syncDirectory(of path: String) throws(TransportError) {
        let directory = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("opening \(directory)", errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .system("syncing \(directory)", errno) }
    }
}
