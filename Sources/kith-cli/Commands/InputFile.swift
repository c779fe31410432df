import Glibc
import KithHTTPCore
import KithNode

/// A file, or standard input, that a command reads.
final class InputFile {
    private let descriptor: Int32
    private let name: String
    private let closes: Bool
    /// Its size where it is known: of a regular file what is left of it.
    let size: Int?
    /// Why reading ended early.
    private(set) var failure: CommandError?

    /// - Parameter name: `-` is standard input.
    init(_ name: String) throws(CommandError) {
        closes = name != "-"
        self.name = closes ? name : "standard input"
        descriptor = closes ? open(name, O_RDONLY | O_CLOEXEC) : STDIN_FILENO
        guard descriptor >= 0 else { throw Self.error(name, errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.error(name, errno) }
        if status.st_mode & S_IFMT == S_IFDIR {
            close(descriptor)
            throw Self.error(name, EISDIR)
        }
        let position = lseek(descriptor, 0, Int32(SEEK_CUR))
        let isRegular = status.st_mode & S_IFMT == S_IFREG && position >= 0
        size = isRegular ? max(0, Int(status.st_size) - position) : nil
    }

    deinit { if closes { close(descriptor) } }

    /// Fills a buffer; 0 at the end, nil where reading fails, which `failure` tells.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        while true {
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            if errno == EINTR { continue }
            failure = Self.error(name, errno)
            return nil
        }
    }

    /// The file as the body of a request. One that grows meanwhile is taken as long as it was.
    /// - Parameter sent: called with how many bytes of it were read so far.
    func body(_ sent: @escaping (Int) -> Void) -> HTTPClientRequest.Body {
        var count = 0
        return .stream(length: size) { buffer in
            let most = self.size.map { min(buffer.count, $0 - count) } ?? buffer.count
            guard most > 0 else { return 0 }
            guard let read = self.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<most])) else {
                return nil
            }
            count += read
            sent(count)
            return read
        }
    }

    /// A whole file.
    /// - Parameter what: what is in it, for the error where it is longer than the limit; nil names the file.
    static func read(_ name: String, limit: Int, of what: String? = nil) throws(CommandError) -> [UInt8] {
        let file = try InputFile(name)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            guard let count = buffer.withUnsafeMutableBytes({ file.read(into: $0) }) else { throw file.failure! }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            if bytes.count > limit {
                throw CommandError("\(what ?? Shown.path(file.name)) is larger than \(limit) bytes; make it smaller")
            }
        }
    }

    private static func error(_ name: String, _ code: Int32) -> CommandError {
        CommandError("cannot read \(Shown.path(name)): \(String(cString: strerror(code)))")
    }
}
