import Dispatch
import Glibc
import KithDiscovery
import KithDocument
import KithNetwork
import KithSystem
import KithTestSupport
import Testing

@testable import KithNode

/// Two running nodes on real connections that dial each other in the same moment, again and again.
@Suite(.timeLimit(.minutes(10))) struct SimultaneousDialTests {
    /// What a node has to say about the one peer.
    private struct View: Sendable, Equatable {
        var drivers = 0
        var dials = 0
        var isOpen = false
        var isDialled: Bool?
        var tieBreak: UInt64?
    }

    private static func view(_ node: Node, of peer: NodeID) async -> View {
        await on(node) { node in
            let driver = node.peers[peer]?.link.flatMap { node.drivers[$0] }
            return View(
                drivers: node.drivers.count, dials: node.attempts.count, isOpen: node.peers[peer]?.isOpen == true,
                isDialled: driver?.isDialled, tieBreak: driver?.tieBreak)
        }
    }

    private static func on<Value: Sendable>(_ node: Node, _ body: @escaping @Sendable (Node) -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            node.queue.async { continuation.resume(returning: body(node)) }
        }
    }

    @Test func ofTwoHundredSimultaneousDialsExactlyOneLinkRemainsEachTime() async throws {
        let pair = try await NodePair()
        let (one, other) = (pair.one, pair.other)
        var dialledByLower = 0
        for round in 0..<200 {
            for node in [one, other] { await Self.on(node) { node in node.setPause(nil, until: nil) { _ in } } }
            let isApart = await eventually(within: 60) {
                for (node, peer) in [(one, other), (other, one)] {
                    let view = await Self.view(node, of: peer.id)
                    if view.isOpen || view.drivers > 0 || view.dials > 0 { return false }
                }
                return true
            }
            try #require(isApart, "round \(round): still linked")
            for node in [one, other] { node.queue.async { try? node.endPause(nil) { _ in } } }
            var views = (View(), View())
            let isLinked = await eventually(within: 60) {
                views = (await Self.view(one, of: other.id), await Self.view(other, of: one.id))
                // It is the same connection, seen from its two ends: not each side's own, of which one is to go yet.
                return views.0.isOpen && views.1.isOpen && views.0.drivers == 1 && views.1.drivers == 1
                    && views.0.dials == 0 && views.1.dials == 0
                    && views.0.tieBreak == views.1.tieBreak && views.0.tieBreak != nil
            }
            try #require(isLinked, "round \(round): \(views)")
            try #require(views.0.isDialled != views.1.isDialled, "round \(round): \(views)")
            let lower = one.id < other.id ? views.0 : views.1
            if lower.isDialled == true { dialledByLower += 1 }
        }
        print("of 200 simultaneous dials the lower id's stayed \(dialledByLower) times")
        await pair.stop()
    }
}

/// Two nodes of a group in this process, each with the other's address.
final class NodePair: Sendable {
    let one: Node
    let other: Node
    private let folder = TemporaryDirectory()
    private let way: SlowProxy?

    /// - Parameters:
    ///   - bytesPerSecond: of the way between the two, which the one alone dials then.
    ///   - beforeDial: called before the one knows where the other is.
    init(
        bytesPerSecond: Int? = nil, beforeDial: (_ one: Node, _ other: Node) throws -> Void = { _, _ in }
    ) async throws {
        let path = folder.path
        let directories = try ["one", "other"].map { try NodeDirectory(option: "\(path)/\($0)") }
        _ = try NodeSetup.initialise(directories[0], groupName: "pair", nodeName: "one", rootFile: nil)
        let one = try Self.start(directories[0], peers: [])
        let code = try await NodeService(one).invite(ControlInvite()).code
        let address = try #require(one.listening.first)
        _ = try await onThread { () throws(NodeError) in
            try NodeSetup.join(directories[1], code: code, nodeName: "other", peer: address)
        }
        // Who joined knows where it was let in, and would take the fast way.
        if bytesPerSecond != nil { unlink("\(directories[1].path)/peers") }
        let other = try Self.start(directories[1], peers: bytesPerSecond == nil ? [address] : [])
        self.one = one
        self.other = other
        // It learns the other's address by being dialled; from now on it dials too.
        let otherAddress = try #require(other.listening.first)
        let otherPort = try #require(UInt16(otherAddress.split(separator: ":").last ?? ""))
        way = try bytesPerSecond.map { try SlowProxy(to: otherPort, bytesPerSecond: $0) }
        let port = way?.port ?? otherPort
        let id = other.id
        try beforeDial(one, other)
        await withCheckedContinuation { continuation in
            one.queue.async {
                one.book.reached(id, at: Endpoint(host: "127.0.0.1", port: port))
                one.evaluate()
                continuation.resume()
            }
        }
    }

    private static func start(_ directory: NodeDirectory, peers: [String]) throws -> Node {
        let log = Log()
        _ = log.configure("error")
        var configuration = NodeConfiguration(directory: directory, log: log)
        configuration.listen = "127.0.0.1:0"
        configuration.peers = peers
        configuration.usesDiscovery = false
        let node = try Node(configuration)
        try node.start()
        return node
    }

    func stop() async {
        for node in [one, other] { await withCheckedContinuation { done in node.stop { done.resume() } } }
        way?.stop()
    }
}
