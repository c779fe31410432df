import KithDocument
import KithNode
import KithSystem
import KithTransport
import Synchronization

// Progress, single documents, what has not gone yet, checkpoints: docs/replication-control.md.

extension LocalNode {
    /// How the replication of a database is going: now, and after each change, at most twenty times a second. Who reads slowly
    /// gets the newest. The stream ends with the task that reads it, and with the node, whose last status is `stopped`.
    public func replicationUpdates(of database: String) -> AsyncStream<ReplicationStatus> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task { [updates = statusUpdates()] in
                var last: ReplicationStatus?
                for await status in updates {
                    let next = ReplicationStatus(database, status)
                    if next != last { continuation.yield(next) }
                    last = next
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Each document of a database that comes from a peer or goes to one, from now on, and each that one of the two refuses.
    /// Who reads slowly misses the oldest of more than 4,096, and sees that by their numbers. The stream ends with the task that
    /// reads it, or with the node.
    public func documentEvents(of database: String) -> AsyncStream<ReplicatedDocument> {
        AsyncStream(bufferingPolicy: .bufferingNewest(Limits.documentEvents)) { continuation in
            let events = DocumentEvents(continuation)
            let node = node
            node.queue.async {
                let number = node.watchDocuments(of: database) {
                    events.take($0)
                } end: {
                    continuation.finish()
                }
                continuation.onTermination = { _ in node.queue.async { node.stopWatchingDocuments(number) } }
            }
        }
    }

    /// The documents whose latest change a peer has not acknowledged, or for nil none of the peers that this node has a link to or
    /// had one to since it started. One that a peer refused counts as acknowledged.
    /// - Parameters:
    ///   - database: its name.
    ///   - peer: its name or the beginning of its id.
    ///   - limit: at most so many are listed, up to 100,000.
    /// - Throws: `KithError`: `notFound` for a database or a peer that is none; `closed`.
    public func pendingDocuments(
        of database: String, at peer: String? = nil, limit: Int = 1_000
    ) async throws(KithError) -> PendingDocuments {
        let most = min(max(1, limit), ControlLimits.mostPendingDocuments)
        return try await control(database) { service throws(ControlError) in
            let pending = try await service.pending(of: database, at: peer, limit: most)
            return PendingDocuments(
                documents: pending.documents, hasMore: pending.hasMore, isKnown: pending.isKnown)
        }
    }

    /// Forgets how far the changes of a peer, or for nil of all, were taken, and looks at them from the beginning. Nothing that
    /// is here is fetched again. On disk when it returns. It is a cure for what should not be: nobody has to call it.
    /// - Throws: `KithError`: `notFound` for a database or a peer that is none; why the disk does not take it; `closed`.
    public func resetCheckpoint(of database: String, with peer: String? = nil) async throws(KithError) {
        try await control(database) { service throws(ControlError) in
            try await service.resetCheckpoint(of: database, with: peer)
        }
    }
}

/// Numbers what one reader of documents is told. Called on the node's queue.
private final class DocumentEvents: Sendable {
    private let continuation: AsyncStream<ReplicatedDocument>.Continuation
    private let count = Atomic<UInt64>(0)

    init(_ continuation: AsyncStream<ReplicatedDocument>.Continuation) { self.continuation = continuation }

    func take(_ news: [DocumentNews]) {
        for one in news {
            let number = count.wrappingAdd(1, ordering: .relaxed).newValue
            continuation.yield(
                ReplicatedDocument(
                    number: number, id: one.document.string, peer: one.peer.description,
                    direction: one.isIncoming ? .came : .went, error: one.error))
        }
    }
}
