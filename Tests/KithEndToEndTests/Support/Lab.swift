import KithTestSupport
import Synchronization
import Testing

/// A folder and the nodes in it, for one test. However the test ends, the nodes are killed and the folder goes.
///
/// All nodes of a lab are asked throughout what they say of each other, and at its end no node may have called another in sync
/// whose digest differed for longer than a second. What they acknowledge is remembered, and looked for by `settle`.
final class Lab: Sendable {
    let folder: String
    let ledger = Ledger()
    private let nodes = Mutex<[TestNode]>([])
    private let truth = TruthPoller([])

    private init() throws { folder = try Files.temporaryFolder() }

    /// Runs a test that has that many nodes at one time. Tests wait for each other so that the machine has few nodes.
    static func open<Value>(
        nodes count: Int, sourceLocation: SourceLocation = #_sourceLocation, _ body: (Lab) async throws -> Value
    ) async throws -> Value {
        await Room.shared.enter(count)
        let result: Result<Value, any Error>
        do {
            let lab = try Lab()
            do { result = .success(try await body(lab)) } catch { result = .failure(error) }
            await lab.close(sourceLocation)
        } catch { result = .failure(error) }
        await Room.shared.leave(count)
        return try result.get()
    }

    private func close(_ sourceLocation: SourceLocation) async {
        truth.stop()
        let said = truth.record
        if !said.lies.isEmpty { Issue.record("\(said)", sourceLocation: sourceLocation) }
        let nodes = nodes.withLock { $0 }
        for node in nodes { node.kill() }
        for node in nodes { await node.ended() }
        Files.remove(folder)
    }

    /// A node that is in no group yet.
    func node(_ name: String, environment: [String] = []) -> TestNode {
        let node = TestNode(name, in: folder, ledger, environment: environment)
        ledger.add(name, node.socket)
        let all = nodes.withLock { nodes in
            nodes.append(node)
            return nodes
        }
        // One alone has nobody to speak of.
        for node in all.count == 2 ? all : [node] where all.count > 1 {
            truth.add(node.name, node.socket)
        }
        return node
    }

    /// Nodes of one new group, running and each connected to all others. The first is the admin.
    func group(_ count: Int, options: [String] = []) async throws -> [TestNode] {
        let nodes = TestNode.names.prefix(count).map { node($0) }
        let first = nodes[0]
        try await first.found("testers")
        try await first.start(options: options)
        let others = nodes.dropFirst()
        try await together(Array(others)) { try await $0.join(by: first) }
        for node in others { try await node.start(peers: nodes, options: options) }
        if count > 1 { try await together(nodes) { try await $0.kith("wait", "--peers", "\(count - 1)") } }
        return nodes
    }
}

/// Does something with all nodes at once.
func together(_ nodes: [TestNode], _ work: @escaping @Sendable (TestNode) async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        for node in nodes { group.addTask { try await work(node) } }
        try await group.waitForAll()
    }
}

/// Lets in as many nodes as a small machine can run; who waits longest is next.
private actor Room {
    static let shared = Room(places: 9)

    private var places: Int
    private var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    init(places: Int) { self.places = places }

    func enter(_ count: Int) async {
        if waiting.isEmpty, places >= count {
            places -= count
            return
        }
        await withCheckedContinuation { waiting.append((count, $0)) }
    }

    func leave(_ count: Int) {
        places += count
        while let next = waiting.first, places >= next.count {
            places -= next.count
            waiting.removeFirst().continuation.resume()
        }
    }
}
