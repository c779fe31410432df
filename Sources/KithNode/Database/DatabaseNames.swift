import KithStore
import KithSystem
import Synchronization

/// Names of databases that are kept in a small file of the node's directory, one a line.
///
/// Any thread may use it.
final class DatabaseNames: Sendable {
    private let file: SpareFile
    private let directory: String
    private let files: any FileSystem
    private let names: Mutex<Set<DatabaseName>>
    /// Held while the file is written: what stands in it must be what was set last.
    private let writing = Mutex(())

    /// - Throws: `NodeError` where the file can't be read.
    init(
        _ file: SpareFile, in nodeDirectory: String, on files: any FileSystem = LocalFileSystem()
    ) throws(NodeError) {
        self.file = file
        self.files = files
        directory = nodeDirectory
        names = Mutex(Set(try file.read(in: nodeDirectory, on: files).lines.compactMap { try? DatabaseName($0) }))
    }

    /// The names as they stand in the file, as far as they can be read; nothing is changed.
    static func look(
        _ file: SpareFile, in nodeDirectory: String, on files: any FileSystem
    ) -> Set<DatabaseName> {
        Set(((try? file.look(in: nodeDirectory, on: files))?.lines ?? []).compactMap { try? DatabaseName($0) })
    }

    /// Ascending.
    var all: [DatabaseName] { names.withLock { $0.sorted() } }

    func contains(_ name: DatabaseName) -> Bool { names.withLock { $0.contains(name) } }

    /// Puts a name in, or takes it out. On disk when this returns; where that fails it is as it was. Blocks.
    func set(_ name: DatabaseName, _ isIn: Bool) throws(NodeError) {
        try writing.withLock { _ throws(NodeError) in
            var next = names.withLock { $0 }
            guard next.contains(name) != isIn else { return }
            if isIn { next.insert(name) } else { next.remove(name) }
            try file.write(next.sorted().map(\.string), in: directory, on: files)
            names.withLock { [next] in $0 = next }
        }
    }
}
