import KithDocument
import KithReplication
import KithStore
import KithTestSupport

@testable import KithNode

/// Nodes with real stores in one process, joined by real links over pipes, on virtual time from one seed. What happens to
/// their directories is up to the test; the shell around stores and links is the least there can be.
final class StoreMesh {
    static let wallClockStart: Int64 = 1_700_000_000_000

    private let time = VirtualTime()
    var now: UInt64 { time.now }
    private var lastEnd: UInt64 = 0
    var random: SeededGenerator
    private(set) var nodes: [MeshNode] = []
    fileprivate var ends: [MeshEnd] = []
    /// The longest that bytes and store work take, in milliseconds.
    var latency = 3
    let folder: TestFolder

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        folder = TestFolder()
    }

    /// Adds a node with the databases open.
    func add(_ databases: [String] = ["db"]) throws -> MeshNode {
        let node = try MeshNode(self, number: nodes.count + 1, databases)
        nodes.append(node)
        try node.start()
        return node
    }

    /// The same, in so many.
    func add(nodes count: Int) throws -> [MeshNode] { try (0..<count).map { _ in try add() } }

    // MARK: Links

    /// Joins two nodes by a fresh link, unless they are joined.
    func connect(_ one: MeshNode, _ other: MeshNode) {
        guard one !== other, one.isRunning, other.isRunning, link(one, other) == nil else { return }
        let sides = [(one, other), (other, one)].map { node, peer in
            let configuration = LinkConfiguration(
                localNode: node.id, peerNode: peer.id, nodeName: "node \(node.number)", softwareVersion: "1.0")
            lastEnd += 1
            return MeshEnd(node: node, peer: peer, number: lastEnd, configuration)
        }
        for (side, other) in [(sides[0], sides[1]), (sides[1], sides[0])] {
            side.other = other
            ends.append(side)
        }
        for side in sides {
            side.input(.wallClock(Self.wallClockStart + Int64(now)))
            side.input(.start(databases: side.node.carried))
        }
    }

    /// Joins all that run to all.
    func connectAll() {
        for one in nodes { for other in nodes where one.number < other.number { connect(one, other) } }
    }

    fileprivate func link(_ one: MeshNode, _ other: MeshNode) -> MeshEnd? {
        ends.first { $0.node === one && $0.peer === other && !$0.isClosed }
    }

    /// What a link says of a database.
    func status(_ one: MeshNode, _ other: MeshNode, _ database: String = "db") -> SessionStatus? {
        link(one, other)?.statuses[database]
    }

    /// What the links of two nodes told since the beginning, of one side.
    func events(_ one: MeshNode, _ other: MeshNode) -> [LinkEvent] {
        ends.filter { $0.node === one && $0.peer === other }.flatMap(\.events)
    }

    /// How often links of two nodes have ended by an error of the protocol.
    var protocolErrors: [String] {
        ends.compactMap { $0.ended }.filter { $0.goodbye.code == .protocolError }.map(\.goodbye.text)
    }

    func disconnect(_ one: MeshNode, _ other: MeshNode) {
        guard let side = link(one, other) else { return }
        for end in [side, side.other!] where !end.isClosed {
            end.isCut = true
            end.input(.disconnected)
            end.close()
        }
    }

    func disconnectAll(of node: MeshNode) { for other in nodes where other !== node { disconnect(node, other) } }

    // MARK: Time

    func schedule(at time: UInt64, _ action: @escaping () -> Void) { self.time.schedule(at: time, action) }

    func delay() -> UInt64 { UInt64(random.below(latency + 1)) }

    private func nextDeadline() -> VirtualTime.Deadline? {
        var earliest: (time: UInt64, end: MeshEnd)?
        for end in ends where !end.isClosed {
            guard let deadline = end.link.nextDeadline, deadline.milliseconds < earliest?.time ?? .max else { continue }
            earliest = (deadline.milliseconds, end)
        }
        return earliest.map { earliest in (earliest.time, { earliest.end.input(.deadline) }) }
    }

    /// Runs until the condition holds, for so many milliseconds at most.
    @discardableResult
    func run(_ milliseconds: UInt64 = 60_000, until condition: () -> Bool = { false }) -> Bool {
        time.run(milliseconds, deadline: nextDeadline, until: condition)
    }

    /// Joins all that run, again where links break, and runs until each calls each in sync.
    /// - Returns: whether that came to pass, within virtual minutes.
    func settle(_ database: String = "db", minutes: UInt64 = 5) -> Bool {
        let running = nodes.filter(\.isRunning)
        for _ in 0..<(minutes * 12) {
            connectAll()
            let isDone = run(5_000) {
                running.allSatisfy { one in
                    running.allSatisfy { other in
                        one === other || self.status(one, other, database)?.isInSync == true
                    }
                }
            }
            if isDone { return true }
        }
        return false
    }
}

/// One end of a link with its shell.
final class MeshEnd {
    let node: MeshNode
    let peer: MeshNode
    let number: UInt64
    var link: Link
    var other: MeshEnd!
    private(set) var events: [LinkEvent] = []
    private(set) var statuses: [String: SessionStatus] = [:]
    private(set) var ended: LinkEnd?
    private(set) var isClosed = false
    var isCut = false
    private var underWay = 0
    private var lastArrival: UInt64 = 0
    private var inputs: [LinkInput] = []
    private var isHandling = false

    init(node: MeshNode, peer: MeshNode, number: UInt64, _ configuration: LinkConfiguration) {
        self.node = node
        self.peer = peer
        self.number = number
        link = Link(configuration)
    }

    private var mesh: StoreMesh { node.mesh }

    func input(_ input: LinkInput) {
        guard !isClosed else { return }
        inputs.append(input)
        guard !isHandling else { return }
        isHandling = true
        while !inputs.isEmpty {
            let next = inputs.removeFirst()
            for directive in link.handle(next, now: Instant(milliseconds: mesh.now)) { perform(directive) }
        }
        isHandling = false
    }

    private func perform(_ directive: LinkDirective) {
        let now = Instant(milliseconds: mesh.now)
        switch directive {
        case .send(let bytes): send(bytes)
        case .close(let end):
            ended = end
            close()
        case .store(let ticket, let database, let request):
            node.work(request, database) { [weak self] result in self?.input(.storeDone(ticket, result)) }
        case .judge:
            mesh.schedule(at: mesh.now + mesh.delay()) { [weak self] in self?.input(.statementsJudged(refusal: nil)) }
        case .claim(let ticket, let database, let wants, let lookedAt):
            let answer = node.registries[database, default: WantRegistry()].claim(
                wants, lookedAt: lookedAt, by: number, now: now)
            inputs.append(.claimed(ticket, answer))
        case .releaseClaims(let database, let documents):
            node.registries[database]?.release(documents, by: number, now: now)
        case .releaseAllClaims(let database): node.registries[database]?.releaseAll(by: number)
        case .keepClaims(let database): node.registries[database]?.keep(by: number, now: now)
        case .report(let event):
            if case .status(let database, let status) = event {
                statuses[database] = status
            } else {
                events.append(event)
            }
        }
    }

    private func send(_ bytes: [UInt8]) {
        if isCut { return }
        underWay += bytes.count
        lastArrival = max(lastArrival, mesh.now + mesh.delay())
        mesh.schedule(at: lastArrival) { [weak self] in
            guard let self else { return }
            self.underWay -= bytes.count
            if !self.isCut, !self.other.isClosed { self.other.input(.received(bytes)) }
            self.input(.sendBufferDrained(remaining: self.underWay))
        }
    }

    /// The connection closes; the other end sees it after what was sent.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        for name in node.names { node.registries[name]?.releaseAll(by: number) }
        if isCut { return }
        mesh.schedule(at: max(lastArrival, mesh.now + mesh.delay())) { [weak self] in
            guard let other = self?.other, !other.isClosed else { return }
            other.input(.disconnected)
            other.close()
        }
    }
}

extension StoreMesh {
    /// The open ends of a node's links.
    fileprivate func openEnds(of node: MeshNode) -> [MeshEnd] { ends.filter { $0.node === node && !$0.isClosed } }

    func tell(_ node: MeshNode, _ input: LinkInput) { for end in openEnds(of: node) { end.input(input) } }
}
