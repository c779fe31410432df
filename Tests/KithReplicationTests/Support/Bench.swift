import KithDocument

@testable import KithReplication

/// One link whose peer is the test: it says what it likes, and sees what is answered. The store answers at once.
final class Bench {
    var link: Link
    let store = MemoryStore(timeline: 1)
    var registry = WantRegistry()
    var now: UInt64 = 1000
    private(set) var said: [Message] = []
    private(set) var ended: LinkEnd?
    private(set) var events: [LinkEvent] = []
    private(set) var requests: [StoreRequest] = []
    /// Store work and judgements that wait for the test instead of being answered at once.
    var isSlow = false
    private(set) var waiting: [() -> LinkInput] = []
    private var decoder = FrameDecoder()

    static let peer = NodeID(bytes: [UInt8](repeating: 2, count: 32))!

    init(_ configure: (inout LinkConfiguration) -> Void = { _ in }) {
        var configuration = LinkConfiguration(
            localNode: NodeID(bytes: [UInt8](repeating: 1, count: 32))!, peerNode: Self.peer, nodeName: "here",
            softwareVersion: "1")
        configure(&configuration)
        link = Link(configuration)
    }

    /// Starts the link; the database has so many documents.
    func start(documents: Int = 0, databases: [String] = ["db"]) {
        for number in 0..<documents { store.put("doc-\(number)", "{\"n\":\(number)}") }
        input(.start(databases: databases.map { CarriedDatabase(name: $0, summary: try! store.summary()) }))
    }

    /// Starts the link and greets it; the peer's database is large and its window the usual one.
    static func opened(documents: Int = 0, _ configure: (inout LinkConfiguration) -> Void = { _ in }) -> Bench {
        let bench = Bench(configure)
        bench.start(documents: documents)
        bench.say(.hello(Self.hello()))
        return bench
    }

    static func hello(_ names: [String] = ["db"]) -> Hello {
        Hello(
            versions: ProtocolVersions(1, 1), capabilities: ["unheard-of"], nodeName: "peer", softwareVersion: "9",
            statements: [],
            databases: names.enumerated().map {
                DatabaseEntry(
                    number: UInt64($0.offset + 1), name: $0.element,
                    state: DatabaseState(
                        position: Position(timeline: 2, sequence: 5000), digest: Samples.digest, documents: 5000))
            },
            window: 4 << 20)
    }

    func say(_ message: Message) { say(raw: Samples.encoded(message)) }

    func say(raw bytes: [UInt8]) { input(.received(bytes)) }

    func pass(_ milliseconds: UInt64) {
        now += milliseconds
        input(.deadline)
    }

    func input(_ input: LinkInput) {
        var inputs = [input]
        while !inputs.isEmpty {
            for directive in link.handle(inputs.removeFirst(), now: Instant(milliseconds: now)) {
                if let answer = perform(directive) {
                    if isSlow { waiting.append(answer) } else { inputs.append(answer()) }
                }
            }
        }
    }

    /// Answers what waits.
    func answer() {
        let answers = waiting
        waiting = []
        for answer in answers { input(answer()) }
    }

    private func perform(_ directive: LinkDirective) -> (() -> LinkInput)? {
        switch directive {
        case .send(let bytes):
            decoder.append(bytes)
            while let frame = try! decoder.next() { said.append(try! Message(frame)) }
            return { .sendBufferDrained(remaining: 0) }
        case .close(let end): ended = end
        case .store(let ticket, _, let request):
            requests.append(request)
            return { [store] in .storeDone(ticket, KithReplication.perform(request, on: store)) }
        case .judge: return { .statementsJudged(refusal: nil) }
        case .claim(let ticket, _, let wants, let lookedAt):
            let answer = registry.claim(wants, lookedAt: lookedAt, by: 1, now: Instant(milliseconds: now))
            return { .claimed(ticket, answer) }
        case .releaseClaims(_, let documents): registry.release(documents, by: 1, now: Instant(milliseconds: now))
        case .releaseAllClaims: registry.releaseAll(by: 1)
        case .keepClaims: registry.keep(by: 1, now: Instant(milliseconds: now))
        case .report(let event): events.append(event)
        }
        return nil
    }

    /// The text of the goodbye with which the link ended for a broken rule.
    var complaint: String? {
        guard let ended, !ended.isByPeer, ended.goodbye.code == .protocolError else { return nil }
        guard case .goodbye(let said)? = said.last, said == ended.goodbye else { return nil }
        return said.text
    }

    // What an honest source would say.

    func changes(
        _ page: UInt64, _ documents: [(sequence: UInt64, id: String, leaf: RevisionID)], through: UInt64? = nil
    ) -> Message {
        let through = through ?? documents.last?.sequence ?? 0
        return .changes(
            Changes(
                feed: 1, page: page, through: Position(timeline: 2, sequence: through), digest: nil, latest: through,
                changes: documents.map {
                    Change(
                        sequence: $0.sequence, document: DocumentID(unchecked: $0.id),
                        leaves: [AnnouncedLeaf(id: $0.leaf)])
                }))
    }

    static func revision(_ number: Int) -> Revision {
        Revision(
            parent: nil, kind: .edit, body: Array("{\"n\":\(number)}".utf8),
            stamps: FieldStamps(defaultStamp: Stamp(time: 1 << 16, writer: 5)),
            version: Version(writer: 5, time: 1 << 16))
    }

    static func delivery(_ id: String, _ revision: Revision) -> ReceivedDelivery {
        .whole(
            Delivery(
                document: DocumentID(unchecked: id), items: [Delivery.Item(revision: revision, ancestors: [])]))
    }

    static func revisions(
        request: UInt64 = 1, isFinal: Bool = true, _ deliveries: [ReceivedDelivery], gone: [String] = []
    ) -> Message {
        .revisions(
            Revisions(
                feed: 1, request: request, isFinal: isFinal, deliveries: deliveries,
                gone: gone.map { DocumentID(unchecked: $0) }))
    }
}
