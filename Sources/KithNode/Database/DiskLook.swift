import KithStore
import KithSystem

/// The disk under a node's directory as it was when it was looked at: status and health tell of it without asking it.
struct DiskLook: Sendable {
    /// Nil where the system does not say, and before the first look.
    private(set) var space: StorageSpace?
    /// What repairs and restores have put aside.
    private(set) var kept: [KeptFile] = []
    /// Of the small files that were set aside those that are still there.
    private(set) var setAside: Set<String> = []
    private var sizes: [DatabaseName: (file: Int, log: Int)] = [:]

    /// Nothing was looked at yet.
    init() {}

    /// Looks. Blocks for as long as the disk takes.
    /// - Parameters:
    ///   - directory: the node's.
    ///   - databases: where its databases lie.
    ///   - files: the databases.
    ///   - setAside: small files that were set aside.
    ///   - disk: what all of them are on.
    init(directory: String, databases: String, _ files: [DatabaseFile], setAside: [String], on disk: any FileSystem) {
        space = disk.space(of: directory)
        for file in files { sizes[file.name] = file.sizes }
        kept = (try? KeptFile.all(in: databases, on: disk)) ?? []
        self.setAside = Set(setAside.filter(disk.exists))
    }

    /// The bytes of a database's file and of its log; nil where it was not looked at.
    func bytes(of database: DatabaseName) -> (file: UInt64?, log: UInt64?) {
        let sizes = sizes[database]
        return (sizes.map { UInt64($0.file) }, sizes.map { UInt64($0.log) })
    }

    /// Whether there is no room for what a write needs.
    var isFull: Bool { space.map { $0.free < NodeLimits.fullBytes } ?? false }

    /// Whether there is little room.
    var isLow: Bool { space.map { $0.free < NodeLimits.lowSpaceBytes && $0.free < $0.total / 10 } ?? false }
}
