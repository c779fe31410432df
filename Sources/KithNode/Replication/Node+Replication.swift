import KithDocument
import KithReplication
import KithStore
import KithSystem
import KithTransport

// Which databases pass which way. On the queue.

extension Node {
    /// Which ways the documents of a database may pass now.
    func directions(of name: String) -> FeedDirections {
        replication[name].directions(isSynchronising: synchronisations.values.contains { $0.database == name })
    }

    /// The same for a link that begins: it learns of databases on its own queue.
    var allDirections: @Sendable (String) -> FeedDirections {
        let book = replication
        let running = Set(synchronisations.values.map(\.database))
        return { name in book[name].directions(isSynchronising: running.contains(name)) }
    }

    /// Takes the settings of the last run. Where some may be lost, all databases of which nothing could be read are paused
    /// until somebody says otherwise: what was not to go out does not go out by damage.
    func readReplication() throws(NodeError) {
        let (directory, disk) = (configuration.directory.path, configuration.machine.files)
        let reading = try SpareFile.replication.look(in: directory, on: disk)
        replication = ReplicationBook(lines: reading.lines)
        guard reading.damage != nil else { return }
        replication.pauseOthers()
        // In one write: after a crash the file shows its damage, or this pause.
        SpareFile.replication.setAside(in: directory, leaving: replication.lines, on: disk)
    }

    /// Changes the settings of a database. Calls back on the queue, once they are on disk and all links have let go of what they
    /// forbid, or with why nothing has changed.
    func setReplication(
        of name: String, _ change: @escaping @Sendable (inout DatabaseReplication) -> Void,
        then: @escaping @Sendable (ControlError?) -> Void
    ) {
        keepReplication { book in
            change(&book[name])
        } then: { failure in
            if let failure { return then(failure) }
            self.redirect([name]) { then(nil) }
        }
    }

    /// Databases that a damaged file could not speak for are replicated again.
    func resumeOtherDatabases(then: @escaping @Sendable (ControlError?) -> Void) {
        guard replication.others != DatabaseReplication() else { return then(nil) }
        keepReplication {
            $0.resumeOthers()
        } then: { failure in
            if let failure { return then(failure) }
            self.redirect(self.catalog.databases.map(\.name.string)) { then(nil) }
        }
    }

    /// Settings hold once they are on disk, or not at all.
    private func keepReplication(
        _ change: @escaping @Sendable (inout ReplicationBook) -> Void,
        then: @escaping @Sendable (ControlError?) -> Void
    ) {
        keep(.replication) {
            var book = self.replication
            change(&book)
            let content = SpareFile.content(book.lines)
            guard content.count <= NodeLimits.smallFileBytes else {
                then(ControlError(.usage, "the filters of all databases together are too large; make some smaller"))
                return nil
            }
            return Writing(content: content) { [book] failure in
                if failure == nil { self.replication = book }
                then(failure.map { ControlError(.failed, "nothing was changed: \($0.message); look at the disk") })
            }
        }
    }

    /// Tells the links which ways databases pass from now on. Calls back on the queue when all of them act on it.
    func redirect(_ names: [String], then: @escaping @Sendable () -> Void = {}) {
        let round = LinkRound(drivers.count, then)
        for number in drivers.keys.sorted() {
            guard let driver = drivers[number] else { continue }
            for name in names {
                let peer = driver.peer.nodeID
                // What was known holds for the session that ends.
                if peers[peer]?.link == number { peers[peer]?.sessions[name] = nil }
                driver.post(.direct(database: name, directions(of: name)))
            }
            driver.afterwards { self.queue.async { round.passed() } }
        }
        for name in names { fillNext(name) }
        if drivers.isEmpty { then() }
        changed()
    }

    /// Counts the links that have done something. On the node's queue.
    final class LinkRound: @unchecked Sendable {
        // Sendable: used on the node's queue only.
        private var left: Int
        private let then: @Sendable () -> Void

        init(_ count: Int, _ then: @escaping @Sendable () -> Void) {
            left = count
            self.then = then
        }

        func passed() {
            left -= 1
            if left == 0 { then() }
        }
    }

    // MARK: What is said of it

    /// Why a database does not become equal with a peer as things are set, here and there; nil where it may.
    func limitation(of name: String, with peer: PeerState) -> String? {
        guard let session = peer.sessions[name] else { return nil }
        if session.isBetweenParts { return "\(name) is filtered on both sides" }
        if !session.here.pulls || !session.here.pushes {
            let now = synchronisations.values.contains { $0.database == name }
            let words = now ? nil : replication[name].limitation
            return "\(name) is \(words ?? session.here.words) here"
        }
        return session.there == .both ? nil : "\(name) is \(session.there.words) there"
    }

    /// Why nothing more passes with a peer though not all is equal: what differs still is kept back by a setting, and nothing
    /// is on its way. Nil where something may still come.
    func standstill(with peer: PeerState, now: Int64) -> String? {
        var reasons: [String] = []
        for database in catalog.databases {
            let name = database.name.string
            guard peer.carried[name] != nil, !isInSync(peer, database, now: now) else { continue }
            guard let session = peer.sessions[name], let reason = limitation(of: name, with: peer),
                session.inChanges ?? 0 == 0, session.outChanges ?? 0 == 0
            else { return nil }
            reasons.append(reason)
        }
        return reasons.isEmpty ? nil : reasons.joined(separator: ", ")
    }
}

extension FeedDirections {
    /// `only pulled` and the like.
    fileprivate var words: String {
        switch (pulls, pushes) {
        case (true, true): "replicated"
        case (true, false): "only pulled"
        case (false, true): "only pushed"
        case (false, false): "not replicated at present"
        }
    }
}
