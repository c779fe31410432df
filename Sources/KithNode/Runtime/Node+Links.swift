import Dispatch
import KithDiscovery
import KithDocument
import KithNetwork
import KithReplication
import KithStore
import KithSystem
import KithTransport
import Synchronization

extension Node {
    /// Whether links may still be made; on the queue only.
    var isRunning: Bool { !isStopping }

    /// The listener authenticated somebody, on the connection's queue.
    func accepted(_ connection: any Channel, _ peer: AuthenticatedPeer) -> ChannelHandler? {
        switch peer {
        case .member(let identity):
            let driver = makeDriver(connection, identity, tieBreak: connection.tieBreak)
            queue.async {
                self.inboundAt = self.clock.wallMilliseconds
                self.authenticated(driver)
            }
            return { _, event in driver.handle(event) }
        case .applicant(let publicKeyInfo):
            if isHeld { return nil }
            return desk.handler(for: publicKeyInfo, on: connection) { [weak self, log] outcome in
                switch outcome {
                case .admitted(let node, let role):
                    log(.info, .node, "admitted a node to the group", ["peer": node.short, "role": role.description])
                case .refused(let refusal):
                    log(.warning, .node, "refused a join", ["reason": refusal.message])
                    guard let node = self else { return }
                    node.queue.async { node.counters.joinsRefused += 1 }
                }
            }
        case .inviter: return nil
        }
    }

    func makeDriver(_ connection: any Channel, _ peer: PeerIdentity, tieBreak: UInt64) -> LinkDriver {
        var link = LinkConfiguration(
            localNode: id, peerNode: peer.nodeID, nodeName: identity.nodeName, softwareVersion: KithVersion.text)
        link.instance = instance
        let known = membership.changeCount
        link.localIsSource = role != .reader
        link.peerIsSource = peer.role != .reader
        link.statements = statementChunks.first ?? []
        link.capabilities = [FeedFilter.capability, Gossip.capability]
        let number = linkNumbers.wrappingAdd(1, ordering: .relaxed).newValue
        return LinkDriver(
            id: number, peer: peer, connection: connection, tieBreak: tieBreak, configuration: link,
            membership: membership, catalog: catalog, knownStatements: known, clock: clock, log: log
        ) { [weak self] driver, news in
            guard let self else { return }
            self.queue.async { self.heard(news, from: driver) }
        }
    }

    /// The link to a peer that is in use.
    func linkInUse(to peer: PeerState) -> LinkDriver? { peer.link.flatMap { drivers[$0] } }

    func linkInUse(to node: NodeID) -> LinkDriver? { peers[node].flatMap { linkInUse(to: $0) } }

    /// Ends a link that is not to be used, with the reason: its hello goes out first, and no database is replicated.
    func turnAway(_ driver: LinkDriver, _ goodbye: Goodbye) {
        driver.start(held: Set(catalog.databases.map(\.name.string)), directions: allDirections)
        driver.post(.stop(goodbye))
    }

    /// A connection is authenticated: it becomes the link to its peer, or is closed, or waits whether the one that there is
    /// answers.
    /// - Parameter address: what was dialled.
    func authenticated(_ driver: LinkDriver, at address: Endpoint? = nil) {
        let peer = driver.peer.nodeID
        let now = clock.now
        guard isRunning, holds(driver) else { return driver.connection.close() }
        drivers[driver.id] = driver
        if peer == id { twins.met(itselfOver: driver.tieBreak) }
        if isHeld {
            return turnAway(driver, Goodbye(code: .paused, text: Self.heldText))
        }
        if peer == id { return greet(driver, Greeting(address: address)) }
        if let pause = pauses.pause(of: peer, now: clock.wallMilliseconds) {
            return turnAway(driver, Goodbye(code: .paused, text: Self.pauseText(until: pause.until)))
        }
        let old = linkInUse(to: peer)
        // One that carries large packets is better than one that does not.
        let isBetter =
            driver.isDialled && driver.connection.segmentBytes == nil && old?.connection.segmentBytes != nil
        let isAlive = old != nil && !isBetter && !isSuspect(peer)
        let hasTwin = twins.hasFound(peer, now: now)
        let link = LinkArbiter.Link(id: driver.id, isDialled: driver.isDialled, tieBreak: driver.tieBreak)
        carryOut(
            arbiter.authenticated(link, to: peer, oldIsAlive: isAlive, hasTwin: hasTwin, now: now), with: peer)
    }

    /// Does what was decided about the links to a peer.
    func carryOut(_ actions: [LinkArbiter.Action], with peer: NodeID) {
        for action in actions {
            switch action {
            case .use(let number): if let driver = drivers[number] { use(driver) }
            case .end(let number):
                drivers[number]?.post(.stop(Goodbye(code: .replaced, text: "another link to this node stays")))
            case .discard(let number): discard(number)
            case .giveWay(let number, let isSure):
                guard let driver = drivers[number] else { break }
                greet(driver, Greeting(beside: isSure ? peers[peer]?.instance ?? 0 : 0))
            case .ask(let number, let waiting): ask(number, of: peer, waiting: waiting)
            }
        }
    }

    private func use(_ driver: LinkDriver) {
        let peer = driver.peer.nodeID
        // It may have waited.
        guard isRunning, holds(driver) else { return driver.connection.close() }
        counters.linksBegun += 1
        log(
            .info, .mesh, "connected",
            [
                "peer": peer.short, "name": peers[peer]?.name ?? "?", "address": driver.connection.remote,
                "direction": driver.isDialled ? "dialled" : "accepted",
            ])
        var state = peers[peer] ?? PeerState(peer, now: clock.wallMilliseconds)
        state.disconnected(nil, now: clock.wallMilliseconds)
        state.link = driver.id
        state.role = driver.peer.role
        state.lastError = nil
        peers[peer] = state
        if driver.isDialled {
            paths.connected(.node(peer), segmentBytes: driver.connection.segmentBytes, now: clock.now)
            if let bytes = driver.connection.segmentBytes {
                log(
                    .info, .mesh, "a link is kept to small packets, as larger ones are lost",
                    ["peer": peer.short, "bytes": "\(bytes)"])
            }
        }
        schedule.connected(.node(peer), now: clock.now)
        // A dial of ours whose link would be the one that stays goes on: the peer may have its end of it in use already, and
        // given up the other.
        if driver.isDialled == (id < peer) { giveUp(.node(peer)) }
        book.hurry(peer)
        // Databases that are empty here wait until it is known which peer has something.
        driver.start(
            held: Set(catalog.databases.filter { $0.summary.documents == 0 }.map(\.name.string)),
            directions: allDirections)
        changed()
        evaluate()
    }

    /// News of a link, on the node's queue.
    func heard(_ news: LinkNews, from driver: LinkDriver) {
        switch news {
        case .judge(let statements, let answer): answer(judge(statements, of: driver))
        case .ended(let end, let ending): ended(driver, end, ending)
        case .told(let database, let sequence):
            guard peers[driver.peer.nodeID]?.link == driver.id else { return }
            peers[driver.peer.nodeID]?.told[database] = sequence
        case .event(let event):
            guard peers[driver.peer.nodeID]?.link == driver.id else { return heardGreeting(event, from: driver) }
            heard(event, from: driver)
            if case .heartbeat = event, !isNewsOfAnswer(driver) { return }
        }
        changed()
    }

    /// Whether an answer is news for those who watch: the first after a doubt, and one in a while for its round trip.
    private func isNewsOfAnswer(_ driver: LinkDriver) -> Bool {
        let peer = driver.peer.nodeID
        let now = clock.now
        let shownAt = peers[peer]?.answerShownAt ?? Instant(milliseconds: 0)
        let probedAt = peers[peer]?.probedAt ?? now
        guard
            now.milliseconds(since: probedAt) >= NodeLimits.answerMilliseconds
                || now.milliseconds(since: shownAt) >= NodeLimits.evaluationMilliseconds
        else { return false }
        peers[peer]?.answerShownAt = now
        return true
    }

    private func heard(_ event: LinkEvent, from driver: LinkDriver) {
        let peer = driver.peer.nodeID
        // Not now: an event may come of what happened here alone, while the peer is silent.
        let silence = clock.now.milliseconds(since: driver.lastHeard)
        peers[peer]?.lastExchangeAt = clock.wallMilliseconds - Int64(clamping: silence)
        switch event {
        case .opened(let description):
            peers[peer]?.name = description.nodeName
            notePeerName(peer)
            peers[peer]?.softwareVersion = description.softwareVersion
            peers[peer]?.protocolVersion = description.protocolVersion
            peers[peer]?.isOpen = true
            peers[peer]?.instance = description.instance
            peers[peer]?.takesOffers = description.capabilities.contains(Gossip.capability)
            peers[peer]?.refusal = nil
            peers[peer]?.saysRevoked = false
            refusals.forget(peer)
            membership.note(name: description.nodeName, of: peer)
            peers[peer]?.stateSince = clock.wallMilliseconds
            log(
                .info, .link, "a peer has told of itself",
                [
                    "peer": peer.short, "name": description.nodeName, "version": description.softwareVersion,
                    "protocol": "\(description.protocolVersion)",
                ])
            carried(description.databases, by: driver)
            // What was learnt since the hello was made is not in it. Before any record of this node: who has that has all.
            let isNewer = membership.changeCount != driver.knownStatements
            for statements in statementChunks.dropFirst(isNewer ? 0 : 1) { driver.post(.statements(statements)) }
            if peers[peer]?.takesOffers == true {
                offer(presence.offers, to: driver)
            } else {
                driver.post(.presence(presence.encodedRecords))
            }
            announcePresence(to: driver)
        case .peerDatabases(let entries): carried(entries, by: driver)
        case .presence(let bytes): heardPresence(bytes, from: driver)
        case .gossip(let gossip): heard(gossip, from: driver)
        case .heartbeat(let pingedAt, let roundTrip, let offset):
            answered(driver, pingedAt: pingedAt)
            peers[peer]?.roundTripMilliseconds = roundTrip
            if let offset {
                peers[peer]?.clock.add(roundTripMilliseconds: roundTrip, offsetMilliseconds: offset)
            }
        case .status(let database, let status): stands(database, status, driver)
        case .documents(let database, let documents, let isIncoming):
            tellDocuments(database, documents, peer, isIncoming: isIncoming)
        case .refused(let database, let refusals):
            tellRefusals(database, refusals, peer, isIncoming: true)
            counters.documentsRefused += UInt64(refusals.count)
            for refusal in refusals.prefix(3) {
                log(
                    .warning, .store, "refused a document",
                    [
                        "peer": peer.short, "database": database, "document": DocumentTag.of(refusal.document),
                        "reason": refusal.reason,
                    ])
            }
        case .refusedByPeer(let database, let refusals):
            tellRefusals(database, refusals, peer, isIncoming: false)
            counters.documentsRefusedByPeers += UInt64(refusals.count)
            for refusal in refusals.prefix(3) {
                log(
                    .warning, .link, "a peer refused a document",
                    [
                        "peer": peer.short, "database": database, "document": DocumentTag.of(refusal.document),
                        "reason": refusal.reason,
                    ])
            }
        case .history(let database, let finding): found(finding, of: database, with: peer)
        }
    }

    private func ended(_ driver: LinkDriver, _ end: LinkEnd?, _ ending: Connection.Ending) {
        drivers[driver.id] = nil
        greetings[driver.id] = nil
        ask(exchange.ended(driver.id, now: clock.now))
        let peer = driver.peer.nodeID
        for database in firstFeeds.ended(driver.id) { fillNext(database) }
        let reason = end.map(\.reason) ?? ending.message
        let closed = arbiter.closed(driver.id, to: peer)
        if closed.wasInUse || peers[peer]?.link == driver.id {
            log(.info, .mesh, "a link ended", ["peer": peer.short, "name": peers[peer]?.name ?? "?", "reason": reason])
            counters.linksEnded += 1
            peers[peer]?.disconnected(reason, now: clock.wallMilliseconds)
            if membership.standing(of: driver.peer) != nil { notePeerName(peer) }
            schedule.lost(.node(peer), now: clock.now)
            if case .failed(.largePacketsLost) = ending {
                lostLargePackets(.node(peer))
            } else if end?.goodbye.code != .replaced {
                paths.mayHaveChanged(.node(peer))
            }
        } else if let end, end.isByPeer, end.goodbye.code != .replaced {
            peers[peer]?.lastError = reason
        }
        noteRefusal(driver, end, ending, reason)
        isOver(driver.id)
        carryOut(closed.actions, with: peer)
        finishStopIfIdle()
        evaluate()
    }

    /// Takes in a peer's statements.
    /// - Returns: why the peer is not trusted any more; nil when it is.
    private func judge(_ statements: Membership.News, of driver: LinkDriver) -> String? {
        let changes = membership.take(statements)
        if changes.refused > 0 { noteForged(changes.refused, of: driver) }
        take(changes, except: driver.id)
        return membership.standing(of: driver.peer) == nil ? "this node was revoked" : nil
    }

    /// A peer has told of itself, and so of the group before: when that is on disk too, and it is the one whose word was
    /// awaited, other members are let in. Where that fails, its next record is the next time.
    func heardAll(of peer: NodeID) {
        guard membership.awaited == peer else { return }
        whenMembershipIsKept { isKept in
            if isKept { self.files.async { self.forgetAwaited(peer) } }
        }
    }

    /// On the queue for files.
    private func forgetAwaited(_ awaited: NodeID) {
        do throws(TransportError) { try identities.remove(IdentityStore.awaitedName) } catch {
            return log(.error, .node, "can't note that the group's members are known again: \(error.message)")
        }
        queue.async {
            guard self.membership.awaited == awaited else { return }
            self.membership.awaited = nil
            self.log(.info, .node, "what was lost of the group came back from \(self.name(of: awaited))")
            self.schedule.startOver()
            self.evaluate()
        }
    }

    /// Revocations, changed roles and policies for one message each: what a hello or an update may carry at most.
    var statementChunks: [[[UInt8]]] {
        var chunks: [[[UInt8]]] = []
        var room = 0
        for statement in membership.revocations + membership.changedRoles + membership.policies {
            // A larger one would be refused by every peer.
            guard statement.count <= ReplicationLimits.statementBytes else { continue }
            if statement.count > room || (chunks.last?.count ?? 0) >= ReplicationLimits.statements / 2 {
                chunks.append([])
                room = ReplicationLimits.statementsBytes / 2
            }
            chunks[chunks.count - 1].append(statement)
            room -= statement.count
        }
        return chunks
    }

    /// Acts on what statements changed: kept on disk, passed on, links judged anew, policies set.
    func take(_ changes: Membership.Changes, except origin: UInt64? = nil) {
        guard !changes.isEmpty else { return }
        keepMembership()
        for number in drivers.keys.sorted() where number != origin {
            for statements in statementChunks { drivers[number]?.post(.statements(statements)) }
        }
        if changes.revocations || changes.roles { judgeLinks() }
        applyPolicies(changes.policies)
    }
}

extension LinkEnd {
    /// Why, for people.
    var reason: String { isByPeer ? "the peer says: \(goodbye.text)" : goodbye.text }
}
