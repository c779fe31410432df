internal import KithDocument

extension Message {
    /// Reads the payload of a frame.
    /// - Throws: `ProtocolError` for anything but the one encoding of a message within its bounds.
    package init(_ frame: Frame) throws(ProtocolError) {
        self = try CBORReader.read(frame.payload) { reader throws(ProtocolError) in
            try Message(frame.type, &reader)
        }
    }

    private init(_ type: FrameType, _ reader: inout CBORReader) throws(ProtocolError) {
        switch type {
        case .hello: self = .hello(try Hello(&reader))
        case .databases: self = .databases(try DatabasesUpdate(&reader))
        case .statements:
            self = .statements(try Self.only(&reader) { r throws(ProtocolError) in try r.statements() } ?? [])
        case .presence:
            self = .presence(
                try Self.only(&reader) { r throws(ProtocolError) in
                    try r.byteArray(atMost: ReplicationLimits.presenceBytes, "a presence record")
                } ?? [])
        case .gossip: self = .gossip(try Gossip(&reader))
        case .ping: self = .ping(try Heartbeat(&reader))
        case .pong: self = .pong(try Heartbeat(&reader))
        case .goodbye: self = .goodbye(try Goodbye(&reader))
        case .credit: self = .credit(try Self.only(&reader) { r throws(ProtocolError) in try r.uint() } ?? 0)
        case .unsubscribe: self = .unsubscribe(try FeedEnd(&reader))
        case .feedEnded: self = .feedEnded(try FeedEnd(&reader))
        case .ack: self = .ack(try Ack(&reader))
        case .changes: self = .changes(try Changes(&reader))
        case .revisions: self = .revisions(try Revisions(&reader))
        case .revisionChunk: self = .revisionChunk(try RevisionChunk(&reader))
        case .rangeDigests: self = .rangeDigests(try RangeAnswer(&reader))
        case .compared: self = .compared(try Compared(&reader))
        default: self = try Self.feedMessage(type, &reader)
        }
    }

    /// The messages of a feed with few fields.
    private static func feedMessage(_ type: FrameType, _ reader: inout CBORReader) throws(ProtocolError) -> Message {
        var feed: FeedID?
        var number: UInt64 = 0
        var position: Position?
        var state = DatabaseStateFields()
        var wants: [Want] = []
        var refusals: [Refusal] = []
        var ranges: [UInt16] = []
        var bytes: [UInt8] = []
        var documents: [DocumentID] = []
        var changes: [Change] = []
        var isFinal = false
        var others: [UInt64] = []
        var filter: FeedFilter?
        var keys = try reader.map()
        while let key = try keys.next(&reader) {
            switch (type, key) {
            case (_, 1): feed = try reader.feed()
            case (.open, 2), (.want, 2): number = try reader.uint()
            case (.open, 3): filter = .documents(try reader.filterDocuments())
            case (.open, 4):
                if filter != nil { throw ProtocolError("a feed has two filters") }
                filter = .selector(try reader.byteArray(atMost: ReplicationLimits.filterBytes, "a filter"))
            case (.subscribe, 2): position = try reader.position()
            case (.want, 3): wants = try reader.wants()
            case (.refused, 2): refusals = try reader.refusals()
            case (.rangeQuery, 2): bytes = try reader.firstBytes()
            case (.rangeList, 2): ranges = try reader.ranges()
            case (.compare, 2): documents = try reader.documents()
            case (.rangeChanges, 2): changes = try reader.changes()
            case (.rangeChanges, 3): isFinal = try reader.bool()
            case (.rangeChanges, 4): others = try reader.others()
            case (.unknown, 2...4): try state.read(key, &reader)
            default: try reader.skip()
            }
        }
        guard let feed else { throw ProtocolError("a message names no feed") }
        switch type {
        case .open: return .open(feed: feed, database: number, filter: filter)
        case .subscribe: return .subscribe(feed: feed, after: position)
        case .want: return .want(feed: feed, request: number, wants: wants)
        case .refused: return .refused(feed: feed, refusals: refusals)
        case .rangeQuery: return .rangeQuery(feed: feed, firstBytes: bytes)
        case .rangeList: return .rangeList(feed: feed, ranges: ranges)
        case .compare: return .compare(feed: feed, documents: documents)
        case .rangeChanges:
            return .rangeChanges(feed: feed, changes: try changes.marking(others: others), isFinal: isFinal)
        case .unknown: return .unknown(feed, try state.state())
        default: preconditionFailure("\(type) is no message of a feed")
        }
    }

    /// The value of a message that has one field.
    private static func only<Value>(
        _ reader: inout CBORReader, _ read: (inout CBORReader) throws(ProtocolError) -> Value
    ) throws(ProtocolError) -> Value? {
        var value: Value?
        var keys = try reader.map()
        while let key = try keys.next(&reader) {
            if key == 1 { value = try read(&reader) } else { try reader.skip() }
        }
        return value
    }
}

/// The fields 2 to 4 of a message that says where a database stands.
private struct DatabaseStateFields {
    var position: Position?
    var digest: Digest256?
    var documents: UInt64 = 0

    mutating func read(_ key: UInt64, _ reader: inout CBORReader) throws(ProtocolError) {
        switch key {
        case 2: position = try reader.position()
        case 3: digest = try reader.digest()
        default: documents = try reader.uint()
        }
    }

    func state() throws(ProtocolError) -> DatabaseState {
        guard let position, let digest else { throw ProtocolError("a message does not say where a database stands") }
        return DatabaseState(position: position, digest: digest, documents: documents)
    }
}

extension Hello {
    init(_ reader: inout CBORReader) throws(ProtocolError) {
        self.init(
            versions: ProtocolVersions(0, 0), capabilities: [], nodeName: "", softwareVersion: "", statements: [],
            databases: [], window: 0)
        var notPushed: [UInt64] = []
        var notPulled: [UInt64] = []
        var parts: [UInt64] = []
        var keys = try reader.map()
        while let key = try keys.next(&reader) {
            switch key {
            case 1:
                try reader.tuple(2, "the range of protocol versions")
                versions = ProtocolVersions(try reader.uint(), try reader.uint())
            case 2:
                for _ in 0..<(try reader.array(atMost: ReplicationLimits.capabilities, "the capabilities")) {
                    capabilities.append(try reader.text(atMost: ReplicationLimits.wordBytes, "a capability"))
                }
            case 3: nodeName = try reader.text(atMost: ReplicationLimits.nodeNameBytes, "the name of a node")
            case 4: softwareVersion = try reader.text(atMost: ReplicationLimits.wordBytes, "a software version")
            case 5: statements = try reader.statements()
            case 6: databases = try reader.databaseEntries()
            case 7: window = try reader.uint(atMost: UInt64(ReplicationLimits.maximumWindowBytes), "the window")
            case 8: instance = try reader.uint()
            case 9: notPushed = try reader.databaseNumbers()
            case 10: notPulled = try reader.databaseNumbers()
            case 11: parts = try reader.databaseNumbers()
            default: try reader.skip()
            }
        }
        databases = databases.without(pushing: notPushed, pulling: notPulled, parts: parts)
        guard versions.lowest >= 1, versions.lowest <= versions.highest else {
            throw ProtocolError("a hello has no range of protocol versions")
        }
    }
}

extension DatabasesUpdate {
    fileprivate init(_ reader: inout CBORReader) throws(ProtocolError) {
        self.init(added: [], removed: [])
        var notPushed: [UInt64] = []
        var notPulled: [UInt64] = []
        var parts: [UInt64] = []
        var keys = try reader.map()
        while let key = try keys.next(&reader) {
            switch key {
            case 1: added = try reader.databaseEntries()
            case 2: removed = try reader.databaseNumbers()
            case 3: notPushed = try reader.databaseNumbers()
            case 4: notPulled = try reader.databaseNumbers()
            case 5: parts = try reader.databaseNumbers()
            default: try reader.skip()
            }
        }
        added = added.without(pushing: notPushed, pulling: notPulled, parts: parts)
    }
}

extension Heartbeat {
    fileprivate init(_ reader: inout CBORReader) throws(ProtocolError) {
        var nonce: UInt64 = 0
        var wallClock: Int64?
        var keys = try reader.map()
        while let key = try keys.next(&reader) {
            switch key {
            case 1: nonce = try reader.uint()
            case 2: wallClock = try reader.int()
            default: try reader.skip()
            }
        }
        self.init(nonce: nonce, wallClock: wallClock)
    }
}

extension Goodbye {
    fileprivate init(_ reader: inout CBORReader) throws(ProtocolError) {
        var code: UInt64 = 0
        var text = ""
        var keys = try reader.map()
        while let key = try keys.next(&reader) {
            switch key {
            case 1: code = try reader.uint()
            case 2: text = try reader.text(atMost: ReplicationLimits.textBytes, "the text of a goodbye")
            default: try reader.skip()
            }
        }
        self.init(code: Code(rawValue: code), text: text)
    }
}

extension FeedEnd {
    fileprivate init(_ reader: inout CBORReader) throws(ProtocolError) {
        var feed: FeedID?
        var code: UInt64 = 0
        var text = ""
        var keys = try reader.map()
        while let key = try keys.next(&reader) {
            switch key {
            case 1: feed = try reader.feed()
            case 2: code = try reader.uint()
            case 3: text = try reader.text(atMost: ReplicationLimits.textBytes, "the text of a feed's end")
            default: try reader.skip()
            }
        }
        guard let feed else { throw ProtocolError("a message names no feed") }
        self.init(feed: feed, code: Code(rawValue: code), text: text)
    }
}

extension Ack {
    fileprivate init(_ reader: inout CBORReader) throws(ProtocolError) {
        var feed: FeedID?
        var page: UInt64 = 0
        var position: Position?
        var digest: Digest256?
        var without: Digest256?
        var leftOut: UInt64 = 0
        var keys = try reader.map()
        while let key = try keys.next(&reader) {
            switch key {
            case 1: feed = try reader.feed()
            case 2: page = try reader.uint()
            case 3: position = try reader.position()
            case 4: digest = try reader.digest()
            case 5: without = try reader.digest()
            case 6:
                leftOut = try reader.uint(
                    atMost: UInt64(ReplicationLimits.exclusions), "the number of documents that are left out")
            default: try reader.skip()
            }
        }
        guard let feed, let position, let digest else { throw ProtocolError("an acknowledgement lacks a field") }
        self.init(
            feed: feed, page: page, position: position, digest: digest,
            equality: without.map { Equality(digest: $0, leftOut: Int(leftOut)) })
    }
}

extension RangeAnswer {
    fileprivate init(_ reader: inout CBORReader) throws(ProtocolError) {
        var feed: FeedID?
        var position: Position?
        var ranges: [RangeDigests.Range] = []
        var keys = try reader.map()
        while let key = try keys.next(&reader) {
            switch key {
            case 1: feed = try reader.feed()
            case 2: position = try reader.position()
            case 3: ranges = try reader.rangeDigests()
            default: try reader.skip()
            }
        }
        guard let feed, let position else { throw ProtocolError("an answer about ranges lacks a field") }
        self.init(feed: feed, position: position, ranges: ranges)
    }
}

extension Compared {
    fileprivate init(_ reader: inout CBORReader) throws(ProtocolError) {
        var feed: FeedID?
        var position: Position?
        var digest: Digest256?
        var documents: [DocumentID] = []
        var keys = try reader.map()
        while let key = try keys.next(&reader) {
            switch key {
            case 1: feed = try reader.feed()
            case 2: position = try reader.position()
            case 3: digest = try reader.digest()
            case 4: documents = try reader.documents()
            default: try reader.skip()
            }
        }
        guard let feed, let position, let digest else { throw ProtocolError("a comparison lacks a field") }
        self.init(feed: feed, position: position, digest: digest, documents: documents)
    }
}
