import Dispatch
import KithDiscovery
import KithDocument
import KithNetwork
import KithReplication
import KithStore
import KithSystem
import KithTransport

extension Node {
    // MARK: Discovery

    func startDiscovery() {
        // Who is held is not announced: the original may be, under the same id.
        guard usesDiscovery, isRunning, discovery == nil, let listener, !isHeld else { return }
        let discovery = configuration.discovery(interfaces)
        self.discovery = discovery
        let advertisement = Advertisement(
            nodeName: identity.nodeName, nodeID: id, port: listener.port,
            protocolVersion: Int(ProtocolVersions.supported.highest))
        do throws(DiscoveryError) {
            try discovery.start(tag: identity.trust.tag, advertising: advertisement) { [weak self] services in
                guard let self else { return }
                self.queue.async { self.discovered(services) }
            } onStateChanged: { [weak self, log] state in
                log(
                    .info, .discovery, "discovery is \(state.phase.rawValue)",
                    state.lastError.map { ["reason": $0] } ?? [:])
                guard let self else { return }
                self.queue.async { self.changed() }
            }
        } catch {
            log(.error, .discovery, "discovery can't begin", ["reason": error.message])
        }
    }

    private func discovered(_ services: [DiscoveredService]) {
        guard discovery != nil else { return }
        let before = Set(book.announcedNodes)
        book.setDiscovered(services.filter { $0.nodeID != id }, members: Set(members))
        lookAtTwins(services.filter { $0.nodeID == id && $0.isPresent })
        for node in book.announcedNodes where !before.contains(node) {
            announcedAt = clock.now
            log(.debug, .discovery, "a node is announced", ["peer": node.short])
            schedule.hasten(.node(node), now: clock.now)
        }
        evaluate()
    }

    /// This machine has an address again, or a new one: what failed before says nothing about that network. Attempts under
    /// way wait for answers that were lost, so they begin anew too; but not so often that none would ever get its time.
    func networkGained() {
        guard isRunning else { return }
        log(.info, .mesh, "the network has changed: dialling all who are not connected")
        let now = clock.now
        if networkGainedAt.map({ now.milliseconds(since: $0) > NodeLimits.dialTimeoutMilliseconds }) ?? true {
            networkGainedAt = now
            for target in attempts.keys.sorted() {
                giveUp(target)
                schedule.forget(target)
            }
        }
        lookAgain()
        evaluate()
    }

    // MARK: Deciding

    /// Looks at the mesh anew: whom to dial, which links are spare, what to announce. Among many nodes a little later, once
    /// for all that happens meanwhile.
    func evaluate() {
        guard isRunning else { return }
        guard max(peers.count, book.announcedNodes.count) > NodeLimits.manyNodes else { return evaluateNow() }
        guard !isEvaluationPlanned else { return }
        isEvaluationPlanned = true
        queue.async(afterMilliseconds: NodeLimits.gatheredEvaluationMilliseconds) {
            self.isEvaluationPlanned = false
            self.evaluateNow()
        }
    }

    private func evaluateNow() {
        guard isRunning else { return }
        noteWake()
        let now = clock.now
        let wall = clock.wallMilliseconds
        pauses.expire(now: wall)
        presence.expire(now: now)
        refusals.expire(now: wall)
        twins.expire(now: now)
        noteSeen(now: now)
        ask(exchange.overdue(now: now))
        keepMembership()
        maintain(now: now)
        tendStorage(now: now)
        let members = members
        for target in schedule.due(targets(members, now: now, wall: wall), now: now) { dial(target, now: now) }
        closeSpareLinks(members, wall: wall)
        noteHealth(now: now)
        announcePresence()
        scheduleTick(now: now)
        changed()
    }

    /// Every node that may stand in the ring: one that was a member's once, or of which members tell; readers apart. What
    /// is only announced may be anybody's invention and stands in no ring. Ascending.
    var members: [NodeID] {
        let met = peers.keys.filter { peers[$0]?.link != nil || peers[$0]?.lastExchangeAt != nil }
        var members = Set(met).union(presence.nodes).union(book.rememberedNodes)
        members.remove(id)
        return members.filter { peers[$0]?.role != .reader && !presence.isReader($0) && !isRevoked($0) }.sorted()
    }

    private func isReachable(_ node: NodeID) -> Bool {
        peers[node]?.link != nil || schedule.failures(of: .node(node)) < NodeLimits.failuresUntilUnreachable
    }

    /// Whom to dial, and what addresses.
    func targets(_ members: [NodeID], now: Instant, wall: Int64) -> [DialTarget] {
        // Whoever knows that it is revoked knocks at no door.
        if isHeld || isRevokedHere { return [] }
        let wanted: [NodeID]
        if let awaited = membership.awaited {
            // Nobody else is let in.
            wanted = isRevoked(awaited) ? [] : [awaited]
        } else {
            wanted = ringTargets(members, now: now) + bridges(now: now)
        }
        var targets = wanted.filter { wantsDial($0, now: now) && pauses.pause(of: $0, now: wall) == nil }
            .map(DialTarget.node)
        targets += book.candidates(for: nil, now: now.milliseconds).map { .address($0.address.description) }
        return targets
    }

    /// Whether another link to a node is wanted: there is none, or it is dead, or it may carry large packets again.
    private func wantsDial(_ node: NodeID, now: Instant) -> Bool {
        peers[node]?.link == nil || isSuspect(node) || isPathRetryDue(node, now: now)
    }

    /// Whom the ring wants, and those of the nodes that are announced and that nobody has met yet whom it would want with
    /// them in it. All of those at once would be too many links: nodes that start together know nobody.
    private func ringTargets(_ members: [NodeID], now: Instant) -> [NodeID] {
        let known = Set(members)
        let strangers = book.announcedNodes.filter {
            $0 != id && !known.contains($0) && !presence.knows($0) && peers[$0]?.lastExchangeAt == nil
                && !isRevoked($0)
        }
        // What is announced first is not the ring yet: links to some do until the others are heard of.
        if isHearingOfMore(now: now) {
            let some = leastFailed(members + strangers, NodeLimits.bridgingLinks)
            return members.count + strangers.count < NodeLimits.fullMeshNodes ? some : []
        }
        guard members.count + strangers.count >= NodeLimits.fullMeshNodes else {
            let readers = book.announcedNodes.filter { $0 != id && !known.contains($0) && !isRevoked($0) }
            return members + leastFailed(readers, NodeLimits.fullMeshNodes)
        }
        // Who stands where the ring wants a link is dialled whatever failed before: when a whole network was away, nobody can be
        // reached, and without these nobody would dial.
        #if KITH_MUTANTS
        let first = selection.wanted(ring: members) { !Mutant.isActive(.passesOverTheRing) || isReachable($0) }
        #else
        let first = selection.wanted(ring: members) { _ in true }
        #endif
        if strangers.isEmpty { return first + selection.wanted(ring: members, isReachable: isReachable) }
        let age = now.milliseconds(since: begunAt)
        let wanted = selection.wanted(ring: (members + strangers).sorted(), isReachable: isReachable)
        // The ring of those known so far is another one, whose links would soon be spare.
        if age < bridgingDelay { return wanted }
        // Who is announced and does not answer keeps nobody out who does.
        return wanted + first + selection.wanted(ring: members, isReachable: isReachable)
            + leastFailed(strangers.filter { isSeenLong($0, now: now) }, NodeLimits.fullMeshNodes)
    }

    /// Whether this node has just started and hears of more nodes all the time.
    private func isHearingOfMore(now: Instant) -> Bool {
        guard let announcedAt else { return false }
        return now.milliseconds(since: begunAt) < NodeLimits.announcementsLastMilliseconds
            && now.milliseconds(since: announcedAt) < NodeLimits.announcementsQuietMilliseconds
    }

    /// How long a node that nobody tells of must be seen before it is dialled beside the ring: presence needs time to go round.
    private var bridgingDelay: UInt64 {
        max(
            NodeLimits.bridgingDelayMilliseconds,
            UInt64(book.announcedNodes.count) * NodeLimits.bridgingDelayPerNodeMilliseconds)
    }

    private func isSeenLong(_ node: NodeID, now: Instant) -> Bool {
        announcedSince[node].map { now.milliseconds(since: $0) >= bridgingDelay } ?? false
    }

    /// Nodes that were seen for a while and that the presence map does not have: the other half of a parted mesh.
    private func bridges(now: Instant) -> [NodeID] {
        let unknown = announcedSince.keys.filter { !presence.knows($0) }
        return leastFailed(
            unknown.filter { isSeenLong($0, now: now) && !isRevoked($0) }, NodeLimits.bridgingLinks)
    }

    /// Of nodes that failed equally often each node takes others.
    private func leastFailed(_ nodes: [NodeID], _ count: Int) -> [NodeID] {
        let ranked = selection.spread(nodes).enumerated().map { rank, node in
            (node: node, rank: rank, failures: schedule.failures(of: .node(node)))
        }
        return ranked.sorted { $0.failures != $1.failures ? $0.failures < $1.failures : $0.rank < $1.rank }
            .prefix(count).map(\.node)
    }

    private func noteSeen(now: Instant) {
        let unlinked = book.announcedNodes.filter { $0 != id && peers[$0]?.link == nil }
        announcedSince = Dictionary(uniqueKeysWithValues: unlinked.map { ($0, announcedSince[$0] ?? now) })
    }

    /// Forgets nodes that were never met and that nobody names any more.
    private func forgetUnmet() {
        let remembered = book.rememberedNodes
        peers = peers.filter { node, peer in
            peer.link != nil || peer.lastExchangeAt != nil || peer.seenBeforeAt != nil
                || presence.knows(node) || remembered.contains(node) || refusals.names(node)
        }
    }

    /// Looks at health from time to time though nobody asks, so that `since` tells when trouble began, and writes what
    /// gathered since the last time.
    private func noteHealth(now: Instant) {
        if let healthAt, now.milliseconds(since: healthAt) < NodeLimits.evaluationMilliseconds { return }
        healthAt = now
        forgetUnmet()
        look()
        noteRollbacks(now: clock.wallMilliseconds)
        noteUnheard(now: now)
        _ = health(now: clock.wallMilliseconds)
        noteEndedMutes()
        rememberAddresses()
        log.flush()
    }

    /// Does once an hour what databases leave for later.
    private func maintain(now: Instant) {
        if let maintainedAt, now.milliseconds(since: maintainedAt) < NodeLimits.maintenanceMilliseconds { return }
        maintainedAt = now
        let isClockOff = mayClockBeOff(now: clock.wallMilliseconds)
        for database in catalog.databases { database.maintain(isClockOff: isClockOff) }
    }

    /// Ends links that neither side wants: those of a mesh that has grown into a ring. Who dialled ends it, and only while
    /// both have all the links that they do want: where not everyone can reach everyone, no link is spare. What the other
    /// wants is reckoned from what is known here, and it may know other nodes. So nobody ends what the other has dialled,
    /// which would dial it again and again.
    private func closeSpareLinks(_ members: [NodeID], wall: Int64) {
        let ring = (members + [id]).sorted()
        guard ring.count > NodeLimits.fullMeshNodes, !selection.isReader else { return }
        let wanted = Set(selection.wanted(ring: ring, isReachable: isReachable))
        guard wanted.allSatisfy({ peers[$0]?.isOpen == true }) else { return }
        for number in drivers.keys.sorted() {
            guard let driver = drivers[number], let peer = peers[driver.peer.nodeID], peer.link == number, peer.isOpen,
                driver.isDialled, peer.role != .reader, !wanted.contains(peer.id),
                wall - peer.stateSince > NodeLimits.spareLinkMilliseconds,
                let neighbours = presence.record(of: peer.id)?.neighbours
            else { continue }
            let its = MeshSelection(node: peer.id, isReader: false).wanted(ring: ring, isReachable: isReachable)
            guard !its.contains(id), its.allSatisfy(neighbours.contains) else { continue }
            driver.post(.stop(Goodbye(code: .full, text: "the ring has other ways between the two nodes")))
        }
    }

    /// Comes back when something is due.
    private func scheduleTick(now: Instant) {
        var due = now.advanced(byMilliseconds: NodeLimits.evaluationMilliseconds)
        if let deadline = schedule.nextDeadline(after: now) { due = min(due, deadline) }
        if isHearingOfMore(now: now) {
            due = min(due, now.advanced(byMilliseconds: NodeLimits.announcementsQuietMilliseconds))
        }
        if let retry = nextStorageRetry { due = min(due, retry) }
        if let suspicion = nextSuspicion(after: now) { due = min(due, suspicion) }
        if let until = pauses.pauses.compactMap(\.until).min() {
            let wait = max(0, until - clock.wallMilliseconds)
            due = min(due, now.advanced(byMilliseconds: UInt64(wait) + 1))
        }
        let timer = timer ?? makeTimer()
        let wait = max(20, due.milliseconds(since: now))
        timer.schedule(milliseconds: Int(clamping: wait), leewayMilliseconds: 20)
    }

    private func makeTimer() -> any WorkTimer {
        let timer = queue.timer { [weak self] in self?.evaluateNow() }
        self.timer = timer
        return timer
    }

    // MARK: Dialling

    private func dial(_ target: DialTarget, now: Instant) {
        guard let transport, attempts[target] == nil else { return }
        var candidates: [Candidate]
        switch target {
        case .node(let node):
            candidates = book.wanted(for: node, now: now.milliseconds, isThere: isLinked)
                .filter { !isReached($0.address, besides: node) }
        case .address(let text):
            candidates = book.candidates(for: nil, now: now.milliseconds).filter { $0.address.description == text }
        }
        candidates = candidates.filter(isOnWantedInterface)
        guard !candidates.isEmpty else { return schedule.failed(target, now: now) }
        let attempt = DialAttempt(
            target, addresses: candidates.map(\.address), segmentBytes: segmentBytes(for: target, now: now),
            queue: queue, transport: transport
        ) { [weak self] attempt, outcome in self?.dialled(attempt, outcome) }
        attempts[target] = attempt
        var services: [InstanceName] = []
        for service in candidates.compactMap(\.service) where !services.contains(service) { services.append(service) }
        attempt.start(services: services, discovery)
    }

    /// Whether the link to a node leads to the machine of an address.
    private func isLinked(_ node: NodeID, at address: Endpoint) -> Bool {
        guard let link = linkInUse(to: node), case .numeric(let expected) = address,
            case .numeric(let actual)? = try? Endpoint(link.connection.remote)
        else { return false }
        return actual.ip == expected.ip
    }

    /// Whether this node has dialled another one at this very address and its link is up: who says that a node is there speaks
    /// of old times, and a second link to the other would take the place of the first.
    private func isReached(_ address: Endpoint, besides node: NodeID) -> Bool {
        let text = address.description
        return drivers.values.contains { driver in
            driver.isDialled && driver.peer.nodeID != node && driver.connection.remote == text
                && linkInUse(to: driver.peer.nodeID) === driver
        }
    }

    /// Addresses that worked once are left alone while they are in the subnet of an interface that does not count.
    private func isOnWantedInterface(_ candidate: Candidate) -> Bool {
        guard !interfaces.texts.isEmpty, candidate.source == .remembered, case .numeric(let address) = candidate.address
        else { return true }
        let near = configuration.network.interfaces().filter { $0.sharesSubnet(with: address.ip) }
        return near.isEmpty || near.contains { interfaces.allows($0.name) }
    }

    private func dialled(_ attempt: DialAttempt, _ outcome: DialAttempt.Outcome) {
        let now = clock.now
        let expected = attempt.target.node
        switch outcome {
        case .failed(let address, let reason, let error):
            notePath(attempt.target, error, now: now)
            log(
                .debug, .mesh, "a dial failed",
                ["peer": expected?.short ?? "?", "address": address.description, "reason": reason])
            book.failed(address, for: expected, reason: reason, now: now.milliseconds, using: &random)
            if let expected, peers[expected]?.link == nil { peers[expected]?.lastError = reason }
            if let error { noteRefusedDial(address, expected, error) }
        case .exhausted:
            attempts[attempt.target] = nil
            counters.dialsFailed += 1
            if let expected, peers[expected]?.link != nil, !isSuspect(expected) {
                schedule.connected(attempt.target, now: now)
            } else {
                schedule.failed(attempt.target, now: now)
                // Whether it still is can't be known.
                if let expected { peers[expected]?.pausedThere = nil }
            }
            evaluate()
        case .connected(let connection, let peer, let address, let tieBreak):
            attempts[attempt.target] = nil
            counters.dialsConnected += 1
            // Until it is the link to whom it should be, it is a dial that failed.
            if expected == nil { schedule.forget(attempt.target) } else { schedule.failed(attempt.target, now: now) }
            paths.move(attempt.target, to: .node(peer.nodeID))
            reached(peer, instead: expected, at: address, over: connection, tieBreak, now: now)
        }
    }

    /// Ends an attempt that is not wanted any more.
    func giveUp(_ target: DialTarget) {
        guard let attempt = attempts.removeValue(forKey: target) else { return }
        attempt.cancel()
    }

    private func reached(
        _ peer: PeerIdentity, instead expected: NodeID?, at address: Endpoint, over connection: any Channel,
        _ tieBreak: UInt64, now: Instant
    ) {
        if peer.nodeID == id {
            if ownAddressesTold.count < NodeLimits.presenceNodes, ownAddressesTold.insert(address.description).inserted
            {
                log(.info, .mesh, "\(address) answers with this node's own identity and is left alone")
            }
            book.reachedSelf(at: address, now: now.milliseconds)
        } else if let expected, expected != peer.nodeID {
            book.reachedOther(
                peer.nodeID, insteadOf: expected, at: address, now: now.milliseconds, using: &random)
        } else {
            book.reached(peer.nodeID, at: address)
        }
        rememberAddresses()
        let driver = makeDriver(connection, peer, tieBreak: tieBreak)
        connection.workQueue.async {
            connection.setHandler { _, event in driver.handle(event) }
            connection.setReading(true)
        }
        authenticated(driver, at: address)
        if peer.nodeID == id { evaluate() }
    }

    /// Keeps the addresses that worked and the names of peers, for the next start.
    func rememberAddresses() {
        keepSoon(.peers) {
            let names = self.peerNames.lines(now: self.clock.wallMilliseconds)
            let text = self.book.rememberedText + names.map { $0 + "\n" }.joined()
            guard text != self.rememberedText else { return nil }
            let lines = text.split(separator: "\n").map(String.init)
            return Writing(content: SpareFile.content(lines)) { failure in
                guard let failure else { return self.rememberedText = text }
                self.log(.warning, .mesh, "can't keep the peers' addresses", ["reason": failure.message])
            }
        }
    }
}
