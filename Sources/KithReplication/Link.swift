internal import KithDocument

/// One connection to one peer: the hello, the heartbeat, credit, and a session for each database that both sides carry.
///
/// A state machine without input or output of its own: every event is an input with its moment, and what it leads to is
/// returned. The shell owns the socket, the timers and the databases, and carries the directives out in order. What
/// follows from a commit is made only from the input that tells of it. One link is one connection: when it has ended, it
/// takes every input and does nothing.
package struct Link {
    enum State {
        case fresh
        /// The hello was sent; the peer's is to come until the moment.
        case greeting(until: Instant)
        /// The peer's hello came; its statements are judged.
        case judging(Hello, version: UInt64)
        case open(version: UInt64)
        case ended
    }

    let configuration: LinkConfiguration
    var state = State.fresh
    var output: LinkOutput
    var decoder = FrameDecoder()
    /// Whether statements are judged, so that nothing after them is looked at.
    var isJudging = false
    var heartbeat: HeartbeatState
    /// The databases that this side carries, by the number it gave them; those that the peer carries.
    var carried: [Carried] = []
    var lastNumber: UInt64 = 0
    var peerDatabases: [DatabaseEntry] = []
    var lastPeerNumber: UInt64 = 0
    /// Whether the peer answers feeds with a filter.
    var peerFilters = false
    /// A session keeps its place; an ended one leaves it empty.
    var sessions: [Session?] = []
    /// The feeds that the peer opened; looked up only.
    var servedFeeds: [FeedID: Int] = [:]
    var lastServedFeed: FeedID = 0
    /// The feeds that this side opened, among them ended ones; looked up only.
    var pulledFeeds: [FeedID: Int] = [:]

    struct Carried {
        let number: UInt64
        let name: String
        var summary: ReplicaSummary
        var isHeld: Bool
        var directions: FeedDirections
        var session: Int?
    }

    package init(_ configuration: LinkConfiguration) {
        self.configuration = configuration
        output = LinkOutput(window: configuration.windowBytes)
        heartbeat = HeartbeatState(configuration)
    }

    /// Whether the link has ended.
    package var isEnded: Bool { if case .ended = state { true } else { false } }

    /// Takes one event.
    /// - Parameter now: never earlier than at the input before.
    package mutating func handle(_ input: LinkInput, now: Instant) -> [LinkDirective] {
        output.now = max(now, output.now)
        if isEnded { return [] }
        do throws(ProtocolError) {
            try take(input)
            if !isEnded { try settle() }
        } catch {
            end(Goodbye(code: .protocolError, text: error.message))
        }
        let directives = output.finish()
        if output.hasSaid { heartbeat.said(now: output.now) }
        nextDeadline = deadline()
        return directives
    }

    /// When the link wants `LinkInput.deadline`; nil for never. Kept, since it is asked for after each input.
    package private(set) var nextDeadline: Instant?

    private func deadline() -> Instant? {
        switch state {
        case .fresh, .ended: return nil
        case .greeting(let until): return until
        case .judging, .open:
            var earliest = heartbeat.nextDeadline
            for index in sessions.indices {
                guard let deadline = sessions[index]?.nextDeadline else { continue }
                earliest = min(earliest, deadline)
            }
            return earliest
        }
    }

    private mutating func take(_ input: LinkInput) throws(ProtocolError) {
        switch input {
        case .start(let databases): start(databases)
        case .received(let bytes): try receive(bytes)
        case .sendBufferDrained(let remaining): output.gate.unsent = remaining
        case .arrived(let total): heartbeat.arrived(total: total, now: output.now)
        case .deadline: passDeadline()
        case .wallClock(let milliseconds): heartbeat.setWallClock(milliseconds, now: output.now)
        case .storeDone(let ticket, let result):
            let owner = output.redeem(ticket)
            if sessions[owner.session] != nil {
                sessions[owner.session]?.storeDone(owner, result, &output)
            } else {
                output.gate.unreserve(owner.work.reservedBytes)
            }
        case .statementsJudged(let refusal): try judged(refusal)
        case .claimed(let ticket, let answer):
            let owner = output.redeem(ticket)
            sessions[owner.session]?.claimed(owner, answer, &output)
        case .carry(let database): carry(database)
        case .drop(let database): drop(database)
        case .hold(let database, let isHeld): hold(database, isHeld)
        case .direct(let database, let directions): direct(database, directions)
        case .localCommit(let database, let summary): noteCommit(database, summary)
        case .storeRecovered(let database): noteRecovery(database)
        case .statements(let statements): if isOpen { output.send(.statements(statements)) }
        case .presence(let records): if isOpen { for record in records { output.send(.presence(record)) } }
        case .gossip(let gossip): if isOpen { output.send(.gossip(gossip)) }
        case .probe: if isOpen { heartbeat.ping(&output) }
        case .stop(let goodbye): end(goodbye)
        case .disconnected: disconnect()
        }
    }

    /// Whether the peer's hello was accepted.
    var isOpen: Bool { if case .open = state { true } else { false } }

    private mutating func start(_ databases: [CarriedDatabase]) {
        guard case .fresh = state else { preconditionFailure("a link was started twice; it is \(state)") }
        for database in databases.prefix(ReplicationLimits.databases) { add(database) }
        state = .greeting(until: output.now.advanced(byMilliseconds: ReplicationLimits.helloMilliseconds))
        heartbeat.started(now: output.now)
        output.send(
            .hello(
                Hello(
                    versions: configuration.versions, capabilities: configuration.capabilities,
                    nodeName: configuration.nodeName.prefix(bytes: ReplicationLimits.nodeNameBytes),
                    softwareVersion: configuration.softwareVersion.prefix(bytes: ReplicationLimits.wordBytes),
                    statements: configuration.statements, databases: carried.map(\.entry),
                    window: UInt64(configuration.windowBytes), instance: configuration.instance)))
    }

    private mutating func passDeadline() {
        if case .greeting(let until) = state, until <= output.now {
            return end(Goodbye(code: .silence, text: "no hello within \(ReplicationLimits.helloMilliseconds / 1000) s"))
        }
        guard isOpen || isJudging else { return }
        if let goodbye = heartbeat.beat(&output) { return end(goodbye) }
        guard isOpen else { return }
        for index in sessions.indices { sessions[index]?.deadline(&output) }
    }

    /// What follows every input.
    private mutating func settle() throws(ProtocolError) {
        for index in sessions.indices { settle(session: index) }
        guard output.gate.unsent <= ReplicationLimits.heldBytes else {
            return end(Goodbye(code: .silence, text: "the peer does not read what it is sent"))
        }
        guard output.gate.queuedFrames <= ReplicationLimits.queuedFrames else {
            return end(Goodbye(code: .silence, text: "the peer grants no credit for the answers that it asks for"))
        }
    }

    private mutating func settle(session index: Int) {
        guard let database = sessions[index]?.facts.database else { return }
        sessions[index]?.settle(&output)
        if let feed = sessions[index]?.puller?.feed { pulledFeeds[feed] = index }
        if let status = sessions[index]?.changedStatus() { output.report(.status(database: database, status)) }
    }

    // The end.

    /// Says goodbye and ends.
    mutating func end(_ goodbye: Goodbye) {
        finishSessions()
        if case .fresh = state {} else { output.send(.goodbye(goodbye)) }
        state = .ended
        output.endWith(LinkEnd(isByPeer: false, goodbye: goodbye))
    }

    /// The peer has said goodbye.
    mutating func endByPeer(_ goodbye: Goodbye) {
        finishSessions()
        state = .ended
        output.endWith(LinkEnd(isByPeer: true, goodbye: goodbye))
    }

    private mutating func disconnect() {
        // A peer may say hello and goodbye at once and close while its statements are still judged: why it goes is worth
        // knowing, and needs no trust.
        if isJudging {
            while let frame = try? decoder.next() {
                if frame.type == .goodbye, case .goodbye(let goodbye)? = try? Message(frame) {
                    return endByPeer(goodbye)
                }
            }
        }
        finishSessions()
        state = .ended
    }

    private mutating func finishSessions() {
        for index in sessions.indices where sessions[index]?.puller != nil { sessions[index]?.endPulling(&output) }
    }
}

extension Link.Carried {
    var entry: DatabaseEntry {
        DatabaseEntry(
            number: number, name: name, state: DatabaseState(summary),
            directions: FeedDirections(pulls: directions.pulls, pushes: directions.pushes),
            isPart: directions.filter != nil)
    }
}
