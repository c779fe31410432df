import KithNode

// Replication under the application's control: docs/replication-control.md.

extension LocalNode {
    /// How a database is replicated by this node.
    /// - Throws: `KithError` `notFound` where there is no such database here.
    public func replication(of database: String) async throws(KithError) -> ReplicationSettings {
        try await control(database) { service throws(ControlError) in
            ReplicationSettings(try await service.replication(of: database))
        }
    }

    /// Changes how a database is replicated by this node. When it returns the settings are on disk, and all links act on them;
    /// a batch that was on its way to the disk is still stored. The database need not be there yet.
    /// - Throws: `KithError`: `invalid` for a name that is none, and a filter that is none or too large; `internalError` where the disk does not take it, and all is as it was.
    public func setReplication(_ settings: ReplicationSettings, of database: String) async throws(KithError) {
        try await control(database) { service throws(ControlError) in
            _ = try await service.setReplication(ControlReplication(try settings.setting()), of: database)
        }
    }

    /// Exchanges nothing of a database until it is resumed; the other settings stay. As `setReplication`.
    public func pauseReplication(of database: String) async throws(KithError) {
        try await setPaused(true, database)
    }

    /// Ends the pause of a database; what was not exchanged follows at once. As `setReplication`.
    public func resumeReplication(of database: String) async throws(KithError) {
        try await setPaused(false, database)
    }

    private func setPaused(_ isPaused: Bool, _ database: String) async throws(KithError) {
        var change = ControlReplication()
        change.isPaused = isPaused
        let paused = change
        try await control(database) { service throws(ControlError) in
            _ = try await service.setReplication(paused, of: database)
        }
    }

    /// One synchronisation with the peers that can be reached, also of a database that is not continuous: returns when each has
    /// what there was here when it began, and the reverse, as far as directions allow; or when the time is up. It waits up to five
    /// seconds for dials that are under way. What came is on disk.
    /// - Throws: `KithError`: `notFound`; `conflict` where the database is paused or goes no way, or all replication is paused;
    ///   `closed` for a node that was stopped.
    public func sync(_ database: String, timeout: Duration = .seconds(60)) async throws(KithError) -> SyncReport {
        let milliseconds = timeout.milliseconds
        return try await control(database) { service throws(ControlError) in
            SyncReport(try await service.synchronise(database, timeoutMilliseconds: milliseconds))
        }
    }

    func control<Value: Sendable>(
        _ subject: String, _ body: (any ControlService) async throws(ControlError) -> Value
    ) async throws(KithError) -> Value {
        do throws(ControlError) { return try await body(node.service) } catch {
            throw KithError(error, of: subject)
        }
    }
}
