import KithStore
import KithSystem
import Synchronization

/// What checks have found wrong with the databases of a node. It outlives the process, in the file `damage` of the node's
/// directory, until a repair or a check that finds nothing.
///
/// Any thread may use it.
package final class DamageBook: Sendable {
    package struct Entry: Hashable, Sendable {
        /// How much was found.
        package let findings: UInt64
        /// The first of it.
        package let message: String
    }

    private let directory: String
    private let files: any FileSystem
    private let entries: Mutex<[DatabaseName: Entry]>
    /// Held while the file is written: what stands in it must be what was noted last.
    private let writing = Mutex(())

    /// - Throws: `NodeError` where the file may be whole and can't be read.
    package init(nodeDirectory: String, on files: any FileSystem = LocalFileSystem()) throws(NodeError) {
        directory = nodeDirectory
        self.files = files
        var entries: [DatabaseName: Entry] = [:]
        for line in try SpareFile.damage.read(in: nodeDirectory, on: files).lines {
            if let (name, entry) = Self.entry(line) { entries[name] = entry }
        }
        self.entries = Mutex(entries)
    }

    static func entry(_ line: String) -> (DatabaseName, Entry)? {
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count == 3, let name = try? DatabaseName(String(words[0])), let findings = UInt64(words[1]) else {
            return nil
        }
        return (name, Entry(findings: findings, message: String(words[2])))
    }

    package subscript(name: DatabaseName) -> Entry? { entries.withLock { $0[name] } }

    /// Ascending by name.
    package var all: [(name: DatabaseName, entry: Entry)] {
        entries.withLock { entries in entries.keys.sorted().compactMap { name in entries[name].map { (name, $0) } } }
    }

    /// Notes what a check found, or with nil that nothing is wrong. What can't be written is known until the process ends.
    /// Blocks.
    package func note(_ name: DatabaseName, _ entry: Entry?) {
        writing.withLock { _ in
            let lines = entries.withLock { entries -> [String]? in
                guard entries[name] != entry else { return nil }
                entries[name] = entry
                return entries.keys.sorted().compactMap { name in
                    entries[name].map { "\(name) \($0.findings) \($0.message)" }
                }
            }
            if let lines { try? SpareFile.damage.write(lines, in: directory, on: files) }
        }
    }
}
