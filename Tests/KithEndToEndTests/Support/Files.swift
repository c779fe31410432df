import Glibc
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
    static func read(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return bytes
    }

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

    static func names(in path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Removes a folder with all that is in it; symbolic links are not followed.
    static func remove(_ path: String) {
        guard let directory = opendir(path) else { return }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name == "." || name == ".." { continue }
            let child = "\(path)/\(name)"
            var status = stat()
            if lstat(child, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { remove(child) } else { unlink(child) }
        }
        closedir(directory)
        rmdir(path)
    }
}
