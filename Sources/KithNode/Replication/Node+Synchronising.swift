import KithDiscovery
import KithDocument
import KithReplication
import KithStore
import KithSystem

// One synchronisation with whoever can be reached. On the queue.

extension Node {
    /// Calls back on the queue when each peer that can be reached has what this node had when it began, and the reverse, as far
    /// as directions allow; or when it is known that this does not come; or when the time is up.
    func synchronise(
        _ name: String, timeoutMilliseconds: Int64, completion: @escaping @Sendable (ControlSync) -> Void
    ) throws(ControlError) {
        guard isRunning else { throw .stopping }
        guard let database = catalog[name] else { throw .unknownDatabase(name) }
        let settings = replication[name]
        if settings.isPaused {
            throw ControlError(.conflict, "\(name) is paused here; end that with: kith sync \(name) --resume")
        }
        if settings.direction == .none {
            throw ControlError(
                .conflict, "\(name) is not replicated here; set a direction: kith sync \(name) --direction both")
        }
        let wall = clock.wallMilliseconds
        if pauses.pauses.contains(where: { $0.node == nil && $0.holds(at: wall) }) {
            throw ControlError(.conflict, "replication with all peers is paused here; end that with: kith resume")
        }
        let now = clock.now
        for peer in peers.keys.sorted() where peers[peer]?.link == nil {
            book.hurry(peer)
            schedule.hasten(.node(peer), now: now)
        }
        var awaited: [DialTarget: Int] = [:]
        for target in targets(members, now: now, wall: wall) { awaited[target] = schedule.failures(of: target) }
        var counted: [NodeID: (pulled: UInt64, pushed: UInt64)] = [:]
        for peer in peers.values {
            if let session = peer.sessions[name] { counted[peer.id] = (session.pulled, session.pushed) }
        }
        let run = Synchronisation(
            name, begunAt: now, sequence: database.summary.position.sequence, awaited: awaited, counted: counted,
            completion)
        let isOnDemand = settings.mode == .onDemand && directions(of: name) == .none
        let watcher = addWatcher(.news { [weak self, weak run] in run.map { self?.goOn($0) } })
        run.watcher = watcher
        synchronisations[watcher] = run
        if isOnDemand {
            run.counted = [:]
            redirect([name])
        }
        evaluate()
        // What is said of a peer is to be true now, and not when it was last heard from.
        freshen { [weak self] in self?.goOn(run) }
        for wait in [NodeLimits.reachMilliseconds, Int(clamping: timeoutMilliseconds)] {
            queue.async(afterMilliseconds: wait + 5) { [weak self] in
                self?.goOn(run, isOver: wait == Int(clamping: timeoutMilliseconds))
            }
        }
    }

    /// Looks how far a synchronisation is, and ends it where nothing more is to come.
    private func goOn(_ run: Synchronisation, isOver: Bool = false) {
        guard synchronisations[run.watcher] === run else { return }
        let now = clock.now
        let isReaching =
            now.milliseconds(since: run.begunAt) < UInt64(NodeLimits.reachMilliseconds)
            && run.awaited.contains { isAwaited($0.key, failures: $0.value) }
        var isUnderWay = false
        for id in peers.keys.sorted() {
            guard let peer = peers[id] else { continue }
            guard peer.isOpen else {
                if run.peers[id]?.outcome == .unfinished { run.peers[id]?.reason = peer.lastError }
                continue
            }
            let found = judge(peer, run, now)
            run.peers[id] = found
            if found.outcome == .unfinished { isUnderWay = true }
        }
        guard isOver || !isUnderWay && !isReaching || !isRunning else {
            // A pair that is quiet and not found equal is looked at again when that has lasted.
            if !run.quietSince.isEmpty, !run.isLookPlanned {
                run.isLookPlanned = true
                queue.async(afterMilliseconds: NodeLimits.quietMilliseconds + 5) { [weak self] in
                    run.isLookPlanned = false
                    self?.goOn(run)
                }
            }
            return
        }
        end(run)
    }

    private func end(_ run: Synchronisation) {
        synchronisations[run.watcher] = nil
        watchers[run.watcher] = nil
        if replication[run.database].mode == .onDemand, directions(of: run.database) == .none {
            redirect([run.database]) { run.finish() }
        } else {
            run.finish()
        }
    }

    /// The node stops: nobody is left waiting.
    func endSynchronisations() {
        for number in synchronisations.keys.sorted() { synchronisations.removeValue(forKey: number)?.finish() }
    }

    /// Whether a dial that was due may still come to something.
    private func isAwaited(_ target: DialTarget, failures: Int) -> Bool {
        if let node = target.node, let peer = peers[node] {
            if peer.isOpen || peer.pausedThere != nil { return false }
            if peer.link != nil { return true }
        }
        return attempts[target] != nil || schedule.failures(of: target) <= failures
    }

    private func judge(_ peer: PeerState, _ run: Synchronisation, _ now: Instant) -> ControlSync.Peer {
        var found = run.peers[peer.id] ?? ControlSync.Peer(id: peer.id.description, name: peer.name)
        found.name = peer.name ?? found.name
        guard let session = peer.sessions[run.database] else {
            // It may be about to make the database.
            let isNew = now.milliseconds(since: run.begunAt) < UInt64(NodeLimits.reachMilliseconds)
            found.outcome = isNew || peer.carried[run.database] != nil ? .unfinished : .notOffered
            found.reason = found.outcome == .notOffered ? "it does not carry \(run.database)" : nil
            return found
        }
        let counted = run.counted[peer.id] ?? (0, 0)
        // A session that began since counts from zero.
        found.pulled = session.pulled >= counted.pulled ? session.pulled - counted.pulled : session.pulled
        found.pushed = session.pushed >= counted.pushed ? session.pushed - counted.pushed : session.pushed
        (found.outcome, found.reason) = outcome(session, peer, run, now)
        return found
    }

    private func outcome(
        _ session: SessionStatus, _ peer: PeerState, _ run: Synchronisation, _ now: Instant
    ) -> (ControlSync.Outcome, String?) {
        if case .failed(let reason) = session.state { return (.failed, reason) }
        if let reason = session.peerFailure { return (.failed, "the peer stores nothing: \(reason)") }
        guard exchangesDocuments(with: peer) else { return (.notOffered, "both are readers") }
        if session.state == .off {
            // It may be about to begin one too.
            let isNew = now.milliseconds(since: run.begunAt) < UInt64(NodeLimits.reachMilliseconds)
            return isNew ? (.unfinished, nil) : (.notOffered, limitation(of: run.database, with: peer))
        }
        let isQuiet =
            (peer.told[run.database] ?? 0) >= run.sequence && session.inChanges ?? 0 == 0
            && session.outChanges ?? 0 == 0 && (session.inChanges != nil || session.outChanges != nil)
            && session.isKnown
        guard isQuiet else {
            run.quietSince[peer.id] = nil
            return (.unfinished, nil)
        }
        if session.isInSync { return (.inSync, nil) }
        let since = run.quietSince[peer.id] ?? now
        run.quietSince[peer.id] = since
        guard session.digestEqual == false || now.milliseconds(since: since) >= UInt64(NodeLimits.quietMilliseconds)
        else { return (.unfinished, nil) }
        return (.done, limitation(of: run.database, with: peer))
    }
}

extension SessionStatus {
    /// Whether what is outstanding is known for each direction that is open.
    fileprivate var isKnown: Bool { (!pulls || inChanges != nil) && (!serves || outChanges != nil) }
}
