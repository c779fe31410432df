#if canImport(Glibc)
import CLibrary
import Glibc
#else
import Darwin
#endif

/// File systems whose files other machines have too. SQLite's locks and the memory that its connections share for a
/// write-ahead log hold within one machine only: on these a database would be damaged some day.
package enum NetworkFileSystem {
    #if os(Linux)
    /// By the magic numbers of `statfs(2)`. 9p shares a folder of another machine or of a virtual machine's host, and has
    /// no memory shared with those who use it there.
    private static let byMagic: [(magic: UInt, name: String)] = [
        (0x6969, "NFS"), (0x517B, "SMB"), (0xFF53_4D42, "CIFS"), (0xFE53_4D42, "SMB2"), (0x5346_414F, "AFS"),
        (0x6B41_4653, "AFS"), (0x7375_7245, "Coda"), (0x564C, "NCP"), (0x00C3_6400, "Ceph"), (0x0BD0_0BD0, "Lustre"),
        (0x0116_1970, "GFS2"), (0x7461_636F, "OCFS2"), (0x4750_4653, "GPFS"), (0x2030_0929, "BeeGFS"),
        (0x0102_1997, "9p"), (0x786F_4256, "vboxsf"), (0xAAD7_AAEA, "PanFS"),
    ]
    /// FUSE has one number for all of its kinds, most of them local; the mount's type tells them apart.
    private static let fuse: UInt = 0x6573_5546
    private static let fuseTypes = [
        "virtiofs", "fuse.sshfs", "fuse.glusterfs", "fuse.ceph", "fuse.ceph-fuse", "fuse.davfs", "fuse.davfs2",
        "fuse.curlftpfs", "fuse.s3fs", "fuse.rclone", "fuse.smbnetfs", "fuse.moosefs", "fuse.mfs", "fuse.seaweedfs",
        "fuse.juicefs", "fuse.gcsfuse", "fuse.blobfuse", "fuse.vmhgfs-fuse", "fuse.nfs", "fuse.lizardfs",
    ]

    /// The name of a network file system; nil for all others.
    /// - Parameters:
    ///   - magic: `f_type` of `statfs(2)`.
    ///   - type: the type of the mount as `/proc/self/mountinfo` has it; asked for only where the number says too little.
    package static func name(magic: UInt, type: () -> String?) -> String? {
        if let known = byMagic.first(where: { $0.magic == magic }) { return known.name }
        guard magic == fuse, let type = type(), fuseTypes.contains(type) else { return nil }
        return type
    }

    /// The type of the mount of a device, from the text of `/proc/self/mountinfo`: `ID PARENT MAJOR:MINOR ... - TYPE ...`.
    package static func type(ofDevice device: String, in mounts: String) -> String? {
        for line in mounts.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 2, words[2] == device, let dash = words.lastIndex(of: "-"), dash + 1 < words.count
            else {
                continue
            }
            return String(words[dash + 1])
        }
        return nil
    }

    static func name(of directory: String) -> String? {
        name(magic: UInt(kith_filesystem_magic(directory))) {
            var status = stat()
            guard stat(directory, &status) == 0 else { return nil }
            let device = UInt64(status.st_dev)
            // As the kernel packs them.
            let major = (device >> 8 & 0xFFF) | (device >> 32 & ~0xFFF)
            let minor = (device & 0xFF) | (device >> 12 & ~0xFF)
            guard let file = fopen("/proc/self/mountinfo", "r") else { return nil }
            defer { fclose(file) }
            var text: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { text += buffer[..<count] }
            return type(ofDevice: "\(major):\(minor)", in: String(decoding: text, as: UTF8.self))
        }
    }
    #else
    static func name(of directory: String) -> String? {
        var status = statfs()
        guard statfs(directory, &status) == 0, UInt32(status.f_flags) & UInt32(MNT_LOCAL) == 0 else { return nil }
        return "not local"
    }
    #endif
}
