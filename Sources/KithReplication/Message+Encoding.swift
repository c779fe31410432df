internal import KithDocument

extension CBORWriter {
    /// Writes a message as a frame.
    /// - Returns: the bytes of the frame.
    @discardableResult
    package mutating func append(frame message: Message) -> Int {
        let start = beginFrame(message.type)
        append(payload: message)
        return endFrame(start)
    }

    private mutating func append(payload message: Message) {
        switch message {
        case .hello(let hello): append(hello)
        case .databases(let update): append(update)
        case .statements(let statements):
            beginMap(1)
            append(uint: 1)
            append(list: statements) { $0.append(bytes: $1) }
        case .presence(let record):
            beginMap(1)
            append(uint: 1)
            append(bytes: record)
        case .gossip(let gossip): gossip.append(to: &self)
        case .ping(let heartbeat), .pong(let heartbeat): append(heartbeat)
        case .goodbye(let goodbye): append(1, goodbye.code.rawValue, 2, text: goodbye.text)
        case .credit(let bytes):
            beginMap(1)
            append(uint: 1)
            append(uint: bytes)
        default: append(feedPayload: message)
        }
    }

    private mutating func append(feedPayload message: Message) {
        switch message {
        case .open(let feed, let database, let filter):
            beginFeed(feed, fields: filter == nil ? 1 : 2)
            append(uint: 2)
            append(uint: database)
            switch filter {
            case nil: break
            case .documents(let documents): append(3, documents)
            case .selector(let selector):
                append(uint: 4)
                append(bytes: selector)
            }
        case .subscribe(let feed, let position):
            beginFeed(feed, fields: position == nil ? 0 : 1)
            if let position { append(2, position) }
        case .want(let feed, let request, let wants): append(feed, request, wants)
        case .refused(let feed, let refusals):
            beginFeed(feed, fields: 1)
            append(uint: 2)
            append(list: refusals) { writer, refusal in
                writer.beginArray(2)
                writer.append(text: refusal.document.string)
                writer.append(text: refusal.reason.prefix(bytes: ReplicationLimits.textBytes))
            }
        case .rangeQuery(let feed, let firstBytes):
            beginFeed(feed, fields: 1)
            append(uint: 2)
            append(bytes: firstBytes)
        case .rangeList(let feed, let ranges):
            beginFeed(feed, fields: 1)
            append(uint: 2)
            append(list: ranges) { $0.append(uint: UInt64($1)) }
        case .compare(let feed, let documents):
            beginFeed(feed, fields: 1)
            append(2, documents)
        case .ack(let ack): append(ack)
        case .unsubscribe(let end), .feedEnded(let end): append(end)
        case .changes(let changes): append(changes)
        case .revisions(let revisions): append(revisions)
        case .revisionChunk(let chunk): append(chunk)
        case .unknown(let feed, let state):
            beginFeed(feed, fields: 3)
            append(2, state.position)
            append(3, state.digest)
            append(uint: 4)
            append(uint: state.documents)
        case .rangeDigests(let answer): append(answer)
        case .rangeChanges(let feed, let changes, let isFinal):
            let others = changes.othersInPage
            beginFeed(feed, fields: others.isEmpty ? 2 : 3)
            append(uint: 2)
            append(list: changes) { $0.append(change: $1) }
            append(uint: 3)
            append(bool: isFinal)
            append(4, numbers: others)
        case .compared(let compared):
            beginFeed(compared.feed, fields: 3)
            append(2, compared.position)
            append(3, compared.digest)
            append(4, compared.documents)
        default: preconditionFailure("no payload for \(message.type)")
        }
    }

    private mutating func append(_ hello: Hello) {
        let (notPushed, notPulled) = (hello.databases.notPushed, hello.databases.notPulled)
        let parts = hello.databases.parts
        let optional = [hello.instance != 0, !notPushed.isEmpty, !notPulled.isEmpty, !parts.isEmpty].count { $0 }
        beginMap(7 + optional)
        append(uint: 1)
        beginArray(2)
        append(uint: hello.versions.lowest)
        append(uint: hello.versions.highest)
        append(uint: 2)
        append(list: hello.capabilities) { $0.append(text: $1) }
        append(uint: 3)
        append(text: hello.nodeName)
        append(uint: 4)
        append(text: hello.softwareVersion)
        append(uint: 5)
        append(list: hello.statements) { $0.append(bytes: $1) }
        append(uint: 6)
        append(list: hello.databases) { $0.append($1) }
        append(uint: 7)
        append(uint: hello.window)
        if hello.instance != 0 {
            append(uint: 8)
            append(uint: hello.instance)
        }
        append(9, numbers: notPushed)
        append(10, numbers: notPulled)
        append(11, numbers: parts)
    }

    /// Numbers under a key, where there are any.
    mutating func append(_ key: UInt64, numbers: [UInt64]) {
        if numbers.isEmpty { return }
        append(uint: key)
        append(list: numbers) { $0.append(uint: $1) }
    }

    private mutating func append(_ entry: DatabaseEntry) {
        beginArray(5)
        append(uint: entry.number)
        append(text: entry.name)
        append(entry.state.position)
        append(bytes: entry.state.digest.bytes)
        append(uint: entry.state.documents)
    }

    private mutating func append(_ update: DatabasesUpdate) {
        let (notPushed, notPulled, parts) = (update.added.notPushed, update.added.notPulled, update.added.parts)
        beginMap(2 + [!notPushed.isEmpty, !notPulled.isEmpty, !parts.isEmpty].count { $0 })
        append(uint: 1)
        append(list: update.added) { $0.append($1) }
        append(uint: 2)
        append(list: update.removed) { $0.append(uint: $1) }
        append(3, numbers: notPushed)
        append(4, numbers: notPulled)
        append(5, numbers: parts)
    }

    private mutating func append(_ heartbeat: Heartbeat) {
        beginMap(heartbeat.wallClock == nil ? 1 : 2)
        append(uint: 1)
        append(uint: heartbeat.nonce)
        if let wallClock = heartbeat.wallClock {
            append(uint: 2)
            append(int: wallClock)
        }
    }

    private mutating func append(_ ack: Ack) {
        beginFeed(ack.feed, fields: ack.equality == nil ? 3 : 5)
        append(uint: 2)
        append(uint: ack.page)
        append(3, ack.position)
        append(4, ack.digest)
        guard let equality = ack.equality else { return }
        append(5, equality.digest)
        append(uint: 6)
        append(uint: UInt64(equality.leftOut))
    }

    private mutating func append(_ end: FeedEnd) {
        beginFeed(end.feed, fields: 2)
        append(uint: 2)
        append(uint: end.code.rawValue)
        append(uint: 3)
        append(text: end.text.prefix(bytes: ReplicationLimits.textBytes))
    }

    private mutating func append(_ answer: RangeAnswer) {
        beginFeed(answer.feed, fields: 2)
        append(2, answer.position)
        append(uint: 3)
        append(list: answer.ranges) { writer, range in
            writer.beginArray(3)
            writer.append(uint: UInt64(range.index))
            writer.append(uint: UInt64(range.documents))
            writer.append(bytes: range.digest.bytes)
        }
    }

    private mutating func append(_ first: UInt64, _ code: UInt64, _ second: UInt64, text: String) {
        beginMap(2)
        append(uint: first)
        append(uint: code)
        append(uint: second)
        append(text: text.prefix(bytes: ReplicationLimits.textBytes))
    }

    // Parts.

    /// A map of the feed's number and `fields` more.
    mutating func beginFeed(_ feed: FeedID, fields: Int) {
        beginMap(fields + 1)
        append(uint: 1)
        append(uint: feed)
    }

    mutating func append(_ position: Position) {
        beginArray(2)
        append(uint: position.timeline)
        append(uint: position.sequence)
    }

    mutating func append(_ key: UInt64, _ position: Position) {
        append(uint: key)
        append(position)
    }

    mutating func append(_ key: UInt64, _ digest: Digest256) {
        append(uint: key)
        append(bytes: digest.bytes)
    }

    private mutating func append(_ key: UInt64, _ documents: [DocumentID]) {
        append(uint: key)
        append(list: documents) { $0.append(text: $1.string) }
    }

    private mutating func append<Item>(list: [Item], _ write: (inout CBORWriter, Item) -> Void) {
        beginArray(list.count)
        for item in list { write(&self, item) }
    }
}

extension Message {
    var type: FrameType {
        switch self {
        case .hello: .hello
        case .databases: .databases
        case .statements: .statements
        case .presence: .presence
        case .gossip: .gossip
        case .ping: .ping
        case .pong: .pong
        case .goodbye: .goodbye
        case .credit: .credit
        case .open: .open
        case .subscribe: .subscribe
        case .unsubscribe: .unsubscribe
        case .want: .want
        case .ack: .ack
        case .refused: .refused
        case .rangeQuery: .rangeQuery
        case .rangeList: .rangeList
        case .compare: .compare
        case .changes: .changes
        case .revisions: .revisions
        case .revisionChunk: .revisionChunk
        case .feedEnded: .feedEnded
        case .unknown: .unknown
        case .rangeDigests: .rangeDigests
        case .rangeChanges: .rangeChanges
        case .compared: .compared
        }
    }
}

extension String {
    /// The longest beginning of whole characters (Unicode scalars) with at most `limit` bytes.
    func prefix(bytes limit: Int) -> String {
        if utf8.count <= limit { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: limit)
        while end > utf8.startIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return String(self[..<end])
    }
}
