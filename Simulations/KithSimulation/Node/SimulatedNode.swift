import KithDocument
import KithNode
import KithReplication
import KithStore
import KithTestSupport
import KithVirtualDisk
import Synchronization

/// A link of a node, from the moment that it dials or is dialled.
struct NodeLink {
    enum Phase {
        /// The connection is not there yet.
        case dialling
        /// It is there, and waits for the place of another; what came meanwhile.
        case waiting([UInt8])
        case running(Link)
    }

    let connection: UInt64
    /// 0 where this node dialled, 1 where it was dialled.
    let end: Int
    let peer: Int
    var phase: Phase
    var establishedAt = Instant(milliseconds: 0)
    var lastHeard = Instant(milliseconds: 0)
    /// The moment for which a deadline is set.
    var deadline: Instant?
    /// The last deadline that it was told of, and how often at that moment.
    var lastDeadline: Instant?
    var deadlinesAtOnce = 0
    /// What the link last said of each database.
    var statuses: [SessionStatus?]
    /// Whether both sides have said hello.
    var isOpened = false

    var isDialled: Bool { end == 0 }
}

/// A node of the simulated mesh: the real stores, links and mesh logic, and what the shell of a node does around them.
final class SimulatedNode {
    let index: Int
    let id: NodeID
    let disk = VirtualDisk()
    /// The process that runs, or ran last.
    private(set) lazy var process = disk.start()
    /// Counts the processes: what belongs to an earlier one is dropped.
    private(set) var incarnation = 0
    private(set) var isRunning = false
    /// Whether the machine answers while no process runs.
    var isPowered = true
    /// The process does nothing before this time.
    var pausedUntil: UInt64 = 0
    /// What the kernel keeps for a paused process.
    var pausedDeliveries: [VirtualNetwork.Delivery] = []
    var skewMilliseconds: Int64 = 0

    var databases: [SimulatedDatabase] = []
    /// Ascending by connection.
    var links: [NodeLink] = []
    var arbiter: LinkArbiter
    var dials: DialSchedule<NodeID>
    /// By database the link that fills it while it is empty; the others wait.
    var filling: [UInt64?] = []
    let selection: MeshSelection
    private let root: SeededGenerator

    init(index: Int, random: SeededGenerator) {
        self.index = index
        root = random
        var ids = random.forked("id")
        id = NodeID(bytes: (0..<32).map { _ in UInt8(truncatingIfNeeded: ids.next()) })!
        selection = MeshSelection(node: id, isReader: false)
        arbiter = LinkArbiter(node: id)
        dials = DialSchedule(random: { 0 })
    }

    /// A process begins: everything but the stores is new.
    func begin() {
        process = disk.start()
        incarnation += 1
        isRunning = true
        isPowered = true
        pausedUntil = 0
        links = []
        arbiter = LinkArbiter(node: id)
        let source = RandomSource(random(of: "dials"))
        dials = DialSchedule(random: { source.next() })
    }

    /// The process is gone, whatever it was doing.
    func end() {
        // What it has not written yet it never writes.
        process.kill()
        isRunning = false
        incarnation += 1
        databases = []
        links = []
        pausedDeliveries = []
    }

    /// A generator of this process.
    func random(of name: StaticString) -> SeededGenerator {
        var forked = root.forked(name)
        for _ in 0..<incarnation { _ = forked.next() }
        return SeededGenerator(seed: forked.next())
    }

    func linkIndex(_ connection: UInt64) -> Int? { links.firstIndex { $0.connection == connection } }

    func name(of other: Int) -> String { "node-\(other)" }
}

/// A generator behind a reference, for the closures that the product takes.
final class RandomSource: Sendable {
    private let generator: Mutex<SeededGenerator>

    init(_ generator: SeededGenerator) { self.generator = Mutex(generator) }

    func next() -> UInt64 { generator.withLock { $0.next() } }
}
