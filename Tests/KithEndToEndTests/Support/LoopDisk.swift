import Glibc
import Testing

/// A file system like that of a real disk, in a file of a test, at a folder of a test. Needs root, loop devices and the tools
/// of ext4.
struct LoopDisk {
    let path: String
    private let folder: String

    private var image: String { "\(folder)/image" }

    /// Why there can be none here; nil when there can.
    static let skipReason: String? = {
        if geteuid() != 0 { return "mounting needs root" }
        for file in [mkfs, fsck, losetup, "/dev/loop-control"] where access(file, F_OK) != 0 {
            return "there is no \(file)"
        }
        return nil
    }()

    private static let mkfs = "/usr/sbin/mkfs.ext4"
    private static let losetup = "/usr/sbin/losetup"
    private static let fsck = "/usr/sbin/e2fsck"
    private static let fsfreeze = "/usr/sbin/fsfreeze"

    /// Whether it can be made to stand still.
    static let canFreeze = skipReason == nil && access(fsfreeze, X_OK) == 0

    /// Makes it and mounts it over the folder, which is made.
    static func mount(at path: String, mebibytes: Int, folder: String) async throws -> LoopDisk {
        mkdir(path, 0o700)
        let disk = LoopDisk(path: path, folder: folder)
        let file = open(disk.image, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        try #require(ftruncate(file, mebibytes << 20) == 0)
        try await disk.run(Self.mkfs, "-q", "-F", disk.image)
        try await disk.mount()
        return disk
    }

    func mount() async throws {
        try await run("/usr/bin/mount", "-o", "loop", image, path)
        chmod(path, 0o700)
    }

    /// What the kernel does when the disk fails at a write that can't fail: whoever has files open, it is read-only from
    /// now on, until it is unmounted.
    func abort() async throws { try await run("/usr/bin/mount", "-o", "remount,abort", path) }

    /// From now on whoever writes waits, without an error, until `thaw`. What is in memory can be read.
    func freeze() async throws { try await run(Self.fsfreeze, "--freeze", path) }

    func thaw() async throws { try await run(Self.fsfreeze, "--unfreeze", path) }

    /// Before it is taken away.
    func thawIfFrozen() async {
        _ = try? await ChildProgram(["--unfreeze", path], of: Self.fsfreeze, in: folder).finish(within: 30)
    }

    /// Takes it away; nobody has files open on it. The kernel lets go of the image a moment later: mounted before that, the
    /// file system would be the failed one.
    func unmount() async throws {
        try await run("/usr/bin/umount", path)
        let isFree = try await eventually(within: 30) {
            try await ChildProgram(["-j", image], of: Self.losetup, in: folder).finish(within: 60).output.isEmpty
        }
        try #require(isFree, "the image is still mounted")
    }

    /// Takes it away however it is.
    func discard() async { try? await run("/usr/bin/umount", "-l", path) }

    /// Mends it as an administrator does.
    func check() async throws {
        let result = try await ChildProgram(["-f", "-y", image], of: Self.fsck, in: folder).finish(within: 60)
        // 1: errors were found and mended.
        try #require(result.status <= 1, "e2fsck: \(result.status) \(result.outputText)\(result.errorText)")
    }

    private func run(_ program: String, _ arguments: String...) async throws {
        let result = try await ChildProgram(arguments, of: program, in: folder).finish(within: 30)
        try #require(result.status == 0, "\(program) \(arguments): \(result.errorText)")
    }
}
