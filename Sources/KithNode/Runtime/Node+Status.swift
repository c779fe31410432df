import Dispatch
import Glibc
import KithDiscovery
import KithDocument
import KithNetwork
import KithReplication
import KithStore
import KithSystem
import KithTransport

extension Node {
    /// All that `kith status` shows; on the queue only.
    func status() -> ControlStatus {
        let now = clock.wallMilliseconds
        var status = ControlStatus(generatedAt: now)
        status.node = nodeStatus()
        status.discovery = discoveryStatus()
        status.storage.freeBytes = disk.space?.free
        status.storage.totalBytes = disk.space?.total
        status.storage.keptFiles = disk.kept
        status.databases = databaseStatus()
        // Of those who are only announced a few: names are free on a network.
        let announced = book.announcedNodes.filter { peers[$0] == nil }.prefix(NodeLimits.shownStrangers)
        status.peers = Set(peers.keys).union(announced).subtracting([id]).sorted().map { peerStatus($0, now: now) }
        status.refusals = shownRefusals()
        status.checks = health(now: now)
        return status
    }

    private func nodeStatus() -> ControlStatus.Node {
        var status = ControlStatus.Node()
        status.id = id.description
        status.name = identity.nodeName
        status.group = identity.groupName
        status.role = role.description
        status.version = KithVersion.text
        status.pid = getpid()
        status.startedAt = startedAt
        status.listen = listening
        status.data = configuration.directory.path
        status.strangers = listener?.counters.strangers ?? 0
        status.inboundAt = inboundAt
        return status
    }

    private func discoveryStatus() -> ControlStatus.Discovery {
        var status = ControlStatus.Discovery()
        guard let state = discovery?.state else { return status }
        status.state = ControlStatus.DiscoveryState(rawValue: state.phase.rawValue) ?? .unavailable
        status.since = Int64(state.since)
        status.lastError = state.lastError
        status.foreignGroups = state.foreignGroups
        let names = configuration.network.interfaces().filter {
            $0.isRunning && !$0.isLoopback && interfaces.allows($0.name)
        }.map(\.name)
        status.interfaces = Set(names).sorted()
        return status
    }

    func databaseStatus() -> [ControlStatus.Database] {
        (openDatabaseStatus() + unusableDatabaseStatus()).sorted {
            $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
        }
    }

    private func unusableDatabaseStatus() -> [ControlStatus.Database] {
        catalog.unusable.map { entry in
            var status = ControlStatus.Database()
            status.name = entry.file.name.string
            status.path = entry.file.path
            status.error = entry.error.message
            (status.bytes, status.walBytes) = disk.bytes(of: entry.file.name)
            return status
        }
    }

    private func openDatabaseStatus() -> [ControlStatus.Database] {
        let now = clock.wallMilliseconds
        return catalog.databases.map { database in
            let summary = database.summary
            let carriers = peers.values.filter {
                $0.isOpen && $0.sessions[database.name.string] != nil && exchangesDocuments(with: $0)
            }
            var status = ControlStatus.Database()
            status.name = database.name.string
            status.path = database.file.path
            status.documents = summary.documents - summary.deleted
            status.deleted = summary.deleted
            status.conflicts = summary.conflicts
            status.purged = summary.purged
            status.sequence = summary.position.sequence
            status.putBackAt = rollbacks[database.name.string]?.at
            status.digest = summary.digest.description
            (status.bytes, status.walBytes) = disk.bytes(of: database.name)
            status.oldestReaderMilliseconds = database.oldestReaderMilliseconds
            status.error = (database.damage ?? database.diskFailure)?.message
            status.replication = replication[database.name.string]
            status.peers = carriers.count
            status.inSyncWith = carriers.count { isInSync($0, database, now: now) }
            return status
        }
    }

    /// Whether documents pass between this node and a peer, either way: between two readers none do, so neither learns whether
    /// they are equal.
    func exchangesDocuments(with peer: PeerState) -> Bool {
        #if KITH_MUTANTS
        if Mutant.isActive(.waitsForReaders) { return true }
        #endif
        return peer.role != .reader || role != .reader
    }

    /// Whether a peer is in sync in a database as it stands now: what its link says must hold for the present sequence, and
    /// the peer must have been heard from lately.
    func isInSync(_ peer: PeerState, _ database: DatabaseExecutor, now: Int64) -> Bool {
        let name = database.name.string
        return isHeard(peer, now: now) && peer.carried[name] != nil && peer.sessions[name]?.isInSync == true
            && peer.told[name] == database.summary.position.sequence
    }

    private func isHeard(_ peer: PeerState, now: Int64) -> Bool {
        guard peer.isOpen, !isDoubtful(peer), let exchange = lastExchange(peer, now: now) else { return false }
        return now - exchange <= NodeLimits.exchangeMilliseconds
    }

    /// When something was last received of a peer, in milliseconds since 1970. Any byte counts: who is pinged rarely
    /// pings.
    func lastExchange(_ peer: PeerState, now: Int64) -> Int64? {
        guard peer.isOpen, let driver = linkInUse(to: peer) else {
            return peer.lastExchangeAt ?? peer.seenBeforeAt
        }
        let silence = clock.now.milliseconds(since: driver.lastHeard)
        return max(peer.lastExchangeAt ?? 0, now - Int64(clamping: silence))
    }

    /// Whether everything that both carry is in sync with a peer.
    func isInSync(_ peer: PeerState, now: Int64) -> Bool {
        guard isHeard(peer, now: now) else { return false }
        // What the peer has and this node should have and could not make is not in sync either.
        let lacks = peer.carried.keys.contains { name in
            catalog.failure(of: name) != nil || (try? DatabaseName(name)).map(catalog.wants) ?? false
        }
        if lacks { return false }
        let shared = catalog.databases.filter { peer.carried[$0.name.string] != nil }
        return shared.allSatisfy { isInSync(peer, $0, now: now) }
    }

    func peerStatus(_ node: NodeID, now: Int64) -> ControlStatus.Peer {
        let peer = peers[node] ?? PeerState(node, now: now)
        var status = ControlStatus.Peer()
        status.id = node.description
        status.name = peer.name ?? membership.member(node).flatMap { $0.name.isEmpty ? nil : $0.name }
        let pause = pauses.pause(of: node, now: now)
        (status.state, status.reason) = standing(of: peer, pause, now: now)
        status.connected = peer.isOpen && peer.pausedThere == nil
        status.since = peer.pausedThere?.since ?? peer.stateSince
        status.lastExchangeAt = lastExchange(peer, now: now)
        status.version = peer.softwareVersion
        status.protocolVersion = peer.protocolVersion.map { Int($0) }
        status.pausedUntil = pause?.until
        status.clockOffsetMilliseconds = peer.clock.offsetMilliseconds
        status.clockErrorMilliseconds = peer.clock.errorMilliseconds
        if let driver = linkInUse(to: peer), peer.pausedThere == nil {
            status.direction = driver.isDialled ? .dialled : .accepted
            status.address = driver.connection.remote
            status.roundTripMilliseconds = peer.roundTripMilliseconds.map { Double($0) }
            status.sentBytes = driver.connection.sentBytes
            status.receivedBytes = driver.connection.receivedBytes
        }
        let monotonic = clock.now.milliseconds
        status.candidates = book.candidates(for: node, now: monotonic).map { candidate in
            ControlStatus.Candidate(
                address: candidate.address.description, source: candidate.source.rawValue,
                lastTriedAt: candidate.lastTried.map { now - Int64(monotonic - min(monotonic, $0)) },
                lastError: candidate.lastError)
        }
        status.databases = peer.sessions.keys.sorted().compactMap { name in
            peer.sessions[name].map { Self.database(name, $0, peer.comparisons[name]) }
        }
        return status
    }

    /// How a peer stands, and why.
    func standing(of peer: PeerState, _ pause: PauseList.Pause?, now: Int64) -> (ControlStatus.PeerState, String?) {
        if isHeld { return (.paused, "this node is held: MACHINE_CHANGED") }
        return state(of: peer, isPaused: pause != nil, now: now)
    }

    private static func database(
        _ name: String, _ session: SessionStatus, _ comparison: ComparisonRecord?
    ) -> ControlStatus.PeerDatabase {
        var status = ControlStatus.PeerDatabase()
        status.name = name
        status.inChanges = session.inChanges
        status.outChanges = session.outChanges
        status.inTotal = session.inTotal
        status.outTotal = session.outTotal
        if case .failed(let reason) = session.state {
            status.error = reason
            status.errorAt = session.isFailureLocal ? .here : .there
        } else if let reason = session.peerFailure {
            status.error = reason
            status.errorAt = .there
        }
        status.refusedByPeer = session.refusedByPeer
        status.digestEqual = session.digestEqual
        status.pulled = session.pulled
        status.pushed = session.pushed
        status.refused = session.refused
        status.isPulled = session.pulls
        status.isPushed = session.serves
        status.leftOutHere = session.leftOutHere
        status.leftOutByPeer = session.leftOutByPeer
        status.comparedAt = comparison?.at
        status.comparedBecause = comparison.map { $0.reason == .noCheckpoint ? "no_checkpoint" : "digests_differed" }
        status.comparedRevisions = comparison.map { UInt64($0.stored) }
        return status
    }

    private func state(of peer: PeerState, isPaused: Bool, now: Int64) -> (ControlStatus.PeerState, String?) {
        if isRevoked(peer.id) { return (.refused, Self.revokedReason) }
        if isPaused { return (.paused, "paused here") }
        if let pause = peer.pausedThere { return (.paused, pause.reason) }
        guard peer.isOpen else {
            if let refusal = peer.refusal { return (.refused, refusal) }
            let wasSeen = peer.lastExchangeAt != nil || peer.seenBeforeAt != nil || presence.record(of: peer.id) != nil
            return (wasSeen ? .unknown : .neverSeen, peer.lastError)
        }
        if let reason = blockReason(of: peer) { return (.blocked, reason) }
        if let exchange = lastExchange(peer, now: now),
            (isDoubtful(peer) && !isMoving(peer, within: NodeLimits.movingMilliseconds))
                || now - exchange > NodeLimits.exchangeMilliseconds
        {
            return (.unknown, "it does not answer: nothing was heard for \((now - exchange) / 1_000) s")
        }
        guard exchangesDocuments(with: peer) else {
            return (.unknown, "both are readers, so nothing passes between them")
        }
        let path =
            losesLargePackets(peer)
            ? "large packets are lost on the way, so small ones are used; see kith help path-mtu" : nil
        if isInSync(peer, now: now) { return (.inSync, path) }
        if let reason = standstill(with: peer, now: now) { return (.paused, reason) }
        return (.catchingUp, path)
    }

    /// What stands in the way of replicating with a peer, here or there.
    func failures(with peer: PeerState) -> [String] {
        let here = peer.carried.keys.sorted().filter { catalog.failure(of: $0) != nil }
        let sessions = peer.sessions.keys.sorted().compactMap { name -> String? in
            guard let session = peer.sessions[name] else { return nil }
            if case .failed(let reason) = session.state { return "\(name): \(reason)" }
            return session.peerFailure.map { "\(name): the peer stores nothing: \($0)" }
        }
        return here.map { "\($0): the database can't be used here" } + sessions
    }

    // MARK: The mesh

    func mesh() -> ControlMesh {
        let now = clock.wallMilliseconds
        var nodes: [ControlMesh.Node] = []
        var own = ControlMesh.Node(id: id.description, name: identity.nodeName)
        own.version = KithVersion.text
        own.isSelf = true
        own.neighbours = peers.values.filter(\.isOpen).map(\.id.description).sorted()
        nodes.append(own)
        for node in Set(peers.keys).union(presence.nodes).subtracting([id]).sorted() {
            let record = presence.record(of: node)
            var entry = ControlMesh.Node(id: node.description, name: record?.name ?? peers[node]?.name)
            entry.version = record?.softwareVersion ?? peers[node]?.softwareVersion
            entry.isConnected = peers[node]?.isOpen ?? false
            entry.lastHeardAt = peers[node].flatMap { lastExchange($0, now: now) }
            entry.neighbours = record?.neighbours.map(\.description)
            nodes.append(entry)
        }
        return ControlMesh(generatedAt: now, nodes: nodes.sorted { $0.id < $1.id })
    }

    /// A peer by its name or the beginning of its id.
    func find(_ name: String) throws(ControlError) -> NodeID {
        let known = Set(peers.keys).union(presence.nodes).union(book.announcedNodes).sorted()
        let named = known.filter { (peers[$0]?.name ?? presence.record(of: $0)?.name) == name }
        let matching = named.isEmpty ? known.filter { $0.description.hasPrefix(name.lowercased()) } : named
        guard let first = matching.first, !name.isEmpty else { throw .unknownNode(name) }
        guard matching.count == 1 else {
            throw ControlError(
                .usage, "\(matching.count) nodes are named \(Shown.name(name)); give the beginning of an id")
        }
        return first
    }

    // MARK: Pausing

    /// What a peer is told of a pause.
    static func pauseText(until: Int64?) -> String {
        "paused there" + (until.map { " until \(Timestamp.text(ofMilliseconds: $0))" } ?? "")
    }

    /// Pauses replication with a peer, or with all, once that is on disk.
    func setPause(_ node: NodeID?, until: Int64?, then: @escaping @Sendable (ControlError?) -> Void) {
        keepPauses { pauses in
            pauses.set(PauseList.Pause(node: node, until: until))
        } then: { failure in
            if failure == nil { self.stopPaused(node, until: until) }
            then(failure)
        }
    }

    private func stopPaused(_ node: NodeID?, until: Int64?) {
        for number in drivers.keys.sorted() {
            guard let driver = drivers[number], node == nil || driver.peer.nodeID == node else { continue }
            driver.post(.stop(Goodbye(code: .paused, text: Self.pauseText(until: until))))
        }
        evaluate()
    }

    /// Ends the pause of a peer, or all, once that is on disk.
    func endPause(_ node: NodeID?, then: @escaping @Sendable (ControlError?) -> Void) throws(ControlError) {
        if let node, pauses.pauses.contains(where: { $0.node == nil && $0.holds(at: clock.wallMilliseconds) }) {
            throw ControlError(
                .conflict,
                "replication with all peers is paused, also with \(peers[node]?.name ?? node.short); kith resume ends that"
            )
        }
        keepPauses { pauses in
            pauses.clear(node)
        } then: { failure in
            if let failure { return then(failure) }
            self.dialResumed(node)
            if node == nil { self.resumeOtherDatabases(then: then) } else { then(nil) }
        }
    }

    private func dialResumed(_ node: NodeID?) {
        let now = clock.now
        for peer in peers.keys.sorted() where node == nil || peer == node {
            book.hurry(peer)
            schedule.hasten(.node(peer), now: now)
        }
        evaluate()
    }

    /// Takes the pauses of the last run. Where one of them may be lost, all peers are paused until somebody says otherwise:
    /// a pause that was promised does not end by damage.
    func readPauses() throws(NodeError) {
        let (directory, disk) = (configuration.directory.path, configuration.machine.files)
        let reading = try SpareFile.paused.look(in: directory, on: disk)
        pauses = PauseList(lines: reading.lines)
        guard reading.damage != nil else { return }
        pauses.set(PauseList.Pause(node: nil, until: nil))
        // In one write: after a crash the file shows its damage, or this pause.
        SpareFile.paused.setAside(in: directory, leaving: pauses.lines, on: disk)
    }

    /// Pauses hold once they are on disk, or not at all.
    private func keepPauses(
        _ change: @escaping @Sendable (inout PauseList) -> Void, then: @escaping @Sendable (ControlError?) -> Void
    ) {
        keep(.paused) {
            var pauses = self.pauses
            change(&pauses)
            return Writing(content: SpareFile.content(pauses.lines)) { [pauses] failure in
                if failure == nil { self.pauses = pauses }
                then(failure.map { ControlError(.failed, $0.message) })
            }
        }
    }

    // MARK: Waiting

    enum WaitOutcome: Sendable {
        case holds(ControlWaitResult)
        /// What was lacking when the time was up.
        case lacks(String)
    }

    /// Calls back once the condition holds or the time is up.
    func wait(for condition: ControlWait, completion: @escaping @Sendable (WaitOutcome) -> Void) {
        // What is said of a peer is to be true now, and not when it was last heard from.
        freshen { self.waitOn(condition, completion) }
    }

    private func waitOn(_ condition: ControlWait, _ completion: @escaping @Sendable (WaitOutcome) -> Void) {
        if case .holds(let result) = judge(condition) { return completion(.holds(result)) }
        guard isRunning else { return completion(.lacks(ControlError.stopping.message)) }
        let waiter = Waiter(completion)
        let watcher = addWatcher(
            .news { [weak self] in
                guard let self, case .holds(let result) = self.judge(condition) else { return }
                waiter.finish(.holds(result))
            })
        waiters[watcher] = waiter
        waiter.ended = { [weak self] in
            self?.watchers[watcher] = nil
            self?.waiters[watcher] = nil
        }
        queue.async(afterMilliseconds: Int(clamping: condition.timeoutMilliseconds)) {
            waiter.finish(self.judge(condition))
        }
    }

    private func judge(_ condition: ControlWait) -> WaitOutcome {
        if let name = condition.database, catalog[name] == nil {
            return .lacks(ControlError.unknownDatabase(name).message)
        }
        let open = peers.values.filter(\.isOpen).sorted { $0.id < $1.id }
        guard open.count >= condition.peers else {
            return .lacks("\(open.count) of \(condition.peers) peers are connected; kith status says more")
        }
        guard let name = condition.database, let database = catalog[name] else {
            return .holds(ControlWaitResult(peers: open.count, inSync: nil))
        }
        let now = clock.wallMilliseconds
        let compared = open.filter { exchangesDocuments(with: $0) && $0.sessions[name]?.isBetweenParts != true }
        let inSync = compared.count { isInSync($0, database, now: now) }
        guard inSync == compared.count else {
            let reason = compared.lazy.compactMap { self.limitation(of: name, with: $0) }.first
            return .lacks(
                "\(name) is in sync with \(inSync) of \(compared.count) connected peers; \(reason ?? "kith status says more")"
            )
        }
        return .holds(ControlWaitResult(peers: open.count, inSync: true))
    }

    /// The node stops: nobody is left waiting.
    func endWaits() {
        for number in waiters.keys.sorted() { waiters[number]?.finish(.lacks(ControlError.stopping.message)) }
        for number in freshenings.keys.sorted() { freshenings[number]?.finish() }
        freshenings = [:]
    }

    /// Ends once, on the node's queue.
    final class Waiter: @unchecked Sendable {
        // Sendable: used on the node's queue only.
        private var completion: (@Sendable (WaitOutcome) -> Void)?
        var ended: (() -> Void)?

        init(_ completion: @escaping @Sendable (WaitOutcome) -> Void) { self.completion = completion }

        func finish(_ outcome: WaitOutcome) {
            guard let completion else { return }
            self.completion = nil
            ended?()
            completion(outcome)
        }
    }
}
