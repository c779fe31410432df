import KithSystem

extension DatabaseFile {
    /// What the file itself says of whose it is. Nothing is opened by SQLite, so nothing is written beside it.
    package enum Owner: Hashable, Sendable {
        case kith(format: Int64)
        /// A SQLite file of another program, or nothing that SQLite knows.
        case foreign
        /// There is no file, or nothing in it.
        case nobody
    }

    /// Reads the head of the file. What a log holds that was not copied yet is not looked at: the marks of a database are
    /// in the file before it gets its name.
    package var owner: Owner { owner(of: path) }

    /// The same for a file that may come in its place.
    func owner(of path: String) -> Owner {
        let head = fileSystem.head(of: path, 100)
        if head.isEmpty { return fileSystem.size(of: path) == 0 ? .nobody : .foreign }
        func number(_ offset: Int) -> Int64 { head[offset..<offset + 4].reduce(0) { $0 << 8 | Int64($1) } }
        guard head.count == 100, head.starts(with: Array("SQLite format 3\0".utf8)),
            number(68) == Schema.applicationID
        else { return .foreign }
        return .kith(format: number(60))
    }

    /// Looks whether the database could be opened, as far as its files tell without being opened.
    /// - Throws: `StoreError` as `Store.init`.
    package func look() throws(StoreError) {
        switch owner {
        case .foreign: throw StoreError(.foreignFile, path, "\(shortPath) is no database of Kith: move it away")
        case .nobody: _ = try requireFile(creates: false) { 0 }
        case .kith(let format):
            guard format <= Migrations.current.version else { throw Self.newer(format, .current, path: path) }
            try requireWhole()
        }
        guard (try? fileSystem.open(path, .write)) != nil else {
            throw StoreError(
                .readOnly, path, "\(shortPath) can't be written: look at the permissions and at the file system")
        }
    }

    /// - Throws: `StoreError` `foreign_file` where the file does not show that it is Kith's.
    package func requireOurs() throws(StoreError) {
        guard owner == .foreign else { return }
        throw StoreError(
            .foreignFile, path,
            "\(shortPath) does not show that it is a database of Kith, so it is not removed: move it away yourself")
    }
}
