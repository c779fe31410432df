import KithSystem
import Synchronization

/// A file that is written from its beginning to its end, readable by its owner only.
package final class OutputFile {
    private let file: any OpenFile
    private let name: String
    private var position = 0

    /// Makes the file, in the place of one that is there.
    /// - Parameter name: what errors call it.
    /// - Throws: `StoreError` with what the disk gives.
    init(_ path: String, called name: String, on fileSystem: any FileSystem) throws(StoreError) {
        self.name = name
        fileSystem.discard(path)
        file = try fileSystem.require("make", name) { () throws(SystemError) in try fileSystem.open(path, .createNew) }
    }

    /// Appends bytes.
    package func write(_ bytes: [UInt8]) throws(StoreError) {
        do throws(SystemError) { try file.write(bytes, at: position) } catch { throw StoreError("write", name, error) }
        position += bytes.count
    }
}

/// A file that is read from its beginning to its end, by one caller at a time, and has no name any more: it goes with
/// this object, and with the process.
package final class InputStreamFile: Sendable {
    private let file: any OpenFile
    private let position = Atomic(0)
    package let size: Int

    /// Opens the file and takes its name away.
    init(unlinking path: String, on fileSystem: any FileSystem) throws(StoreError) {
        defer { fileSystem.discard(path) }
        size = fileSystem.size(of: path)
        file = try fileSystem.require("read", path) { () throws(SystemError) in try fileSystem.open(path, .read) }
    }

    /// The next part; nil at the end.
    package func next() throws(StoreError) -> [UInt8]? {
        let place = position.load(ordering: .relaxed)
        do throws(SystemError) {
            let bytes = try file.read(Limits.filePartBytes, at: place)
            position.store(place + bytes.count, ordering: .relaxed)
            return bytes.isEmpty ? nil : bytes
        } catch {
            throw StoreError("read", "the copy", error)
        }
    }
}

extension Backup {
    /// Writes a copy beside the database, for a reader that is elsewhere.
    /// - Parameter number: names the copy while it is made; no two at a time may be equal.
    /// - Throws: as `write`; `storage_full`, before anything is written, where there is not the space for it.
    package static func aside(
        _ file: DatabaseFile, number: UInt64, isCancelled: @escaping () -> Bool
    ) throws(StoreError) -> InputStreamFile {
        try file.requireSpace(try Compaction.usedBytes(file), to: "copy")
        let path = file.aside("\(copyEnding)\(number)")
        try write(file, to: path, isCancelled: isCancelled)
        return try InputStreamFile(unlinking: path, on: file.fileSystem)
    }

    static let copyEnding = "copy-"
}
