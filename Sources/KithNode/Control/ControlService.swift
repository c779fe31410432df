import KithDocument
import KithHTTPCore
import KithQuery
import KithStore

/// What a node does for those who talk to it over the control socket: one method for each operation of docs/control.md.
///
/// Methods are called on threads where they may block. A caller that goes away cancels the task. Names of databases are
/// valid; whether there is one of that name is for the service to say (`ControlError.unknownDatabase`). A node is named
/// by its name or the beginning of its id.
package protocol ControlService: Sendable {
    func status() async throws(ControlError) -> ControlStatus
    /// The status each time it changed, beginning with the present one; the newest counts where the reader is slow.
    func statusUpdates() async throws(ControlError) -> AsyncStream<ControlStatus>
    func mesh() async throws(ControlError) -> ControlMesh
    /// Mutes a health check for a time; returns until when.
    func mute(_ code: HealthCode, milliseconds: Int64) async throws(ControlError) -> Int64
    /// Ends the mute of a health check, or of all.
    func unmute(_ code: HealthCode?) async throws(ControlError)
    /// What a person who helps should see: text of sections, with nothing of a document.
    func supportReport() async throws(ControlError) -> [UInt8]
    /// The status in numbers, for monitoring.
    func metrics() async throws(ControlError) -> ControlMetrics
    /// Returns when the condition holds.
    /// - Throws: code `notYet` when it did not in time, with what was lacking.
    func wait(for condition: ControlWait) async throws(ControlError) -> ControlWaitResult
    /// Stops replicating with one peer, or with all, for a time or until `resume`.
    func pause(peer: String?, milliseconds: Int64?) async throws(ControlError) -> ControlPause
    func resume(peer: String?) async throws(ControlError)
    /// Opens an invitation and makes its code.
    func invite(_ request: ControlInvite) async throws(ControlError) -> ControlInvitation

    // MARK: Members

    /// All nodes of the group that are known, also those whose membership has ended.
    func members() async throws(ControlError) -> ControlMembers
    /// Ends a node's membership for ever; returns when that is on disk.
    /// - Parameter node: a name, the beginning of an id, or a whole id that is not known here.
    /// - Parameter rootKey: the root's key as it stands in its file; nil for the one in the directory.
    /// - Parameter isDryRun: says what would happen and does nothing.
    func revoke(_ node: String, rootKey: [UInt8]?, isDryRun: Bool) async throws(ControlError) -> ControlRevocation
    /// Makes a node a reader or a writer; returns when that is on disk.
    func setRole(_ role: String, of node: String) async throws(ControlError) -> ControlRoleChange

    // MARK: Identity

    /// Who the node is, and on which machine.
    func identity() async throws(ControlError) -> NodeIdentity
    /// The directory was moved to this machine: the node goes on as it was.
    func keepMachine() async throws(ControlError)

    /// Ascending by name.
    func databases() async throws(ControlError) -> [ControlStatus.Database]
    /// - Throws: code `exists` where there is one of that name.
    func createDatabase(_ name: String) async throws(ControlError)
    /// Drops this node's copy.
    /// - Returns: the files that repairs and restores have put aside: they stay.
    func deleteDatabase(_ name: String) async throws(ControlError) -> [KeptFile]

    /// The winner, or one revision.
    func document(_ id: DocumentID, in database: String, revision: RevisionID?, withMeta: Bool)
        async throws(ControlError) -> ControlDocument
    /// Stores a document; returns when it is on disk.
    /// - Parameter body: as it was sent: any JSON text of an object.
    /// - Parameter revision: the leaf to replace; nil for the winner, if there is one.
    /// - Throws: code `conflict` where that leaf is none.
    func put(_ body: [UInt8], as id: DocumentID, in database: String, revision: RevisionID?)
        async throws(ControlError) -> ControlWritten
    /// Writes a tombstone; returns when it is on disk.
    func delete(_ id: DocumentID, in database: String, revision: RevisionID?)
        async throws(ControlError) -> ControlWritten
    /// Removes a document here; returns the number of leaves removed.
    func purge(_ id: DocumentID, in database: String) async throws(ControlError) -> Int
    /// Lines of `ControlChanges.line`.
    func changes(of database: String, _ request: ControlChanges) async throws(ControlError) -> ControlStream
    func history(of id: DocumentID, in database: String) async throws(ControlError) -> ControlHistory

    /// The policy as JSON.
    func policy(of database: String) async throws(ControlError) -> [UInt8]
    /// Sets the policy, from JSON as it was sent, and returns it as it is now.
    func setPolicy(_ policy: [UInt8], of database: String) async throws(ControlError) -> [UInt8]
    /// Lines of `ControlConflict.line`.
    func conflicts(in database: String) async throws(ControlError) -> ControlStream
    /// Ends all live leaves of a document but one.
    func resolve(_ id: DocumentID, in database: String, keeping revision: RevisionID)
        async throws(ControlError) -> ControlWritten

    /// Takes documents in from a body of JSON lines, an array, or an object that holds one array. The stream reads the
    /// body and has lines of `ControlImportEvent`: failures, at most `ControlLimits.listedFailures`, and one `done`.
    func importDocuments(_ body: HTTPBodyReader, into database: String, _ request: ControlImport)
        async throws(ControlError) -> ControlStream
    /// Lines `{"id", "tag", "reason"}` of documents of which revisions were refused.
    func refusedDocuments(in database: String) async throws(ControlError) -> ControlStream
    /// A line for each live document, with `_id`.
    func exportDocuments(of database: String) async throws(ControlError) -> ControlStream

    // MARK: Queries

    /// The answer of a query: lines of docs/control.md, of one moment. What a slow reader has not taken waits on the disk.
    /// - Throws: code `invalid` for a query that is wrong, with line and column.
    func query(_ request: ControlQuery, in database: String) async throws(ControlError) -> ControlStream
    /// How a query is run; its parameters need no values.
    func explain(_ request: ControlQuery, in database: String) async throws(ControlError) -> QueryExplanation
    /// The indexes, ascending by name.
    func indexes(of database: String) async throws(ControlError) -> [IndexListing]
    /// Makes an index: lines of `UpkeepEvent`, the last `indexed` when it is on disk. One who goes away does not end it.
    func createIndex(_ definition: IndexDefinition, in database: String) async throws(ControlError) -> ControlStream
    /// - Throws: code `notFound` with the names that there are.
    func dropIndex(_ index: String, in database: String) async throws(ControlError)

    // MARK: Databases as wholes

    /// Checks a database: lines of `UpkeepEvent`, the last `checked`.
    func verify(_ database: String) async throws(ControlError) -> ControlStream
    /// Makes a new file of what is sound and waits for what peers send of the rest: lines of `UpkeepEvent`, the last
    /// `repaired`.
    func repair(_ database: String, waitingMilliseconds: Int64) async throws(ControlError) -> ControlStream
    /// Gives back the space that is no longer used: lines of `UpkeepEvent`, the last `compacted`.
    func compact(_ database: String) async throws(ControlError) -> ControlStream
    /// Makes a copy as of one moment.
    func backup(_ database: String) async throws(ControlError) -> ControlFile
    /// Puts a copy in the place of the database, or where none is. Returns when it is on disk and open.
    /// - Throws: code `exists` where there is one and `replaces` is false; `failed` where it is no whole copy.
    func restore(_ database: String, from body: HTTPBodyReader, replaces: Bool)
        async throws(ControlError) -> ControlRestored

    // MARK: Replication

    /// How a database is replicated by this node.
    func replication(of database: String) async throws(ControlError) -> DatabaseReplication
    /// Changes that; returns what holds now, when it is on disk and all links act on it. The database need not be there yet.
    func setReplication(_ change: ControlReplication, of database: String)
        async throws(ControlError) -> DatabaseReplication
    /// One synchronisation with the peers that can be reached; returns what came of it.
    /// - Throws: code `conflict` where the database is paused, or goes no way, or all replication is paused.
    func synchronise(_ database: String, timeoutMilliseconds: Int64) async throws(ControlError) -> ControlSync
    /// The documents whose latest change a peer, or for nil any peer, has not acknowledged; at most so many.
    func pending(of database: String, at peer: String?, limit: Int) async throws(ControlError) -> ControlPending
    /// Forgets how far the changes of a peer, or for nil of all, were taken, and begins anew with them. On disk when it returns.
    func resetCheckpoint(of database: String, with peer: String?) async throws(ControlError)

    /// Sets what is logged from now on.
    /// - Parameter area: nil for all areas.
    /// - Throws: code `usage` for an area or level there is none of.
    func setLogLevel(_ level: String, area: String?) async throws(ControlError)

    // MARK: The service

    /// Reads the configuration again; returns when what can change has changed.
    /// - Throws: code `invalid` where it is wrong; the node goes on as it was.
    func reload() async throws(ControlError) -> ControlReload
    /// Begins to end the node; returns at once.
    func stop() async throws(ControlError)
}
