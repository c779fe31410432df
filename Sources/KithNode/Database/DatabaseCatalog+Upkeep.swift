import KithStore
import Synchronization

// What is done with a database as a whole while the node runs.

extension DatabaseCatalog {
    /// Something under way with a database as a whole.
    struct Reservation {
        /// What is done with it, for people: `repaired`.
        let what: String
        /// Whether it is closed meanwhile.
        var isClosed = false
    }

    /// Where a database of that name lies, whether it is there or not.
    package func file(of name: DatabaseName) -> DatabaseFile { DatabaseFile(name, in: directory, on: files) }

    /// Whether a database of that name is here, open or not.
    package func isHere(_ name: DatabaseName) -> Bool {
        if state.withLock({ $0.open[name] != nil || $0.reserved[name]?.isClosed == true }) { return true }
        return file(of: name).sizes.file > 0
    }

    /// Why a database that is here can't be used at the moment; nil for one that is open, and where there is none.
    package func failure(of name: String) -> StoreError? {
        guard let name = try? DatabaseName(name) else { return nil }
        return state.withLock { state in
            if let reservation = state.reserved[name], reservation.isClosed { return Self.busy(name, reservation) }
            return state.unusable[name]?.error
        }
    }

    /// Keeps others from checking, copying, repairing, compacting, restoring, making or dropping the database until `release`.
    /// - Parameter what: what is done with it: `repaired`, `copied`.
    /// - Throws: `StoreError` `locked` where somebody else does one of these.
    package func reserve(_ name: DatabaseName, for what: String) throws(StoreError) {
        let other = state.withLock { state -> Reservation? in
            if let other = state.reserved[name] { return other }
            state.reserved[name] = Reservation(what: what)
            return nil
        }
        if let other { throw Self.busy(name, other) }
    }

    package func release(_ name: DatabaseName) { state.withLock { $0.reserved[name] = nil } }

    func requireUnreserved(_ name: DatabaseName) throws(StoreError) {
        if let other = state.withLock({ $0.reserved[name] }) { throw Self.busy(name, other) }
    }

    /// Closes the database, as far as it is open, and lets the work have its files; whoever asks for it meanwhile is told
    /// what is done with it. Opens what is there afterwards, whatever became of the work. The caller has reserved the
    /// database. Blocks.
    /// - Returns: what the work returned, and the database; nil where none is there.
    package func exchange<Value>(
        _ name: DatabaseName, _ work: (DatabaseFile) throws(StoreError) -> Value
    ) -> (result: Result<Value, StoreError>, database: Result<DatabaseExecutor, StoreError>?) {
        let database = state.withLock { state -> DatabaseExecutor? in
            state.reserved[name]?.isClosed = true
            return state.open.removeValue(forKey: name)
        }
        database?.close()
        let file = file(of: name)
        let result = Result { () throws(StoreError) in try work(file) }
        let opened = changing.withLock { _ -> Result<DatabaseExecutor, StoreError>? in
            defer { state.withLock { $0.reserved[name]?.isClosed = false } }
            guard file.sizes.file > 0 else {
                noteGone(name)
                return nil
            }
            return Result { () throws(StoreError) in try open(name) }
        }
        return (result, opened)
    }

    private static func busy(_ name: DatabaseName, _ reservation: Reservation) -> StoreError {
        StoreError(.locked, name.string, "database \(name) is being \(reservation.what): try again when that is over")
    }
}
