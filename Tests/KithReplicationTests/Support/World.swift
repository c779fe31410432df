import KithDocument
import KithTestSupport

@testable import KithReplication

/// Nodes with databases in memory, joined by links over pipes that split and delay, on virtual time from one seed.
final class World {
    private let time = VirtualTime()
    var now: UInt64 { time.now }
    var random: SeededGenerator
    private(set) var nodes: [Node] = []
    private(set) var ends: [LinkSide] = []
    /// The longest that bytes and store work take, in milliseconds.
    var latency = 3
    /// How much a pipe carries in a second, each way; nil for no limit.
    var bytesPerSecond: UInt64?
    /// Largest piece that a pipe delivers at once.
    var pieceBytes = 64 << 10

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    func addNode(_ databases: [String] = ["db"], isSource: Bool = true) -> Node {
        let number = nodes.count + 1
        let id = NodeID(bytes: [UInt8](repeating: UInt8(number), count: 32))!
        let node = Node(world: self, number: number, id: id, isSource: isSource)
        for (index, name) in databases.enumerated() {
            node.stores[name] = MemoryStore(timeline: UInt64(number) << 32 + UInt64(index))
        }
        nodes.append(node)
        return node
    }

    /// Joins two nodes by a fresh link.
    @discardableResult
    func connect(
        _ one: Node, _ other: Node, _ configure: (Node, inout LinkConfiguration) -> Void = { _, _ in }
    ) -> (LinkSide, LinkSide) {
        let sides = [(one, other), (other, one)].map { node, peer in
            var configuration = LinkConfiguration(
                localNode: node.id, peerNode: peer.id, nodeName: "node \(node.number)", softwareVersion: "1.0")
            configuration.localIsSource = node.isSource
            configuration.peerIsSource = peer.isSource
            configuration.capabilities = [FeedFilter.capability]
            configure(node, &configuration)
            return LinkSide(node: node, number: UInt64(ends.count + node.number * 1000), configuration)
        }
        for (side, other) in [(sides[0], sides[1]), (sides[1], sides[0])] {
            side.other = other
            side.node.sides.append(side)
            ends.append(side)
        }
        for side in sides {
            side.input(.wallClock(Int64(now) + 1_700_000_000_000 + side.node.clockSkew))
            side.input(.start(databases: side.node.carried))
        }
        return (sides[0], sides[1])
    }

    func schedule(after milliseconds: UInt64, _ action: @escaping () -> Void) {
        schedule(at: now + milliseconds, action)
    }

    func schedule(at time: UInt64, _ action: @escaping () -> Void) { self.time.schedule(at: time, action) }

    func delay() -> UInt64 { UInt64(random.below(latency + 1)) }

    private func nextDeadline() -> VirtualTime.Deadline? {
        var earliest: (time: UInt64, side: LinkSide)?
        for end in ends {
            guard let deadline = end.link.nextDeadline, deadline.milliseconds < earliest?.time ?? .max else { continue }
            earliest = (deadline.milliseconds, end)
        }
        return earliest.map { earliest in (earliest.time, { earliest.side.input(.deadline) }) }
    }

    /// Runs until the condition holds.
    /// - Returns: whether it came to hold within the time.
    @discardableResult
    func run(_ milliseconds: UInt64 = 60_000, until condition: () -> Bool = { false }) -> Bool {
        time.run(milliseconds, deadline: nextDeadline, until: condition)
    }
}

/// A node: databases, and the links to others.
final class Node {
    unowned let world: World
    let number: Int
    let id: NodeID
    let isSource: Bool
    var clockSkew: Int64 = 0
    var stores: [String: MemoryStore] = [:]
    var registries: [String: WantRegistry] = [:]
    /// Which ways its databases pass on a link that begins.
    var directions: [String: FeedDirections] = [:]
    var sides: [LinkSide] = []
    /// Why peers are not trusted.
    var distrust: String?
    /// The store works this much slower, in milliseconds.
    var storeDelay: UInt64 = 0
    /// What a reading found is known so much later at most, in milliseconds.
    var answerDelay = 0
    private var lastWrite: [String: UInt64] = [:]

    init(world: World, number: Int, id: NodeID, isSource: Bool) {
        self.world = world
        self.number = number
        self.id = id
        self.isSource = isSource
    }

    var store: MemoryStore { stores["db"]! }

    var carried: [CarriedDatabase] {
        stores.keys.sorted().map {
            CarriedDatabase(name: $0, summary: summary($0), directions: directions[$0] ?? .both)
        }
    }

    func summary(_ database: String) -> ReplicaSummary {
        let store = stores[database]!
        let broken = store.broken
        store.broken = nil
        defer { store.broken = broken }
        return try! store.summary()
    }

    func put(_ id: String, _ body: String, in database: String = "db") {
        stores[database]!.put(id, body)
        commit(database)
    }

    func delete(_ id: String) {
        store.delete(id)
        commit("db")
    }

    /// Tells the links of a commit.
    func commit(_ database: String) {
        let summary = summary(database)
        for side in sides { side.input(.localCommit(database: database, summary)) }
    }

    /// Carries out store work: writes in order, the rest as it comes.
    func work(_ request: StoreRequest, _ database: String, _ done: @escaping (StoreResult) -> Void) {
        var time = world.now + world.delay() + storeDelay
        if request.isWrite {
            time = max(time, lastWrite[database] ?? 0)
            lastWrite[database] = time
        }
        world.schedule(at: time) { [unowned self] in
            let before = summary(database)
            let result = perform(request, on: stores[database]!)
            if answerDelay > 0, !request.isWrite {
                return world.schedule(after: UInt64(world.random.below(answerDelay + 1))) { done(result) }
            }
            let isTold = request.isWrite && summary(database) != before
            // The shell may tell of a commit before or after it answers.
            if isTold, world.random.chance(1, in: 2) {
                commit(database)
                done(result)
            } else {
                done(result)
                if isTold { commit(database) }
            }
        }
    }
}

/// One end of a link with its shell.
final class LinkSide {
    let node: Node
    let number: UInt64
    var link: Link
    unowned var other: LinkSide!
    private(set) var events: [LinkEvent] = []
    private(set) var statuses: [String: SessionStatus] = [:]
    private(set) var ended: LinkEnd?
    private(set) var isClosed = false
    private(set) var sentBytes = 0
    /// Whether the other side does not read.
    var isStopped = false { didSet { if !isStopped { drain() } } }
    /// Whether what is sent is lost, as on a dead network.
    var isCut = false
    private var waiting: [UInt8] = []
    private var underWay = 0
    private var arrivedBytes: UInt64 = 0
    private var lastArrival: UInt64 = 0
    private(set) var mostWaiting = 0
    /// Answers to claims and such are inputs too; one input at a time.
    private var inputs: [LinkInput] = []
    private var isHandling = false

    init(node: Node, number: UInt64, _ configuration: LinkConfiguration) {
        self.node = node
        self.number = number
        link = Link(configuration)
    }

    private var world: World { node.world }

    var status: SessionStatus? { statuses["db"] }

    var isInSync: Bool { status?.isInSync == true }

    func input(_ input: LinkInput) {
        inputs.append(input)
        guard !isHandling else { return }
        isHandling = true
        while !inputs.isEmpty {
            let next = inputs.removeFirst()
            for directive in link.handle(next, now: Instant(milliseconds: world.now)) { perform(directive) }
        }
        isHandling = false
    }

    private func perform(_ directive: LinkDirective) {
        switch directive {
        case .send(let bytes): send(bytes)
        case .close(let end):
            ended = end
            close()
        case .store(let ticket, let database, let request):
            node.work(request, database) { [weak self] result in self?.input(.storeDone(ticket, result)) }
        case .judge:
            world.schedule(after: world.delay()) { [weak self] in
                guard let self else { return }
                self.input(.statementsJudged(refusal: self.node.distrust))
            }
        case .claim(let ticket, let database, let wants, let lookedAt):
            let answer = node.registries[database, default: WantRegistry()].claim(
                wants, lookedAt: lookedAt, by: number, now: Instant(milliseconds: world.now))
            inputs.append(.claimed(ticket, answer))
        case .releaseClaims(let database, let documents):
            node.registries[database]?.release(documents, by: number, now: Instant(milliseconds: world.now))
        case .releaseAllClaims(let database): node.registries[database]?.releaseAll(by: number)
        case .keepClaims(let database):
            node.registries[database]?.keep(by: number, now: Instant(milliseconds: world.now))
        case .report(let event):
            if case .status(let database, let status) = event {
                statuses[database] = status
            } else {
                events.append(event)
            }
        }
    }

    private func send(_ bytes: [UInt8]) {
        sentBytes += bytes.count
        if isCut { return }
        waiting += bytes
        mostWaiting = max(mostWaiting, waiting.count + underWay)
        if !isStopped { drain() }
    }

    private func drain() {
        var rest = waiting[...]
        waiting = []
        while !rest.isEmpty {
            let piece = Array(rest.prefix(1 + world.random.below(world.pieceBytes)))
            rest = rest.dropFirst(piece.count)
            underWay += piece.count
            lastArrival = max(lastArrival, world.now + world.delay())
            if let rate = world.bytesPerSecond { lastArrival += UInt64(piece.count) * 1_000 / rate }
            world.schedule(at: lastArrival) { [weak self] in
                guard let self else { return }
                self.underWay -= piece.count
                self.arrivedBytes += UInt64(piece.count)
                if !self.isCut, !self.other.isClosed { self.other.input(.received(piece)) }
                if self.world.bytesPerSecond != nil { self.input(.arrived(total: self.arrivedBytes)) }
                self.input(.sendBufferDrained(remaining: self.underWay + self.waiting.count))
            }
        }
    }

    /// The connection closes; the other end sees it after what was sent.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        for (name, _) in node.stores { node.registries[name]?.releaseAll(by: number) }
        node.sides.removeAll { $0 === self }
        let arrival = max(lastArrival, world.now + world.delay())
        if isCut { return }
        world.schedule(at: arrival) { [weak self] in
            guard let other = self?.other, !other.isClosed else { return }
            other.input(.disconnected)
            other.close()
        }
    }

    /// Sends bytes that no link made.
    func inject(_ message: Message) {
        var writer = CBORWriter()
        writer.append(frame: message)
        other.input(.received(writer.bytes))
    }

    /// The connection breaks on both ends.
    func breakConnection() {
        for side in [self, other!] where !side.isClosed {
            side.isCut = true
            side.input(.disconnected)
            side.close()
        }
    }
}

extension Link {
    /// Bytes that came under this side's credit and are not dealt with.
    var heldCredit: Int { configuration.windowBytes - output.credit.free }
}
