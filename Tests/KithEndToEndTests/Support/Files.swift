import Glibc
import KithTestSupport
import Synchronization
import Testing

/// Files and folders of tests.
enum Files {
    private static let number = Atomic<Int>(0)

    /// A new folder with a short path, for the sockets in it, and without capitals, which no message should have.
    static func temporaryFolder() throws -> String {
        while true {
            let path = "/tmp/kith-e2e-\(getpid())-\(number.wrappingAdd(1, ordering: .relaxed).newValue)"
            if mkdir(path, 0o700) == 0 { return path }
            try #require(errno == EEXIST, "cannot make the folder \(path)")
        }
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        let file = try #require(fopen(path, "w"), "cannot write \(path)")
        defer { fclose(file) }
        try #require(fwrite(bytes, 1, bytes.count, file) == bytes.count)
    }

    /// What is in the file; nothing where there is none.
    static func read(_ path: String) -> [UInt8] { TestFile.bytes(of: path) ?? [] }

    /// Copies a folder with all that is in it, sockets apart; what is there already goes.
    static func copy(_ path: String, to copy: String) throws {
        remove(copy)
        try #require(mkdir(copy, 0o700) == 0, "cannot make the folder \(copy)")
        for name in names(in: path) {
            var status = stat()
            guard lstat("\(path)/\(name)", &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: try Self.copy("\(path)/\(name)", to: "\(copy)/\(name)")
            case S_IFREG:
                try write(read("\(path)/\(name)"), to: "\(copy)/\(name)")
                chmod("\(copy)/\(name)", status.st_mode & 0o777)
            default: break
            }
        }
    }

    static func names(in path: String) -> [String] { TemporaryDirectory.names(in: path) }

    /// Removes a folder with all that is in it; symbolic links are not followed.
    static func remove(_ path: String) { TemporaryDirectory.remove(path) }
}
