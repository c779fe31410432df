import KithTestSupport

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
}

/// A call of the disk that can be counted, refused, or be the last one before the power goes.
package struct DiskCall: Sendable {
    package enum Operation: String, CaseIterable, Sendable {
        case create, open, read, write, resize, synchronize, synchronizeDirectory, remove, rename, link

        /// Whether something on the disk changes by it: of these calls `VirtualDisk.changes` counts.
        package var isChange: Bool { self != .open && self != .read }
    }

    package let operation: Operation
    package let path: String
    /// Of reads and writes.
    package let range: Range<Int>
    /// Counts the changes before it.
    package let change: Int
}

/// What becomes of a call.
package enum DiskOutcome: Sendable {
    case done
    /// It fails with this error of the system; of a write the first half is there, and a synchronisation that failed
    /// makes nothing durable, ever.
    case failed(Int32)
    /// The power goes before it.
    case powerGoes
    /// It is said to be done, and was not: a write that the disk lost, or a synchronisation that it did not make.
    case pretended
    /// The write went to another place of the same file.
    case misdirected(to: Int)
}

/// The names of a disk: those that programs see, and those that a power cut leaves.
///
/// Changes of names are made durable by synchronising their directory. A disk keeps them in order, as journalling file
/// systems do: a power cut leaves all up to some point.
struct DiskNames {
    private(set) var current: [String: DiskFile] = [:]
    private var durable: [String: DiskFile] = [:]
    private var waiting: [Change] = []

    private enum Change {
        case give(String, DiskFile)
        case take(String)
        case move(String, to: String)

        func apply(to names: inout [String: DiskFile]) {
            switch self {
            case .give(let name, let file): names[name] = file
            case .take(let name): names[name] = nil
            case .move(let name, let other):
                names[other] = names[name]
                names[name] = nil
            }
        }
    }

    subscript(path: String) -> DiskFile? { current[path] }

    mutating func give(_ path: String, _ file: DiskFile) { take(.give(path, file)) }
    mutating func remove(_ path: String) { take(.take(path)) }
    mutating func move(_ path: String, to other: String) { take(.move(path, to: other)) }

    private mutating func take(_ change: Change) {
        change.apply(to: &current)
        waiting.append(change)
    }

    /// All changes of names are durable. There is one directory, so all are of it.
    mutating func synchronize() {
        for change in waiting { change.apply(to: &durable) }
        waiting = []
    }

    /// What a power cut leaves, with the content of each file.
    func afterPowerCut(_ survival: Survival, _ generator: inout SeededGenerator) -> DiskNames {
        let kept =
            switch survival {
            case .nothing: 0
            case .everything: waiting.count
            case .some, .torn: generator.below(waiting.count + 1)
            }
        var left = durable
        for change in waiting.prefix(kept) { change.apply(to: &left) }
        return DiskNames(durable: Self.copies(left) { $0.afterPowerCut(survival, &generator) })
    }

    /// The same names with files of their own, as they stand.
    func copied() -> DiskNames {
        DiskNames(durable: Self.copies(current) { FileContent(durable: $0.bytes) })
    }

    /// The same names in another directory.
    func renamed(from directory: String, to other: String) -> DiskNames {
        DiskNames(
            durable: Dictionary(
                uniqueKeysWithValues: current.map { (other + $0.key.dropFirst(directory.count), $0.value) }))
    }

    /// Two names of one file are so afterwards too.
    private static func copies(
        _ names: [String: DiskFile], _ content: (FileContent) -> FileContent
    ) -> [String: DiskFile] {
        var files: [UInt64: DiskFile] = [:]
        var copies: [String: DiskFile] = [:]
        for (name, file) in names.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            let copy = files[file.number] ?? DiskFile(number: file.number, content: content(file.content))
            files[file.number] = copy
            copies[name] = copy
        }
        return copies
    }

    init() {}

    private init(durable: [String: DiskFile]) {
        self.durable = durable
        current = durable
    }
}
