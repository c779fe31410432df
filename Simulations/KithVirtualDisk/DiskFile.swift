/// A file: what a name stands for, and what open handles keep.
final class DiskFile {
    let number: UInt64
    var content: FileContent
    /// Who holds SQLite's locks on it.
    var holders: [ObjectIdentifier: Int32] = [:]
    /// The memory that those who have a log open share.
    var shared: SharedMemory?
    /// Who holds the lock of the whole file.
    var owner: ObjectIdentifier?
    /// Counts the changes.
    var version: UInt64 = 0

    init(number: UInt64, content: FileContent = FileContent()) {
        self.number = number
        self.content = content
    }

    /// Ends what a handle has of the shared memory; with the last one the memory goes.
    func leaveShared(_ handle: ObjectIdentifier) {
        if shared?.leave(handle) == true { shared = nil }
    }

    /// Ends all that a handle holds.
    func release(_ handle: ObjectIdentifier) {
        holders[handle] = nil
        leaveShared(handle)
        if owner == handle { owner = nil }
    }
}

/// A directory: the names in it that programs see, and those that a power cut leaves.
final class DiskDirectory {
    let number: UInt64
    var current: [String: DiskEntry] = [:]
    var durable: [String: DiskEntry] = [:]

    /// What those hold who opened the directory itself.
    let file: DiskFile

    init(number: UInt64) {
        self.number = number
        file = DiskFile(number: number)
    }
}

/// What a name stands for.
enum DiskEntry {
    case file(DiskFile)
    case directory(DiskDirectory)

    var file: DiskFile? { if case .file(let file) = self { file } else { nil } }
    var directory: DiskDirectory? { if case .directory(let directory) = self { directory } else { nil } }

    var number: UInt64 {
        switch self {
        case .file(let file): file.number
        case .directory(let directory): directory.number
        }
    }
}
