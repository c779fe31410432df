import Dispatch
import KithDocument
import KithNetwork
import KithTestSupport
import KithTransport
import Testing

@testable import KithReplication

/// A member of the group that speaks the protocol as a test wants it: with its own certificate, and with none of the rules.
final class PatchedPeer: Sendable {
    private let connection: Connection
    private let ending = Shared<String?>(nil)
    private let isOpen = Shared(false)

    /// Connects with the identity of a node that does not run.
    init(as node: TestNode, to other: TestNode, reads: Bool) throws {
        let identity = try IdentityStore(directory: node.directory).load()
        let membership = Membership(trust: identity.trust)
        let context = try TLSContext(.member(identity, membership: membership) { false })
        let address = try #require(other.address)
        let endpoint = try Endpoint(peer: address)
        let (ending, isOpen) = (ending, isOpen)
        connection = try Connection.dial(endpoint, context) { connection, event in
            switch event {
            case .opened:
                if !reads { connection.setReading(false) }
                isOpen.change { $0 = true }
            case .closed(let how): ending.change { $0 = $0 ?? "\(how)" }
            case .finished:
                ending.change { $0 = "finished" }
                connection.finish()
            case .received, .drained, .acknowledged: break
            }
        }
    }

    deinit { connection.close() }

    /// Whether the handshake is over.
    var isConnected: Bool { isOpen.value }

    /// How the connection ended; nil while it is there.
    var end: String? { ending.value }

    func say(_ message: Message) {
        var writer = CBORWriter(capacity: 256)
        writer.append(frame: message)
        connection.send(writer.bytes)
    }

    func say(raw bytes: [UInt8]) { connection.send(bytes) }

    /// A hello with the largest window and no databases.
    func greet() {
        say(
            .hello(
                Hello(
                    versions: ProtocolVersions(1, 1), capabilities: [], nodeName: "patched", softwareVersion: "0",
                    statements: [], databases: [], window: UInt64(ReplicationLimits.maximumWindowBytes))))
    }
}
