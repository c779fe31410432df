import KithStore

/// A file that is read while it is sent. It has no name any more, and goes with its last reader.
package struct ControlFile: Sendable {
    package let bytes: UInt64
    private let read: @Sendable () throws(ControlError) -> [UInt8]?

    package init(bytes: UInt64, read: @escaping @Sendable () throws(ControlError) -> [UInt8]?) {
        self.bytes = bytes
        self.read = read
    }

    init(_ file: InputStreamFile) {
        self.init(bytes: UInt64(file.size)) { () throws(ControlError) in
            do throws(StoreError) { return try file.next() } catch { throw ControlError(error) }
        }
    }

    /// The next part; nil at the end. One caller at a time.
    func next() throws(ControlError) -> [UInt8]? { try read() }
}

/// A database that was put back.
package struct ControlRestored: Hashable, Sendable {
    package var database: String
    package var documents: UInt64
    package var sequence: UInt64
    /// Where the file is that was there before; nil where there was none.
    package var kept: String?

    package init(database: String, documents: UInt64, sequence: UInt64, kept: String?) {
        self.database = database
        self.documents = documents
        self.sequence = sequence
        self.kept = kept
    }

    package var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("database", database)
        object.add("documents", documents)
        object.add("sequence", sequence)
        object.add("kept", kept)
        return object.bytes
    }
}
