import Dispatch
import KithDocument
import KithMerge
import KithReplication
import KithStore
import KithSystem
import KithTransport

extension Node {
    /// Follows a database for status and presence.
    func watch(_ database: DatabaseExecutor) {
        database.observe(0) { [weak self] _ in
            guard let self else { return }
            self.queue.async { self.changed() }
        }
        watchStorage(database)
    }

    /// A database was made here, or is carried from now on because a peer has it.
    package func added(_ database: DatabaseExecutor) {
        watch(database)
        applyPolicies([database.name.string])
        for number in drivers.keys.sorted() {
            drivers[number]?.carry(
                database, isHeld: database.summary.documents == 0, directions: directions(of: database.name.string))
        }
        fillNext(database.name.string)
        announcePresence()
        changed()
    }

    /// This node's copy was dropped.
    package func removed(_ name: String) {
        for number in drivers.keys.sorted() { drivers[number]?.drop(name) }
        for peer in peers.keys { peers[peer]?.dropped(name) }
        firstFeeds.forget(name)
        announcePresence()
        changed()
    }

    /// What a peer carries now: databases that are not here are made.
    func carried(_ entries: [DatabaseEntry], by driver: LinkDriver) {
        let peer = driver.peer.nodeID
        var byName: [String: DatabaseEntry] = [:]
        for entry in entries { byName[entry.name] = entry }
        let gone = (peers[peer]?.carried.keys.filter { byName[$0] == nil } ?? []).sorted()
        peers[peer]?.carried = byName
        for name in gone {
            peers[peer]?.left(name)
            if firstFeeds.done(name, link: driver.id) { fillNext(name) }
        }
        for entry in entries {
            guard let name = try? DatabaseName(entry.name) else { continue }
            // Who has stopped pushing fills nobody.
            if !entry.directions.pushes || entry.isPart { _ = firstFeeds.done(entry.name, link: driver.id) }
            // A reader makes no databases, so one that only a reader has is nobody's.
            if catalog.wants(name), driver.peer.role != .reader {
                make(name, because: peer)
            } else {
                fillNext(entry.name)
            }
        }
    }

    /// Makes a database off the queue.
    private func make(_ name: DatabaseName, because peer: NodeID) {
        guard making.insert(name).inserted else { return }
        makings.async { [catalog] in
            let result = Result { () throws(StoreError) in try catalog.carry(name) }
            self.queue.async { self.made(name, because: peer, result) }
        }
    }

    private func made(_ name: DatabaseName, because peer: NodeID, _ result: Result<DatabaseExecutor?, StoreError>) {
        making.remove(name)
        unmade[name] = nil
        guard isRunning else { return }
        switch result {
        case .success(let database?):
            log(
                .info, .store, "a database of a peer is carried here from now on",
                ["database": name.string, "peer": peer.short])
            added(database)
        case .success(nil): fillNext(name.string)
        case .failure(let error):
            log(
                .error, .store, "can't make a database that a peer has",
                ["database": name.string, "peer": peer.short, "reason": error.message])
            unmade[name] = peer
        }
    }

    /// Tries again to make what could not be made, while the peer that told of it is there: a peer tells once.
    func makeUnmade() {
        #if KITH_MUTANTS
        if Mutant.isActive(.makesOnce) { return }
        #endif
        for (name, peer) in unmade.sorted(by: { $0.key < $1.key }) {
            if peers[peer]?.carried[name.string] != nil, catalog.wants(name) {
                make(name, because: peer)
            } else {
                unmade[name] = nil
            }
        }
    }

    // MARK: The first feed of an empty database

    /// Lets one link fill a database that is empty here; once it has caught up or can't, or when the database is not
    /// empty, all links pull it. A reader fills nobody, so it is not waited for.
    func fillNext(_ name: String) {
        guard let database = catalog[name] else { return }
        for number in drivers.keys.sorted() {
            guard let driver = drivers[number], let peer = peers[driver.peer.nodeID], peer.link == number,
                let entry = peer.carried[name]
            else { continue }
            let fillsNobody =
                entry.state.documents == 0 || peer.role == .reader || !entry.directions.pushes || entry.isPart
                || !directions(of: name).pulls
            if database.summary.documents > 0 || fillsNobody
                || (peer.sessions[name]?.hasFailed != true && firstFeeds.begin(name, link: number))
            {
                driver.post(.hold(database: name, isHeld: false))
            }
        }
    }

    /// Where a database stands with a peer.
    func stands(_ name: String, _ status: SessionStatus, _ driver: LinkDriver) {
        guard catalog[name] != nil, peers[driver.peer.nodeID]?.carried[name] != nil else { return }
        peers[driver.peer.nodeID]?.sessions[name] = status
        noteAcknowledged(name, status, driver.peer.nodeID)
        if status.hasFailed {
            if firstFeeds.done(name, link: driver.id) { fillNext(name) }
        } else if status.inChanges == 0, status.state == .following, firstFeeds.done(name, link: driver.id) {
            for number in drivers.keys.sorted() { drivers[number]?.post(.hold(database: name, isHeld: false)) }
        }
    }

    // MARK: Policies

    /// Sets the policies that the group has decided on, as far as this node knows them; where only admins have said one who
    /// were revoked, the first one holds again. Where it knows of none at all the database keeps its own: what was known may
    /// be lost, by leaving or by damage, and conflicts that were left to people must not be merged for that.
    func applyPolicies(_ names: [String]) {
        for name in names {
            if let policy = membership.policy(of: name) {
                set(
                    StoredPolicy(
                        number: policy.number, name: MergePolicies.name(ofPolicy: policy.json), statement: policy.json),
                    of: name)
            } else if membership.hasPolicies(of: name) {
                set(.initial, of: name)
            }
        }
    }

    private func set(_ stored: StoredPolicy, of name: String) {
        guard let database = catalog[name] else { return }
        database.write { transaction throws(StoreError) in
            try transaction.setPolicy(stored)
        } completion: { [log] result in
            switch result {
            case .success(true):
                log(.info, .store, "a database has a policy from now on", ["database": name, "policy": stored.name])
                database.maintain()
            case .success(false): break
            case .failure(let error):
                log(.error, .store, "can't set a policy", ["database": name, "reason": error.message])
            }
        }
    }
}

extension SessionStatus {
    /// Whether a store failed, here or there.
    var hasFailed: Bool { if case .failed = state { true } else { false } }
}
