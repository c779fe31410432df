import Glibc
import Testing

/// A file system of a bounded size in memory, at a folder of a test. Needs root.
struct SmallDisk {
    let path: String
    private let folder: String

    /// Why there can be none here; nil when there can.
    static let skipReason: String? = geteuid() == 0 ? nil : "mounting needs root"

    /// Mounts it over the folder, which is made.
    static func mount(at path: String, mebibytes: Int, folder: String) async throws -> SmallDisk {
        mkdir(path, 0o700)
        let disk = SmallDisk(path: path, folder: folder)
        try await disk.run("mount", "-t", "tmpfs", "-o", "size=\(mebibytes)m,mode=700", "tmpfs", path)
        return disk
    }

    private func run(_ program: String, _ arguments: String...) async throws {
        let result = try await ChildProgram(arguments, of: "/usr/bin/\(program)", in: folder).finish(within: 60)
        try #require(result.status == 0, "\(program): \(result.errorText)")
    }

    /// Takes it away, whoever has files open on it.
    func unmount() async { try? await run("umount", "-l", path) }

    private var ballast: String { path + "/ballast" }

    /// Writes until there is no room, and then leaves so many bytes.
    func fill(leaving bytes: Int = 0) throws {
        let descriptor = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        lseek(descriptor, 0, SEEK_END)
        let chunk = [UInt8](repeating: 1, count: 65_536)
        while write(descriptor, chunk, chunk.count) > 0 {}
        let size = Int(lseek(descriptor, 0, SEEK_END))
        try #require(ftruncate(descriptor, off_t(max(0, size - bytes))) == 0)
    }

    func free() { unlink(ballast) }
}
