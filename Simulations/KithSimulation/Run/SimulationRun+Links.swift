import KithDocument
import KithNode
import KithReplication
import KithStore
import KithTestSupport

// What a node's shell does with links: it dials whom the mesh wants, lets the arbiter choose between two, carries out
// what a link wants and tells it what happens.

extension SimulationRun {
    // Making them.

    /// Dials the peers that are wanted and have no link.
    func lookAround(_ node: SimulatedNode) throws {
        let wanted = node.selection.wanted(members: nodes.map(\.id), isReachable: { _ in true })
        for peer in node.dials.due(wanted.filter { node.arbiter.link(to: $0) == nil }, now: instant(node)) {
            dial(node, index(of: peer))
        }
        add(.mesh(node: node.index, incarnation: node.incarnation), after: 200_000)
    }

    func index(of id: NodeID) -> Int {
        guard let index = nodes.firstIndex(where: { $0.id == id }) else {
            preconditionFailure("no node has the id \(id)")
        }
        return index
    }

    func dial(_ node: SimulatedNode, _ peer: Int) {
        let connection = network.dial(from: node.index, to: peer, now: now)
        trace.line(now, node: node.index, "dial", "\(peer) c\(connection)")
        node.links.append(
            NodeLink(
                connection: connection, end: 0, peer: peer, phase: .dialling,
                statuses: Array(repeating: nil, count: plan.databases)))
        add(
            .dialTimeout(node: node.index, incarnation: node.incarnation, connection: connection),
            after: Int(NodeLimits.dialTimeoutMilliseconds) * 1_000)
    }

    func dialTimedOut(_ node: SimulatedNode, _ connection: UInt64) throws {
        guard let index = node.linkIndex(connection), case .dialling = node.links[index].phase else { return }
        network.abort(connection, end: 0, tellsPeer: true, now: now)
        dialFailed(node, at: index)
    }

    private func dialFailed(_ node: SimulatedNode, at index: Int) {
        let link = node.links.remove(at: index)
        trace.line(now, node: node.index, "no-answer", "\(link.peer) c\(link.connection)")
        let peer = nodes[link.peer].id
        if node.arbiter.link(to: peer) == nil { node.dials.failed(peer, now: instant(node)) }
    }

    func hear(_ node: SimulatedNode, _ delivery: VirtualNetwork.Delivery) throws {
        switch delivery {
        case .connected(let id): try authenticated(node, id)
        case .refused(let id): if let index = node.linkIndex(id) { dialFailed(node, at: index) }
        case .accepted(let id):
            let peer = network.connections[Int(id)].dialler
            let link = NodeLink(
                connection: id, end: 1, peer: peer, phase: .dialling,
                statuses: Array(repeating: nil, count: plan.databases))
            let place = node.links.firstIndex { $0.connection > id } ?? node.links.count
            node.links.insert(link, at: place)
            try authenticated(node, id)
        case .received(let id, _, let bytes):
            guard let index = node.linkIndex(id) else { return }
            node.links[index].lastHeard = instant(node)
            trace.line(now, node: node.index, "receive", "c\(id) \(bytes.count) \(Self.checksum(bytes))")
            if case .waiting(let early) = node.links[index].phase {
                node.links[index].phase = .waiting(early + bytes)
                return
            }
            try tell(node, id, .received(bytes))
        case .drained(let id, _, let remaining): try tell(node, id, .sendBufferDrained(remaining: remaining))
        case .ended(let id, _):
            trace.line(now, node: node.index, "lost", "c\(id)")
            try tell(node, id, .disconnected)
            try remove(node, id)
        }
    }

    /// The connection is up and both sides know who the other is.
    private func authenticated(_ node: SimulatedNode, _ id: UInt64) throws {
        guard let index = node.linkIndex(id) else { return }
        let link = node.links[index]
        let peer = nodes[link.peer].id
        let old = node.arbiter.link(to: peer).flatMap { node.linkIndex($0.id) }.map { node.links[$0] }
        let silence = old.map { instant(node).milliseconds(since: $0.lastHeard) } ?? 0
        node.links[index].phase = .waiting([])
        // Until it is the link in use, it is a dial that failed.
        if link.isDialled { node.dials.failed(peer, now: instant(node)) }
        let actions = node.arbiter.authenticated(
            .init(id: id, isDialled: link.isDialled), to: peer, oldIsAlive: silence < NodeLimits.linkAliveMilliseconds,
            now: instant(node))
        try carryOut(actions, node)
    }

    /// Does what the arbiter decided about the links to a peer.
    private func carryOut(_ actions: [LinkArbiter.Action], _ node: SimulatedNode) throws {
        for action in actions {
            switch action {
            case .use(let id): try begin(node, id)
            case .end(let id): try tell(node, id, .stop(Goodbye(code: .replaced, text: "")))
            case .discard(let id):
                guard let index = node.linkIndex(id) else { continue }
                let link = node.links.remove(at: index)
                trace.line(now, node: node.index, "discard", "\(link.peer) c\(id)")
                network.close(id, end: link.end, now: now)
                node.dials.connected(nodes[link.peer].id, now: instant(node))
            case .ask(let id, let waiting):
                trace.line(now, node: node.index, "contend", "c\(waiting) c\(id)")
                try tell(node, id, .probe)
                add(
                    .contention(node: node.index, incarnation: node.incarnation, connection: waiting),
                    after: Int(NodeLimits.answerMilliseconds) * 1_000)
            }
        }
    }

    func contentionIsOver(_ node: SimulatedNode, _ id: UInt64) throws {
        guard let index = node.linkIndex(id) else { return }
        let peer = nodes[node.links[index].peer].id
        let old = node.arbiter.link(to: peer).flatMap { node.linkIndex($0.id) }.map { node.links[$0] }
        let silence = old.map { instant(node).milliseconds(since: $0.lastHeard) } ?? .max
        try carryOut(
            node.arbiter.timeIsUp(for: id, to: peer, oldMoves: silence < NodeLimits.answerMilliseconds), node)
    }

    private func begin(_ node: SimulatedNode, _ id: UInt64) throws {
        guard let index = node.linkIndex(id), case .waiting(let early) = node.links[index].phase else { return }
        counts.links += 1
        let peer = node.links[index].peer
        node.dials.connected(nodes[peer].id, now: instant(node))
        trace.line(now, node: node.index, "link", "\(peer) c\(id)")
        let configuration = LinkConfiguration(
            localNode: node.id, peerNode: nodes[peer].id, nodeName: node.name(of: node.index), softwareVersion: "sim")
        node.links[index].phase = .running(Link(configuration))
        node.links[index].lastHeard = instant(node)
        node.links[index].establishedAt = instant(node)
        var carried: [CarriedDatabase] = []
        for (number, database) in node.databases.enumerated() {
            let summary = SimulatedReplica.summary(database.store.summary)
            var isHeld = false
            if summary.documents == 0 {
                if node.filling[number] == nil { node.filling[number] = id }
                isHeld = node.filling[number] != id
            }
            carried.append(
                CarriedDatabase(name: SimulatedDatabase.name(number), summary: summary, isHeld: isHeld))
        }
        try tell(node, id, .wallClock(wallClock(node)))
        try tell(node, id, .start(databases: carried))
        if !early.isEmpty { try tell(node, id, .received(early)) }
    }

    // Telling them.

    func tell(_ node: SimulatedNode, _ id: UInt64, _ input: LinkInput) throws {
        guard let index = node.linkIndex(id), case .running(var link) = node.links[index].phase else { return }
        // Nobody else holds the link while it works, so that nothing of it is copied.
        node.links[index].phase = .dialling
        let directives = link.handle(input, now: instant(node))
        let deadline = link.nextDeadline
        node.links[index].phase = .running(link)
        for directive in directives { try carryOut(directive, node, id) }
        if let index = node.linkIndex(id), let deadline { setDeadline(deadline, node, index) }
    }

    private func setDeadline(_ deadline: Instant, _ node: SimulatedNode, _ index: Int) {
        if let set = node.links[index].deadline, set <= deadline { return }
        node.links[index].deadline = deadline
        add(
            .linkDeadline(
                node: node.index, incarnation: node.incarnation, connection: node.links[index].connection),
            at: time(of: deadline, node))
    }

    func deadline(_ node: SimulatedNode, _ id: UInt64) throws {
        guard let index = node.linkIndex(id), case .running(let link) = node.links[index].phase,
            let set = node.links[index].deadline, set <= instant(node)
        else { return }
        node.links[index].deadline = nil
        guard let deadline = link.nextDeadline else { return }
        if deadline > instant(node) { return setDeadline(deadline, node, index) }
        let isSameMoment = node.links[index].lastDeadline == instant(node)
        node.links[index].deadlinesAtOnce = isSameMoment ? node.links[index].deadlinesAtOnce + 1 : 1
        node.links[index].lastDeadline = instant(node)
        if node.links[index].deadlinesAtOnce > SimulationLimits.deadlinesAtOnce {
            throw Violation(.convergence, "a link of node \(node.index) wants the same deadline again and again")
        }
        trace.line(now, node: node.index, "deadline", "c\(id)")
        try tell(node, id, .deadline)
    }

    func tellWallClock(_ node: SimulatedNode) throws {
        for link in node.links { try tell(node, link.connection, .wallClock(wallClock(node))) }
        add(.wallClock(node: node.index, incarnation: node.incarnation), after: 5_000_000)
    }

    // Doing what they want.

    private func carryOut(_ directive: LinkDirective, _ node: SimulatedNode, _ id: UInt64) throws {
        guard let index = node.linkIndex(id) else { return }
        switch directive {
        case .send(let bytes):
            trace.line(now, node: node.index, "send", "c\(id) \(bytes.count) \(Self.checksum(bytes))")
            let end = node.links[index].end
            network.send(bytes, id, end: end, now: now)
            try checkBuffered(node, id, end)
        case .close(let end):
            trace.line(now, node: node.index, "close", "c\(id) \(end.goodbye.code.rawValue) \(end.goodbye.text)")
            try checkGoodbye(node, end)
            network.close(id, end: node.links[index].end, now: now)
            try remove(node, id)
        case .store(let ticket, let name, let request):
            submit(.link(id, ticket, request), to: node, database(name))
        case .judge: inform(node, id, .statementsJudged(refusal: nil))
        case .claim(let ticket, let name, let wants):
            let claimed = node.databases[database(name)].claims.claim(wants, by: id, now: instant(node))
            inform(node, id, .claimed(ticket, granted: claimed.granted, deferred: claimed.deferred))
        case .releaseClaims(let name, let documents):
            node.databases[database(name)].claims.release(documents, by: id, now: instant(node))
        case .releaseAllClaims(let name): node.databases[database(name)].claims.releaseAll(by: id)
        case .keepClaims(let name): node.databases[database(name)].claims.keep(by: id, now: instant(node))
        case .report(let event): try report(event, node, index)
        }
    }

    /// Tells a link a little later, as from a queue.
    private func inform(_ node: SimulatedNode, _ id: UInt64, _ input: LinkInput) {
        add(.input(node: node.index, incarnation: node.incarnation, connection: id, input), after: pauses.below(100))
    }

    private func report(_ event: LinkEvent, _ node: SimulatedNode, _ index: Int) throws {
        switch event {
        case .opened: node.links[index].isOpened = true
        case .status(let name, let status):
            node.links[index].statuses[database(name)] = status
            if status.isInSync || status.inChanges == 0 {
                try filled(node, database(name), by: node.links[index].connection)
            }
        case .refused(_, let refusals), .refusedByPeer(_, let refusals):
            throw Violation(
                .noErrorFromInside,
                "an honest peer's document was refused: \(refusals.first?.reason ?? "")")
        case .heartbeat(let pingedAt, _, _):
            let link = node.links[index]
            try carryOut(
                node.arbiter.answered(link.connection, to: nodes[link.peer].id, pingedAt: pingedAt), node)
        case .peerDatabases, .presence, .history: break
        }
    }

    /// An empty database has caught up with the peer that filled it: the other links may pull too.
    private func filled(_ node: SimulatedNode, _ number: Int, by id: UInt64) throws {
        guard node.filling[number] == id else { return }
        node.filling[number] = nil
        for link in node.links where link.connection != id {
            inform(node, link.connection, .hold(database: SimulatedDatabase.name(number), isHeld: false))
        }
    }

    private func database(_ name: String) -> Int {
        guard let number = (0..<plan.databases).first(where: { SimulatedDatabase.name($0) == name }) else {
            preconditionFailure("a link asked for the database \(name), which no node has")
        }
        return number
    }

    /// A link is over.
    private func remove(_ node: SimulatedNode, _ id: UInt64) throws {
        guard let index = node.linkIndex(id) else { return }
        let link = node.links.remove(at: index)
        let peer = nodes[link.peer].id
        for (number, database) in node.databases.enumerated() {
            database.claims.releaseAll(by: id)
            try filled(node, number, by: id)
        }
        let closed = node.arbiter.closed(id, to: peer)
        // A link that never came up counts as a dial that failed: the next waits longer.
        if closed.wasInUse { node.dials.lost(peer, now: instant(node)) }
        try carryOut(closed.actions, node)
    }

    /// Of bytes, for the trace.
    static func checksum(_ bytes: [UInt8]) -> String {
        var hash: UInt32 = 0x811c_9dc5
        bytes.withUnsafeBufferPointer { for byte in $0 { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 } }
        return String(hash, radix: 16)
    }
}
