import KithDocument
import KithNode
import KithReplication
import KithSystem
import KithTransport

/// One connection of a hostile member: the product's own state machine with a store that lies, and whatever else is written
/// between its frames.
final class HostileLink: @unchecked Sendable {
    // Sendable: a run has one thread.

    unowned let member: HostileMember
    private let harm: any Harm
    let peer: NodeID?
    var channel: (any Channel)?
    private var link: Link?
    private var decoder = FrameDecoder()
    private var timer: (any WorkTimer)?
    /// What the peer carries, as its hello said.
    private(set) var peerDatabases: [DatabaseEntry] = []
    private(set) var isOpen = false
    private(set) var isEnded = false
    /// The last number of a feed that was opened beside the state machine.
    var lastFeed: UInt64 = 0
    /// What the peer asked for first, and how many bytes of it were sent.
    var asked: (feed: UInt64, request: UInt64, sent: UInt64)?
    /// Bytes that were read against credit and not granted anew.
    var owed: UInt64 = 0
    /// All that was said, up to a bound.
    private(set) var said: [UInt8] = []

    init(_ member: HostileMember, _ harm: any Harm, peer: NodeID) {
        self.member = member
        self.harm = harm
        self.peer = peer
    }

    func handle(_ event: Connection.Event) {
        switch event {
        case .opened(let authenticated):
            // At an address that somebody else has by now.
            guard case .member(let identity) = authenticated, identity.nodeID == peer else { return end() }
            begin()
        case .received(let bytes): receive(Array(bytes))
        case .drained: handle(.sendBufferDrained(remaining: channel?.bufferedBytes ?? 0))
        case .acknowledged: break
        case .finished: end()
        case .closed:
            isEnded = true
            timer?.cancel()
        }
    }

    /// Says hello.
    func begin() {
        guard link == nil, let peer else { return }
        link = Link(
            LinkConfiguration(
                localNode: member.identity.nodeID, peerNode: peer, nodeName: member.identity.nodeName,
                softwareVersion: "0"))
        handle(.wallClock(member.process.machine.clock.wallMilliseconds))
        let databases = harm.carriesDatabases ? member.databases : []
        handle(.start(databases: databases.map { CarriedDatabase(name: $0, summary: summary) }))
        let early = waiting
        waiting = []
        receive(early)
    }

    /// What came before its own hello was said.
    private var waiting: [UInt8] = []

    private func receive(_ bytes: [UInt8]) {
        guard link != nil else { return waiting += bytes }
        guard !isEnded, !bytes.isEmpty else { return }
        decoder.append(bytes)
        do throws(ProtocolError) {
            while let frame = try decoder.next() { try take(frame) }
        } catch { end() }
    }

    private func take(_ frame: Frame) throws(ProtocolError) {
        if frame.type == .hello, case .hello(let hello) = try Message(frame) {
            peerDatabases = hello.databases
            isOpen = true
        } else if harm.takes(frame, on: self) {
            return
        }
        handle(.received(HostileFrame.bytes(frame.type.rawValue, frame.payload)))
        if frame.type == .hello { harm.opened(self) }
    }

    func end() {
        isEnded = true
        timer?.cancel()
        channel?.close()
    }

    // MARK: The state machine

    private func handle(_ input: LinkInput) {
        guard !isEnded, let directives = link?.handle(input, now: member.now) else { return }
        for directive in directives { carryOut(directive) }
        guard !isEnded, let deadline = link?.nextDeadline, let channel else { return }
        let timer = timer ?? channel.workQueue.timer { [weak self] in self?.handle(.deadline) }
        self.timer = timer
        timer.schedule(milliseconds: Int(clamping: deadline.milliseconds(since: member.now)), leewayMilliseconds: 0)
    }

    private func post(_ input: LinkInput) { channel?.workQueue.async { [weak self] in self?.handle(input) } }

    private func carryOut(_ directive: LinkDirective) {
        switch directive {
        case .send(let bytes):
            say(bytes)
            post(.sendBufferDrained(remaining: channel?.bufferedBytes ?? 0))
        case .close: end()
        case .store(let ticket, _, let request):
            post(.storeDone(ticket, perform(request, on: HostileStore(member: member, link: self))))
        case .judge: post(.statementsJudged(refusal: nil))
        case .claim(let ticket, _, let wants, _): post(.claimed(ticket, WantRegistry.Answer(granted: wants)))
        case .releaseClaims, .releaseAllClaims, .keepClaims, .report: break
        }
    }

    /// Where each database stands, as this peer is told.
    var summary: ReplicaSummary {
        let last = Position(timeline: member.timeline, sequence: UInt64(member.offers.count))
        return harm.summary(
            ReplicaSummary(position: last, digest: .zero, documents: UInt64(member.offers.count)), on: self)
    }

    func announceOffers(_ databases: [String]) {
        for database in databases { handle(.localCommit(database: database, summary)) }
    }

    func setWallClock(_ milliseconds: Int64) { handle(.wallClock(milliseconds)) }

    func tell(presence record: [UInt8]) { handle(.presence([record])) }

    // MARK: Beside it

    private static let keptBytes = 256 << 10

    /// Says whatever it is.
    func say(_ bytes: [UInt8]) {
        guard !isEnded else { return }
        if said.count < Self.keptBytes { said += bytes }
        channel?.send(bytes)
    }

    func say(_ message: Message) {
        var writer = CBORWriter()
        writer.append(frame: message)
        say(writer.bytes)
    }
}

/// Frames as bytes, of what can't be said otherwise.
enum HostileFrame {
    static func bytes(_ type: UInt8, _ payload: [UInt8]) -> [UInt8] { head(type, payload.count) + payload }

    static func head(_ type: UInt8, _ length: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) } + [type]
    }

    /// A frame whose payload is a map of numbers, by ascending keys.
    static func numbers(_ type: FrameType, _ pairs: KeyValuePairs<UInt64, UInt64>) -> [UInt8] {
        map(type, pairs.count) { writer in
            for (key, value) in pairs {
                writer.append(uint: key)
                writer.append(uint: value)
            }
        }
    }

    static func map(_ type: FrameType, _ count: Int, _ write: (inout CBORWriter) -> Void) -> [UInt8] {
        var writer = CBORWriter()
        writer.beginMap(count)
        write(&writer)
        return bytes(type.rawValue, writer.bytes)
    }
}
