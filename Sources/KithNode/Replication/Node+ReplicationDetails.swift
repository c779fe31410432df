import KithDocument
import KithReplication
import KithStore
import KithSystem
import KithTransport

// Single documents that come and go, those that have not gone yet, and checkpoints. On the queue.

/// A document that was exchanged, or was not to be had.
package struct DocumentNews: Hashable, Sendable {
    package let document: DocumentID
    /// The peer's id.
    package let peer: NodeID
    /// Whether it came from the peer and is on disk, rather than was handed to the connection to it.
    package let isIncoming: Bool
    /// Why who was to store it did not; nil where nothing is wrong.
    package let error: String?
}

/// Who is told of the single documents of a database, on the node's queue.
struct DocumentWatcher {
    let database: String
    let tell: @Sendable ([DocumentNews]) -> Void
    /// The node stops.
    let end: @Sendable () -> Void
}

extension Node {
    // MARK: Documents

    /// Calls the watcher with the documents of a database that come and go, until it is removed, or the node stops.
    package func watchDocuments(
        of database: String, _ tell: @escaping @Sendable ([DocumentNews]) -> Void, end: @escaping @Sendable () -> Void
    ) -> UInt64 {
        lastWatcher += 1
        if isRunning {
            documentWatchers[lastWatcher] = DocumentWatcher(database: database, tell: tell, end: end)
        } else {
            end()
        }
        return lastWatcher
    }

    /// The node stops.
    func endDocumentWatches() {
        for number in documentWatchers.keys.sorted() { documentWatchers.removeValue(forKey: number)?.end() }
    }

    package func stopWatchingDocuments(_ number: UInt64) { documentWatchers[number] = nil }

    func tellDocuments(_ database: String, _ documents: [DocumentID], _ peer: NodeID, isIncoming: Bool) {
        tell(database) {
            documents.map { DocumentNews(document: $0, peer: peer, isIncoming: isIncoming, error: nil) }
        }
    }

    func tellRefusals(_ database: String, _ refusals: [KithReplication.Refusal], _ peer: NodeID, isIncoming: Bool) {
        tell(database) {
            refusals.map {
                DocumentNews(document: $0.document, peer: peer, isIncoming: isIncoming, error: $0.reason)
            }
        }
    }

    private func tell(_ database: String, _ news: () -> [DocumentNews]) {
        if documentWatchers.isEmpty { return }
        let watchers = documentWatchers.sorted { $0.key < $1.key }.filter { $0.value.database == database }
        guard !watchers.isEmpty else { return }
        let news = news()
        for watcher in watchers { watcher.value.tell(news) }
    }

    // MARK: What has not gone yet

    /// Notes up to where a peer has acknowledged the changes of a database.
    func noteAcknowledged(_ name: String, _ status: SessionStatus, _ peer: NodeID) {
        if let position = status.acknowledged {
            peers[peer]?.acknowledged[name] = position
        } else if status.serves, status.outChanges != nil {
            // It began anew, so it has nothing of this database as far as it says.
            peers[peer]?.acknowledged[name] = Position(timeline: 0, sequence: 0)
        }
    }

    /// Up to where a peer, or for nil each peer, has acknowledged the changes of a database, as far as that was heard of
    /// since the node started.
    func acknowledgements(of name: String, by peer: NodeID?) -> [Position] {
        if let peer { return peers[peer]?.acknowledged[name].map { [$0] } ?? [] }
        return peers.keys.sorted().compactMap { peers[$0]?.acknowledged[name] }
    }

    // MARK: Checkpoints

    /// Forgets how far the changes of a peer, or for nil of all, were taken, and begins anew with them. Calls back on the queue
    /// when that is on disk.
    func resetCheckpoint(
        of database: DatabaseExecutor, with peer: NodeID?, then: @escaping @Sendable (ControlError?) -> Void
    ) {
        let name = database.name.string
        let concerned = drivers.keys.sorted().compactMap { drivers[$0] }.filter {
            peer == nil || $0.peer.nodeID == peer
        }
        let forget: @Sendable () -> Void = {
            // What a session that has ended still wrote of its checkpoint stands before this in the writer's line.
            database.write { transaction throws(StoreError) in
                try transaction.forgetCheckpoints(of: peer)
            } completion: { result in
                self.queue.async {
                    let failure: ControlError? =
                        if case .failure(let error) = result { ControlError(error) } else { nil }
                    self.redirect([name]) { then(failure) }
                }
            }
        }
        let round = LinkRound(concerned.count, forget)
        for driver in concerned {
            driver.post(.direct(database: name, .none))
            driver.afterwards { self.queue.async { round.passed() } }
        }
        if concerned.isEmpty { forget() }
    }
}
