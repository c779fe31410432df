internal import KithDocument

/// What a link and its sessions write to while they handle one input.
struct LinkOutput {
    /// The moment of the input.
    var now = Instant(milliseconds: 0)
    private(set) var directives: [LinkDirective] = []
    /// Whether the last input led to bytes that are sent.
    private(set) var hasSaid = false
    private var writer = CBORWriter(capacity: 0)
    private var close: LinkEnd?
    var gate = SendGate()
    var credit: ReceiveCredit
    /// The feed whose large document is under way.
    var assembling: FeedID?
    private var lastTicket: UInt64 = 0
    /// Who waits for which ticket; looked up only.
    private var owners: [Ticket: TicketOwner] = [:]
    private(set) var lastFeed: FeedID = 0
    private let window: Int

    init(window: Int) {
        self.window = window
        credit = ReceiveCredit(window: window)
    }

    mutating func add(_ directive: LinkDirective) { directives.append(directive) }

    mutating func report(_ event: LinkEvent) { directives.append(.report(event)) }

    /// Sends a message that needs no credit.
    mutating func send(_ message: Message) { gate.unsent += writer.append(frame: message) }

    /// Sends a credited frame when its turn comes.
    mutating func sendCredited(_ message: Message) {
        var frame = CBORWriter(capacity: 256)
        frame.append(frame: message)
        gate.enqueue(frame.bytes)
    }

    mutating func nextFeed() -> FeedID {
        lastFeed += 1
        return lastFeed
    }

    /// Asks the store; the answer goes to `owner`.
    mutating func store(_ request: StoreRequest, _ database: String, for owner: TicketOwner) {
        directives.append(.store(ticket(for: owner), database: database, request))
    }

    mutating func claim(_ wants: [Want], lookedAt: Instant, _ database: String, for owner: TicketOwner) {
        directives.append(.claim(ticket(for: owner), database: database, wants, lookedAt: lookedAt))
    }

    private mutating func ticket(for owner: TicketOwner) -> Ticket {
        lastTicket += 1
        let ticket = Ticket(number: lastTicket)
        owners[ticket] = owner
        return ticket
    }

    /// Who waited for the ticket. A ticket is answered once.
    mutating func redeem(_ ticket: Ticket) -> TicketOwner {
        guard let owner = owners.removeValue(forKey: ticket) else {
            preconditionFailure("ticket \(ticket.number) was answered twice or never given out")
        }
        return owner
    }

    /// The link ends with this input.
    mutating func endWith(_ end: LinkEnd) { close = end }

    /// The directives of this input: what is to be sent last, and then the close.
    mutating func finish() -> [LinkDirective] {
        hasSaid = false
        if let close {
            let bytes = writer.take()
            if !bytes.isEmpty { directives.append(.send(bytes)) }
            directives.append(.close(close))
            defer { directives = [] }
            return directives
        }
        if let grant = credit.grant(window: window) { send(.credit(grant)) }
        while let frame = gate.next() {
            writer.append(raw: frame)
            gate.unsent += frame.count
        }
        let bytes = writer.take()
        hasSaid = !bytes.isEmpty
        if hasSaid { directives.append(.send(bytes)) }
        defer { directives = [] }
        return directives
    }
}

/// Whom the answer to a piece of work is for.
struct TicketOwner {
    enum Work {
        // The puller's.
        case open
        case adopt(Position)
        case missing(page: UInt64)
        case claim(page: UInt64)
        case apply
        case scan
        case ownExclusions
        case ownDigest(Compared)

        // The source's.
        case resume
        case changes
        case deliveries
        case ranges
        case rangeChanges
        case exclusions(theirs: [DocumentID])
        case digest(own: [DocumentID])

        var isOfSource: Bool {
            switch self {
            case .open, .adopt, .missing, .claim, .apply, .scan, .ownExclusions, .ownDigest: false
            case .resume, .changes, .deliveries, .ranges, .rangeChanges, .exclusions, .digest: true
            }
        }

        /// Bytes reserved at the gate until the answer is there.
        var reservedBytes: Int {
            switch self {
            case .changes: ReplicationLimits.changesReadBytes
            case .deliveries, .rangeChanges: ReplicationLimits.readBytes
            default: 0
            }
        }
    }

    let session: Int
    let feed: FeedID
    let work: Work
}
