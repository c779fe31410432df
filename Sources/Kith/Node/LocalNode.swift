import Dispatch
import KithDocument
import KithNode
import KithStore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A node in this process: the databases of a folder, shared with the other nodes of its group on this network.
///
///     let node = try LocalNode(in: folder)
///     try await node.start()
///     let notes = try await node.database("notes")
///     for await status in node.statusUpdates() { show(status.state) }
///     await node.stop()
///
/// It is the node that `kith start` runs, and the commands work on its folder. One process has a folder at a time.
/// A node that nobody has any more stops by itself.
public final class LocalNode: Sendable {
    private enum Stage {
        case made, started, stopped
    }

    let node: KithNode.Node
    private let stage = Mutex(Stage.made)
    private let watches = Mutex(StatusWatches())

    /// Takes the folder and opens its databases; they can be used at once. Nothing is sent or received before `start`.
    /// - Parameters:
    ///   - folder: one that is a node of a group already (`makeGroup`, `join`).
    ///   - options: where it listens, whom it looks for, what it tells.
    /// - Throws: `KithError`: `membership` where the folder is in no group; `inUse` with who has it.
    public convenience init(in folder: URL, options: NodeOptions = NodeOptions()) throws(KithError) {
        try self.init(options.configuration(of: try Self.directory(folder)))
    }

    /// The same with surroundings of a test's.
    package init(_ configuration: NodeConfiguration) throws(KithError) {
        do throws(NodeError) { node = try KithNode.Node(configuration) } catch {
            throw KithError(error, of: configuration.directory.path)
        }
        node.stopRequested = { [weak self] in
            guard let self else { return }
            Task { await self.stop() }
        }
    }

    deinit {
        // The node lives on until it has said goodbye.
        let node = node
        endWatches(with: nil)
        if stage.withLock({ $0 != .stopped }) { node.stop { withExtendedLifetime(node) {} } }
    }

    private func endWatches(with last: NodeStatus?) {
        for watch in watches.withLock({ $0.end(with: last) }) { watch.end(with: last) }
    }

    /// Listens, announces itself, and looks for the others.
    /// - Throws: `KithError`: `invalid` for an address that is none or taken; `closed` for one that was stopped.
    public func start() async throws(KithError) {
        let isNew = stage.withLock { stage in
            defer { if stage == .made { stage = .started } }
            return stage == .made
        }
        guard isNew else {
            throw KithError(.closed, node.id.description, "a node is started once: make another LocalNode")
        }
        let node = node
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Void, NodeError>, Never>) in
            // It waits for the node's queue and for the disk.
            DispatchQueue.global().async {
                continuation.resume(returning: Result { () throws(NodeError) in try node.start() })
            }
        }
        do throws(NodeError) { try result.get() } catch {
            await stop()
            throw KithError(error, of: node.id.description)
        }
    }

    /// Says goodbye, finishes what is under way, and closes the databases. All is on disk when this returns. Streams of the
    /// status end.
    public func stop() async {
        let isFirst = stage.withLock { stage in
            defer { stage = .stopped }
            return stage != .stopped
        }
        guard isFirst else { return }
        var status = (try? await node.service.status()).map { NodeStatus($0) }
        status?.state = .stopped
        let node = node
        await withCheckedContinuation { continuation in node.stop { continuation.resume() } }
        endWatches(with: status)
    }

    /// Where it listens, `host:port`, once started.
    public var listening: [String] { node.listening }

    // MARK: Databases

    /// The names of its databases, ascending; also of those that can't be used.
    public var databases: [String] {
        (node.catalog.databases.map(\.name) + node.catalog.unusable.map(\.file.name)).sorted().map(\.string)
    }

    /// A database; made where there is none, and then on all nodes of the group. It goes with the node, and is otherwise as
    /// one that was opened alone.
    /// - Throws: `KithError`: `invalid` for a name that is none; `forbidden` to make one on a node that only reads; why the
    ///   database can't be used.
    public func database(_ name: String) async throws(KithError) -> Database {
        let home = NodeHome(name: try Database.store { () throws(StoreError) in try DatabaseName(name) }, node: node)
        if node.catalog[name] == nil {
            do throws(ControlError) { try await node.service.createDatabase(name) } catch {
                // A peer may have brought it meanwhile.
                if node.catalog[name] == nil { throw KithError(error, of: name) }
            }
        }
        return Database(home)
    }

    /// Drops this node's copy of a database, for good, and carries it no more. Nothing is deleted elsewhere. What still has
    /// the database gets errors.
    public func deleteDatabase(_ name: String) async throws(KithError) {
        do throws(ControlError) { _ = try await node.service.deleteDatabase(name) } catch {
            throw KithError(error, of: name)
        }
    }

    // MARK: Replication

    /// Stops exchanging documents with all peers; links stay, and status says so. It outlives a restart.
    /// - Parameter duration: nil until `resume`.
    public func pause(for duration: Duration? = nil) async throws(KithError) {
        do throws(ControlError) {
            _ = try await node.service.pause(peer: nil, milliseconds: duration.map(\.milliseconds))
        } catch { throw KithError(error, of: node.id.description) }
    }

    /// Ends a pause.
    public func resume() async throws(KithError) {
        do throws(ControlError) { try await node.service.resume(peer: nil) } catch {
            throw KithError(error, of: node.id.description)
        }
    }

    // MARK: The group

    /// Makes a code that lets one node in; this node must be running when it is used.
    /// - Throws: `KithError` `forbidden` where this node is no admin; for an admin to come the root's key must be here.
    public func invite(as role: NodeRole = .writer, for validity: Duration = .seconds(900)) async throws(KithError)
        -> Invitation
    {
        var request = ControlInvite()
        request.role = role.rawValue
        request.validMilliseconds = max(1, validity.milliseconds)
        do throws(ControlError) {
            let invitation = try await node.service.invite(request)
            return Invitation(
                code: invitation.code, role: role, expiresAt: Date(milliseconds: invitation.expiresAt))
        } catch { throw KithError(error, of: node.id.description) }
    }

    // MARK: The status

    /// The status now. Peers that were not heard from within a quarter of a second are asked first.
    /// - Throws: `KithError` `closed` for a node that was stopped.
    public func status() async throws(KithError) -> NodeStatus {
        try requireNotStopped()
        do throws(ControlError) { return NodeStatus(try await node.service.status()) } catch {
            throw KithError(error, of: node.id.description)
        }
    }

    /// The status now, and after each change, at most twenty times a second. Who reads slowly gets the newest, and costs
    /// nobody anything. The stream ends with the task that reads it, and with the node, whose last status is `stopped`; of one
    /// that was stopped before, that is all there is.
    public func statusUpdates() -> AsyncStream<NodeStatus> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let watch = StatusWatch(node, continuation) { [weak self] in
                self?.stage.withLock { $0 == .stopped } ?? true
            }
            guard let number = watches.withLock({ $0.add(watch) }) else {
                return watch.end(with: watches.withLock(\.last))
            }
            continuation.onTermination = { [weak self] _ in
                watch.cancel()
                self?.watches.withLock { $0.remove(number) }
            }
        }
    }

    /// Waits until so many peers are connected and, where a database is named, all of them have the same documents.
    /// - Returns: false when the time was up before.
    public func waitUntilInSync(
        _ database: String? = nil, peers: Int = 1, timeout: Duration = .seconds(30)
    ) async -> Bool {
        var condition = ControlWait()
        condition.peers = max(1, peers)
        condition.database = database
        condition.timeoutMilliseconds = timeout.milliseconds
        do throws(ControlError) { _ = try await node.service.wait(for: condition) } catch { return false }
        return true
    }

    func requireNotStopped() throws(KithError) {
        guard stage.withLock({ $0 != .stopped }) else {
            throw KithError(.closed, node.id.description, "the node was stopped")
        }
    }

    static func directory(_ folder: URL) throws(KithError) -> NodeDirectory {
        do throws(ControlError) { return try NodeDirectory(option: folder.path) } catch {
            throw KithError(error, of: folder.path)
        }
    }
}

/// One reader of the status.
private final class StatusWatch: Sendable {
    private let continuation: AsyncStream<NodeStatus>.Continuation
    private let task: Task<Void, Never>

    /// - Parameter isEnding: whether the node was told to stop, so that its last status is still to come.
    init(
        _ node: KithNode.Node, _ continuation: AsyncStream<NodeStatus>.Continuation,
        isEnding: @escaping @Sendable () -> Bool
    ) {
        self.continuation = continuation
        task = Task {
            guard let updates = try? await node.service.statusUpdates() else {
                if !isEnding() { continuation.finish() }
                return
            }
            for await status in updates { continuation.yield(NodeStatus(status)) }
        }
    }

    func cancel() { task.cancel() }

    func end(with last: NodeStatus?) {
        task.cancel()
        if let last { continuation.yield(last) }
        continuation.finish()
    }
}

/// The streams of a node's status, until the node is stopped.
private struct StatusWatches {
    private var all: [Int: StatusWatch] = [:]
    private var number = 0
    private var isOver = false
    /// The last status of a node that was stopped.
    private(set) var last: NodeStatus?

    /// - Returns: its number; nil when the node has stopped.
    mutating func add(_ watch: StatusWatch) -> Int? {
        if isOver { return nil }
        number += 1
        all[number] = watch
        return number
    }

    mutating func remove(_ number: Int) { all[number] = nil }

    /// - Returns: those to be ended.
    mutating func end(with last: NodeStatus?) -> [StatusWatch] {
        defer { all = [:] }
        (isOver, self.last) = (true, last)
        return all.keys.sorted().compactMap { all[$0] }
    }
}
