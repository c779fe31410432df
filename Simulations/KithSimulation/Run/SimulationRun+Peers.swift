import KithDocument
import KithNode
import KithStore
import KithTestSupport

// Peers that break the rules, and peers of other versions.

extension SimulationRun {
    func strikePeer(_ fault: Fault) throws -> Bool {
        guard let node = node(fault.node), !node.isAbsent, !node.isOutsider else { return false }
        switch fault.kind {
        case .hostile:
            guard let kind = HostileKind(rawValue: fault.text) else { return false }
            try becomeHostile(node, kind)
        case .version:
            guard let skew = VersionSkew(rawValue: fault.text) else { return false }
            kill(node, losesPower: false)
            node.version = (skew, now)
            note(.anotherVersion)
            world.after(500_000) { self.start(node) }
        default: return false
        }
        return true
    }

    /// The node's process ends, and a hostile member takes its place on its machine, with its identity.
    private func becomeHostile(_ node: SimulatedNode, _ kind: HostileKind) throws {
        guard let identity = group[node.id] else { return }
        kill(node, losesPower: false)
        for database in 0..<plan.databases { forget(Model.Place(node: node.index, database: database)) }
        node.isOutsider = true
        node.isHostile = true
        if !identities.contains(node.id) { identities.append(node.id) }
        node.machine.setPower(true)
        let process = SimulatedProcess(on: node.machine)
        let member = HostileMember(
            kind, identity, group.membership, on: process, network, multicast,
            databases: (0..<plan.databases).map(ObservedDatabase.name),
            victims: nodes.filter { $0 !== node && !$0.isAbsent && !$0.isOutsider }.map(\.id),
            world.generator("hostile", node.index))
        node.process = process
        node.hostile = member
        try member.start(tag: group.tag)
        note(.hostileMember)
    }

    /// A node that spoke a version of its own is brought up to that of the others.
    func mendVersion(_ node: SimulatedNode) {
        guard node.version?.skew == .apart else { return }
        kill(node, losesPower: false)
        node.version = nil
    }

    /// Whether a line of a log is about a hostile member.
    func isAboutHostile(_ text: String) -> Bool {
        nodes.contains { $0.isHostile && text.utf8.contains($0.id.short.utf8) }
    }

    // MARK: What must hold

    /// S15, S16, S18: from time to time.
    func checkPeers() throws {
        for node in nodes where !node.isDamaged && !node.isOutsider {
            guard let running = node.node else { continue }
            if running.presenceCount > NodeLimits.presenceNodes {
                throw Violation(.boundedQueues, "node \(node.index) has \(running.presenceCount) presence records")
            }
            try checkRevokedChannels(node, running)
            for other in nodes where other !== node { try checkUnknownParts(node, running, of: other) }
        }
    }

    /// S15: nothing goes to a node of which it is known that it was revoked.
    private func checkRevokedChannels(_ node: SimulatedNode, _ running: Node) throws {
        guard node.process?.isPaused == false else { return }
        for outsider in nodes where outsider.isOutsider {
            guard let since = outsider.outsiderSince, now > since + SimulationLimits.revocationTime,
                running.knowsRevoked(outsider.id)
            else { continue }
            for connection in network.connections(of: node.machine.index) {
                guard let end = connection.end(of: node.machine), let channel = connection.ends[end].channel,
                    channel.member == outsider.id
                else { continue }
                let key = RevokedChannel(connection: connection.number, end: end)
                let sent = connection.ends[end].sent
                guard let before = sentToRevoked[key] else {
                    sentToRevoked[key] = (now, sent)
                    continue
                }
                if now > before.since + SimulationLimits.revocationTime {
                    throw Violation(
                        .access,
                        "node \(node.index) keeps a connection with node \(outsider.index), which it knows to be revoked, "
                            + "and sent \(sent - before.bytes) bytes there")
                }
            }
        }
    }

    /// S18: what a record of a newer node says beyond this version is passed on.
    private func checkUnknownParts(_ node: SimulatedNode, _ running: Node, of other: SimulatedNode) throws {
        guard let version = other.version, version.skew == .newer, now > version.since + SimulationLimits.presenceTime,
            !other.isAbsent, !other.isOutsider,
            // No record is signed: a member may tell of another what it likes.
            !nodes.contains(where: { $0.hostile?.kind == .falsePresence }),
            let record = running.presenceRecord(of: other.id)
        else { return }
        guard CBORMap(record)[99]?.dropFirst().elementsEqual(FrameRewriter.unknownText) == true else {
            throw Violation(
                .versionCompatibility,
                "node \(node.index) has lost what only a newer version knows of node \(other.index)")
        }
        if !running.isLinked(to: other.id) { note(.newerRecordPassedOn) }
    }

    /// S16, S17: what a hostile member wrote to documents of its own by the rules is held within the bounds; what it wrote
    /// against them is nowhere.
    func checkHostile(_ change: Change, _ node: SimulatedNode, _ database: ObservedDatabase) throws {
        guard change.leaves.count <= DocumentLimits.leaves else {
            throw Violation(
                .boundedQueues, "\(change.document) has \(change.leaves.count) leaves on node \(node.index)")
        }
        let leaves = try database.withReader { (reader) throws(StoreError) in try reader.leaves(of: change) }
        for item in leaves {
            // Each leaf keeps so many of its own, and a branch may have those of others too.
            guard item.ancestors.count <= DocumentLimits.ancestors * leaves.count else {
                throw Violation(
                    .boundedQueues, "\(change.document) has \(item.ancestors.count) ancestors on node \(node.index)")
            }
            do { try item.revision.verify() } catch {
                throw Violation(
                    .peerIsolation, "node \(node.index) took in what is wrong, of \(change.document): \(error.message)")
            }
            // Once more, apart from how the product looks at it.
            guard item.revision.isForeign || item.revision.hasItsHash else {
                throw Violation(
                    .peerIsolation, "node \(node.index) took in \(item.revision.id), which holds something else")
            }
        }
    }

    /// L4: behind all that is wrong with a hostile member's feed the rest of it comes through. Then it ends.
    func endHostile() throws {
        for node in nodes {
            guard let hostile = node.hostile else { continue }
            let last = DocumentID(unchecked: HostileMember.lastDocument)
            if hostile.kind.servesFeed {
                trace.line(now, node: node.index, "phase", "hostile")
                let isThere = try advance(to: now + hostile.duration + SimulationLimits.poisonTime) {
                    hostile.isDone && self.core.allSatisfy { self.holds(last, $0) }
                }
                if !isThere {
                    throw Violation(
                        .poisonedDocument,
                        "what node \(node.index) wrote last, behind its harm, is not on nodes "
                            + core.filter { !holds(last, $0) }.map { "\($0.index)" }.joined(separator: " "))
                }
            }
        }
        for node in nodes where node.isHostile { kill(node, losesPower: false) }
        goneSince = now
        if nodes.contains(where: \.isHostile) {
            try awaitConvergence(within: SimulationLimits.convergenceTime, .convergence)
            for number in 0..<plan.databases { try checkLeftByHostile(number) }
        }
    }

    /// L1, S16: what hostile members wrote is the same on all nodes, and what was refused of it takes bounded space.
    private func checkLeftByHostile(_ number: Int) throws {
        var contents: [RevisionID: (node: Int, revision: Revision)] = [:]
        for node in core {
            guard let database = node.databases[number] else { continue }
            let refused = try database.withReader { (reader) throws(StoreError) in try reader.refusals().count }
            guard refused <= SimulationLimits.refusals else {
                throw Violation(.boundedQueues, "node \(node.index) remembers \(refused) documents that it refused")
            }
            let page = try database.withReader { (reader) throws(StoreError) in
                try reader.changes(after: 0, limit: 1_000_000)
            }
            for change in page.changes where HostileMember.isOwn(change.document) {
                let leaves = try database.withReader { (reader) throws(StoreError) in try reader.leaves(of: change) }
                for revision in leaves.map(\.revision) {
                    let known = contents[revision.id, default: (node.index, revision)]
                    contents[revision.id] = known
                    guard known.revision.body == revision.body, known.revision.isForeign == revision.isForeign else {
                        throw Violation(
                            .convergence,
                            "\(revision.id) of \(change.document) differs on nodes \(known.node) and \(node.index)")
                    }
                }
            }
        }
    }

    /// Also where the node carries no such database any more.
    private func holds(_ document: DocumentID, _ node: SimulatedNode) -> Bool {
        if model[Model.Place(node: node.index, database: 0)].isAway { return true }
        guard let database = node.databases[0] else { return false }
        return (try? database.withReader { (reader) throws(StoreError) in try reader.get(document) }) != nil
    }

    /// L3: each node hears of each other that its multicast reaches, and of none that is gone.
    func checkDiscovery() throws {
        func unheard() -> [String] {
            core.flatMap { node in
                core.filter { other in
                    other !== node && multicast.hears(node.machine, other.machine) && node.node?.hears(other.id) != true
                }.map { "\(node.index) of \($0.index)" }
            }
        }
        if try advance(to: now + SimulationLimits.discoveryTime, until: { unheard().isEmpty }) { return }
        throw Violation(.discovery, "not heard of: \(unheard().joined(separator: ", "))")
    }
}

/// A connection that was open when its other end was known to be revoked.
struct RevokedChannel: Hashable {
    let connection: Int
    let end: Int
}

extension HostileKind {
    /// Whether it goes on serving its feed as it should, so that what it offers behind its harm must come through.
    var servesFeed: Bool {
        switch self {
        case .wrongHash, .forgedAncestry, .deepTree, .conflictFlood, .refusalFlood, .foreignCopy, .badJSON,
            .falsePresence:
            true
        default: false
        }
    }

    /// Whether it offers to one peer what it offers to nobody else.
    var givesEachItsOwn: Bool {
        switch self {
        case .hugeGeneration, .conflictFlood, .foreignCopy: true
        default: false
        }
    }
}
