import KithDocument
import KithStore

// What is told of a database, whether a node has it or a program alone.
extension Log {
    /// Tells what its opening has found amiss.
    func noteOpening(of database: DatabaseExecutor) {
        if let how = database.findings.lostLog {
            self(.warning, .store, "the log of database \(database.name) \(how): the latest writes may be missing")
        }
    }

    /// Tells that the disk under it fails, or with nil that it works again.
    func noteStorage(of name: DatabaseName, _ trouble: StoreError?) {
        if let trouble {
            self(.error, .store, "database \(name): \(trouble.message)")
        } else {
            self(.info, .store, "database \(name) takes writes again")
        }
    }

    /// Tells of a database that no node has, from its opening on.
    package func follow(_ database: DatabaseExecutor) {
        let summary = database.summary
        self(
            .info, .store, "a database was opened",
            [
                "database": database.name.string, "documents": "\(summary.documents - summary.deleted)",
                "sequence": "\(summary.position.sequence)", "unclean": database.findings.isUnclean ? "yes" : "no",
            ])
        noteOpening(of: database)
        database.observeStorage { [name = database.name] trouble in self.noteStorage(of: name, trouble) }
    }
}
