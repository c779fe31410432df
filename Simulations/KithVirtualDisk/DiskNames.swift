import KithSystem
import KithTestSupport

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The tree of names of a disk: what programs see, and what a power cut leaves.
///
/// Changes of names are made durable by synchronising their directory, and of that one alone. A disk keeps those of one
/// directory in order, as journalling file systems do: a power cut leaves all up to some point, each directory's own. A
/// file that was moved to another directory is in one of the two at least.
struct DiskNames {
    private(set) var root: DiskDirectory
    private var waiting: [Change] = []
    private var count = 0

    private struct Change {
        let number: Int
        let directory: DiskDirectory
        let steps: [(name: String, entry: DiskEntry?)]
        /// The change of another directory that is on the disk whenever this one is.
        let needs: Int?
    }

    static let rootNumber: UInt64 = 1
    private static let nameBytes = 255

    init() { root = DiskDirectory(number: Self.rootNumber) }

    private init(root: DiskDirectory) { self.root = root }

    // MARK: Looking up

    /// The parts of a path below the disk's own directory.
    private static func parts(_ path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).dropFirst().map { String(Substring($0)) }
    }

    private func walk(_ parts: some Sequence<String>) -> Result<DiskEntry, SystemError> {
        var entry = DiskEntry.directory(root)
        for part in parts {
            guard let directory = entry.directory else { return .failure(SystemError(ENOTDIR)) }
            guard part.utf8.count <= Self.nameBytes else { return .failure(SystemError(ENAMETOOLONG)) }
            guard let next = directory.current[part] else { return .failure(SystemError(ENOENT)) }
            entry = next
        }
        return .success(entry)
    }

    /// What a path stands for, or the system's error.
    func find(_ path: String) -> Result<DiskEntry, SystemError> { walk(Self.parts(path)) }

    subscript(path: String) -> DiskEntry? { try? find(path).get() }

    /// A place for a name: what is there may be nothing.
    struct Place {
        let directory: DiskDirectory
        let name: String
        var entry: DiskEntry? { directory.current[name] }
    }

    /// Where a name is, and where another one is or would be. Looked at in the order of the system: both directories, what
    /// is there, and the other name.
    func places(_ path: String, _ other: String) -> Result<(Place, Place), SystemError> {
        let places = [path, other].map { place($0) }
        for case .failure(let error) in places where error.number != ENAMETOOLONG { return .failure(error) }
        return places[0].flatMap { first in
            first.entry == nil ? .failure(SystemError(ENOENT)) : places[1].map { (first, $0) }
        }
    }

    /// Where a name is, or would be.
    func place(_ path: String) -> Result<Place, SystemError> {
        let parts = Self.parts(path)
        // The root has no name in anything.
        guard let name = parts.last else { return .failure(SystemError(EBUSY)) }
        return walk(parts.dropLast()).flatMap { entry in
            guard let directory = entry.directory else { return .failure(SystemError(ENOTDIR)) }
            guard name.utf8.count <= Self.nameBytes else { return .failure(SystemError(ENAMETOOLONG)) }
            return .success(Place(directory: directory, name: name))
        }
    }

    /// All files that have a name, each once.
    var files: [DiskFile] {
        var files: [UInt64: DiskFile] = [:]
        Self.each(in: root) { files[$0.number] = $0 }
        return files.values.sorted { $0.number < $1.number }
    }

    /// Takes what programs see into a hash.
    func hash(into hasher: inout Hasher) { Self.hash(root, into: &hasher) }

    private static func hash(_ directory: DiskDirectory, into hasher: inout Hasher) {
        for (name, entry) in directory.current.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            hasher.combine(name)
            switch entry {
            case .file(let file): file.content.bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
            case .directory(let inner): hash(inner, into: &hasher)
            }
            hasher.combine(entry.directory == nil)
        }
    }

    private static func each(in directory: DiskDirectory, _ body: (DiskFile) -> Void) {
        for entry in directory.current.values {
            switch entry {
            case .file(let file): body(file)
            case .directory(let inner): each(in: inner, body)
            }
        }
    }

    // MARK: Changing

    mutating func give(_ place: Place, _ entry: DiskEntry?) { take(place.directory, [(place.name, entry)]) }

    mutating func move(_ place: Place, to other: Place) {
        let entry = place.entry
        if place.directory === other.directory {
            take(place.directory, [(place.name, nil), (other.name, entry)])
        } else {
            take(other.directory, [(other.name, entry)])
            take(place.directory, [(place.name, nil)], needs: count)
        }
    }

    private mutating func take(
        _ directory: DiskDirectory, _ steps: [(name: String, entry: DiskEntry?)], needs: Int? = nil
    ) {
        for step in steps { directory.current[step.name] = step.entry }
        count += 1
        waiting.append(Change(number: count, directory: directory, steps: steps, needs: needs))
    }

    // MARK: What is durable

    /// All changes of the names in a directory are durable.
    mutating func synchronize(_ directory: DiskDirectory) {
        let limits = closed([directory.number: count])
        for change in waiting where Self.isWithin(limits, change) {
            for step in change.steps { change.directory.durable[step.name] = step.entry }
        }
        waiting.removeAll { Self.isWithin(limits, $0) }
    }

    /// All changes of names are durable.
    mutating func synchronizeAll() {
        for change in waiting {
            for step in change.steps { change.directory.durable[step.name] = step.entry }
        }
        waiting = []
    }

    private static func isWithin(_ limits: [UInt64: Int], _ change: Change) -> Bool {
        change.number <= limits[change.directory.number] ?? 0
    }

    /// The last change of each directory that is on the disk when those are.
    private func closed(_ limits: [UInt64: Int]) -> [UInt64: Int] {
        var limits = limits
        for change in waiting.reversed() where Self.isWithin(limits, change) {
            guard let needed = change.needs, let other = waiting.first(where: { $0.number == needed }) else { continue }
            limits[other.directory.number] = max(limits[other.directory.number] ?? 0, needed)
        }
        return limits
    }

    /// What a power cut leaves, with the content of each file.
    func afterPowerCut(_ survival: Survival, _ generator: inout SeededGenerator) -> DiskNames {
        var limits: [UInt64: Int] = [:]
        for directory in Set(waiting.map(\.directory.number)).sorted() {
            let changes = waiting.filter { $0.directory.number == directory }
            let kept =
                switch survival {
                case .nothing: 0
                case .everything: changes.count
                case .some, .torn, .tornPages: generator.below(changes.count + 1)
                }
            if kept > 0 { limits[directory] = changes[kept - 1].number }
        }
        limits = closed(limits)
        var names: [UInt64: [String: DiskEntry]] = [:]
        for change in waiting where Self.isWithin(limits, change) {
            for step in change.steps {
                names[change.directory.number, default: change.directory.durable][step.name] = step.entry
            }
        }
        var copier = Copier(cut: (survival, names), generator: generator)
        defer { generator = copier.generator }
        return DiskNames(root: copier.copy(root))
    }

    /// The same names with files of their own, as they stand.
    func copied() -> DiskNames {
        var copier = Copier(cut: nil, generator: SeededGenerator(seed: 0))
        return DiskNames(root: copier.copy(root))
    }

    /// Copies a tree, in byte order of the names. Two names of one file are so afterwards too.
    private struct Copier {
        /// What the power leaves: of contents, and of the directories that have names which are durable now. Nil where all
        /// is as it stands.
        let cut: (survival: Survival, names: [UInt64: [String: DiskEntry]])?
        var generator: SeededGenerator
        private var files: [UInt64: DiskFile] = [:]
        private var directories: Set<UInt64> = []

        init(cut: (survival: Survival, names: [UInt64: [String: DiskEntry]])?, generator: SeededGenerator) {
            self.cut = cut
            self.generator = generator
        }

        mutating func copy(_ directory: DiskDirectory) -> DiskDirectory {
            let copy = DiskDirectory(number: directory.number)
            directories.insert(directory.number)
            let names = cut.map { $0.names[directory.number] ?? directory.durable } ?? directory.current
            let entries = names.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (name, entry) in entries {
                switch entry {
                case .file(let file): copy.durable[name] = .file(self.copy(file))
                case .directory(let inner):
                    // One that was moved, and is durable in both places, is found in the first.
                    if !directories.contains(inner.number) { copy.durable[name] = .directory(self.copy(inner)) }
                }
            }
            copy.current = copy.durable
            return copy
        }

        private mutating func copy(_ file: DiskFile) -> DiskFile {
            if let copy = files[file.number] { return copy }
            let content =
                cut.map { file.content.afterPowerCut($0.survival, &generator) }
                ?? FileContent(durable: file.content.bytes)
            let copy = DiskFile(number: file.number, content: content)
            files[file.number] = copy
            return copy
        }
    }
}
