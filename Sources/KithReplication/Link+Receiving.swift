internal import KithDocument

#if KITH_MUTANTS
import KithSystem
#endif

// What the peer says.

extension Link {
    mutating func receive(_ bytes: [UInt8]) throws(ProtocolError) {
        guard !bytes.isEmpty else { return }
        if case .fresh = state { preconditionFailure("bytes came before the link was started") }
        heartbeat.heard(bytes: bytes.count, unsent: output.gate.unsent, now: output.now)
        decoder.append(bytes)
        try readFrames()
    }

    /// Takes the frames that are there, up to statements that must be judged first.
    mutating func readFrames() throws(ProtocolError) {
        while !isJudging, !isEnded {
            guard let frame = try decoder.next() else { return }
            try receive(frame)
        }
        if isJudging, decoder.held > ReplicationLimits.heldBytes {
            throw ProtocolError("too much came before the statements were judged")
        }
    }

    private mutating func receive(_ frame: Frame) throws(ProtocolError) {
        let bytes = frame.payload.count + Frame.headBytes
        if frame.type.isCredited { try output.credit.received(bytes) }
        let message = try Message(frame)
        if case .greeting = state {
            switch message {
            case .hello(let hello): return receive(hello)
            case .goodbye(let goodbye): return endByPeer(goodbye)
            default: throw ProtocolError("\(frame.type) came before the hello")
            }
        }
        switch message {
        case .hello: throw ProtocolError("a second hello came")
        case .databases(let update): try receive(update)
        case .statements(let statements):
            isJudging = true
            output.add(.judge(statements))
        case .presence(let record): output.report(.presence(record))
        case .gossip(let gossip): output.report(.gossip(gossip))
        case .ping(let ping):
            output.send(.pong(Heartbeat(nonce: ping.nonce, wallClock: heartbeat.wallClock(output.now))))
        case .pong(let pong): try heartbeat.receivePong(pong, &output)
        case .goodbye(let goodbye): endByPeer(goodbye)
        case .credit(let granted): try output.gate.grant(granted)
        case .open, .subscribe, .unsubscribe, .want, .ack, .refused, .rangeQuery, .rangeList, .compare:
            try receiveFromPuller(message)
        case .changes, .revisions, .revisionChunk, .feedEnded, .unknown, .rangeDigests, .rangeChanges, .compared:
            try receiveFromSource(message, bytes: bytes)
        }
    }

    // The hello.

    private mutating func receive(_ hello: Hello) {
        #if KITH_MUTANTS
        let isAny = Mutant.isActive(.acceptsAnyVersion)
        let theirs = isAny ? configuration.versions : hello.versions
        #else
        let theirs = hello.versions
        #endif
        guard let version = configuration.versions.common(with: theirs) else {
            return end(
                Goodbye(
                    code: .versionMismatch,
                    text: "no common protocol version: this node speaks \(configuration.versions), "
                        + "the peer speaks \(hello.versions)"))
        }
        state = .judging(hello, version: version)
        isJudging = true
        output.add(.judge(hello.statements))
    }

    mutating func judged(_ refusal: String?) throws(ProtocolError) {
        guard isJudging else {
            preconditionFailure("statements were judged that were not given out; the link is \(state)")
        }
        isJudging = false
        if let refusal { return end(Goodbye(code: .notTrusted, text: refusal)) }
        if case .judging(let hello, let version) = state {
            state = .open(version: version)
            try output.gate.grant(hello.window)
            peerFilters = hello.capabilities.contains(FeedFilter.capability)
            try add(hello.databases)
            output.report(
                .opened(
                    PeerDescription(
                        nodeName: hello.nodeName, softwareVersion: hello.softwareVersion,
                        instance: hello.instance, protocolVersion: version, capabilities: hello.capabilities,
                        databases: hello.databases)))
            if let goodbye = heartbeat.beat(&output) { end(goodbye) }
        }
        try readFrames()
    }

    // Feeds.

    /// What the peer says as the puller of a feed.
    private mutating func receiveFromPuller(_ message: Message) throws(ProtocolError) {
        if case .open(let feed, let database, let filter) = message { return try open(feed, database, filter) }
        guard let feed = message.feed else { preconditionFailure("\(message.type) has no feed") }
        guard let index = servedFeeds[feed] else {
            if feed <= lastServedFeed { return }
            throw ProtocolError("feed \(feed) was not opened")
        }
        guard let facts = sessions[index]?.facts else { return }
        switch message {
        case .subscribe(_, let position): try sessions[index]?.source?.subscribe(after: position, facts, &output)
        case .unsubscribe(let end):
            servedFeeds[feed] = nil
            sessions[index]?.unsubscribed(end)
        case .want(_, let request, let wants): try sessions[index]?.source?.want(request, wants)
        case .ack(let ack): try sessions[index]?.receive(ack)
        case .refused(_, let refusals):
            sessions[index]?.facts.refusedByPeer += UInt64(refusals.count)
            output.report(.refusedByPeer(database: facts.database, refusals))
        case .rangeQuery(_, let bytes): try sessions[index]?.source?.receiveQuery(bytes, facts, &output)
        case .rangeList(_, let ranges): try sessions[index]?.source?.ranges.ask(list: ranges)
        case .compare(_, let documents): try sessions[index]?.source?.receiveComparison(documents, facts, &output)
        default: preconditionFailure("\(message.type) is not said by a puller")
        }
    }

    private mutating func open(_ feed: FeedID, _ database: UInt64, _ filter: FeedFilter?) throws(ProtocolError) {
        guard feed > lastServedFeed else { throw ProtocolError("feed \(feed) was opened after feed \(lastServedFeed)") }
        lastServedFeed = feed
        func refuse(_ code: FeedEnd.Code, _ text: String) {
            output.sendCredited(.feedEnded(FeedEnd(feed: feed, code: code, text: text)))
        }
        guard database >= 1, database <= lastNumber else { throw ProtocolError("database \(database) was not named") }
        guard configuration.localIsSource else { return refuse(.notASource, "documents are not pulled from a reader") }
        guard let index = carried.first(where: { $0.number == database })?.session, let facts = sessions[index]?.facts
        else { return refuse(.noDatabase, "the database is not carried") }
        guard facts.serves else { return refuse(.notASource, "the database is not pushed there at present") }
        guard sessions[index]?.source == nil else { throw ProtocolError("a database has two feeds") }
        sessions[index]?.source = Source(feed: feed, filter: filter)
        servedFeeds[feed] = index
    }

    /// What the peer says as the source of a feed.
    private mutating func receiveFromSource(_ message: Message, bytes: Int) throws(ProtocolError) {
        guard let feed = message.feed else { preconditionFailure("\(message.type) has no feed") }
        guard feed <= output.lastFeed else { throw ProtocolError("feed \(feed) was not opened") }
        guard let index = pulledFeeds[feed], sessions[index]?.puller?.feed == feed else {
            // What was on its way when the feed ended.
            output.credit.giveBack(bytes)
            return
        }
        try sessions[index]?.receiveFromSource(message, bytes: bytes, &output)
        if sessions[index]?.puller == nil { pulledFeeds[feed] = nil }
    }
}

extension Session {
    mutating func receiveFromSource(
        _ message: Message, bytes: Int, _ output: inout LinkOutput
    ) throws(ProtocolError) {
        switch message {
        case .changes(let changes):
            try puller?.receive(changes, bytes: bytes, &facts, &output)
        case .revisions(let revisions):
            try puller?.receive(revisions, bytes: bytes, &facts, &output)
        case .revisionChunk(let chunk):
            try puller?.receive(chunk, bytes: bytes, &facts, &output)
        case .rangeChanges(_, let changes, let isFinal):
            try puller?.receiveRangeChanges(changes, isFinal: isFinal, bytes: bytes, &facts, &output)
        case .feedEnded(let end):
            output.credit.giveBack(bytes)
            feedEnded(end, &output)
        case .unknown(_, let state):
            output.credit.giveBack(bytes)
            try puller?.receiveUnknown(state, &facts, &output)
        case .rangeDigests(let answer):
            output.credit.giveBack(bytes)
            try puller?.receive(answer, &facts, &output)
        case .compared(let compared):
            output.credit.giveBack(bytes)
            try receive(compared, &output)
        default: preconditionFailure("\(message.type) is not said by a source")
        }
    }

    private mutating func feedEnded(_ end: FeedEnd, _ output: inout LinkOutput) {
        let retry: Retry =
            switch end.code {
            case .closed, .storeBusy: .soon
            case .storeFailed: .later
            default: .never
            }
        failPulling("the peer ended the feed: \(end.text)", retry, isLocal: false, &output)
    }
}

extension Message {
    /// The feed that a message is about.
    var feed: FeedID? {
        switch self {
        case .hello, .databases, .statements, .presence, .gossip, .ping, .pong, .goodbye, .credit: nil
        case .open(let feed, _, _), .subscribe(let feed, _), .want(let feed, _, _), .refused(let feed, _),
            .rangeQuery(let feed, _), .rangeList(let feed, _), .compare(let feed, _), .unknown(let feed, _),
            .rangeChanges(let feed, _, _):
            feed
        case .unsubscribe(let end), .feedEnded(let end): end.feed
        case .ack(let ack): ack.feed
        case .changes(let changes): changes.feed
        case .revisions(let revisions): revisions.feed
        case .revisionChunk(let chunk): chunk.feed
        case .rangeDigests(let answer): answer.feed
        case .compared(let compared): compared.feed
        }
    }
}
