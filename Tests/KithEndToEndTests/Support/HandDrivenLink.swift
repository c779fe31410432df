import KithCrypto
import KithDocument
import KithNetwork
import Synchronization
import Testing

@testable import KithReplication
@testable import KithTransport

/// A link with a member's real certificate and a program of the test's own behind it: it says what it is told to, and notes
/// what it hears. It answers pings, so that it is not taken for dead.
final class HandDrivenLink: Sendable {
    private struct State {
        var decoder = FrameDecoder()
        var heard: [Message] = []
        var ending: Connection.Ending?
        var isOpen = false
    }

    let identity: Identity
    private let state = Mutex(State())
    private let connection = Mutex<Connection?>(nil)

    /// Dials a running node as the member whose directory this is; that member must not run itself.
    init(as member: TestNode, to node: TestNode) throws {
        identity = try IdentityStore(directory: member.directory).load()
        let membership = Membership(trust: identity.trust)
        let context = try TLSContext(.member(identity, membership: membership) { false })
        let endpoint = try Endpoint(try #require(node.address), defaultPort: 1)
        let dialled = try Connection.dial(endpoint, context) { [weak self] connection, event in
            self?.handle(event, connection)
        }
        connection.withLock { $0 = dialled }
    }

    private func handle(_ event: Connection.Event, _ connection: Connection) {
        switch event {
        case .opened: state.withLock { $0.isOpen = true }
        case .received(let bytes):
            let pings = state.withLock { state -> [Heartbeat] in
                state.decoder.append(Array(bytes))
                var pings: [Heartbeat] = []
                while let frame = try? state.decoder.next(), let message = try? Message(frame) {
                    if case .ping(let ping) = message { pings.append(ping) }
                    state.heard.append(message)
                }
                return pings
            }
            for ping in pings { send(.pong(Heartbeat(nonce: ping.nonce, wallClock: nil)), over: connection) }
        case .finished: connection.finish()
        case .closed(let ending): state.withLock { $0.ending = ending }
        case .drained, .acknowledged: break
        }
    }

    func send(_ message: Message) {
        guard let connection = connection.withLock({ $0 }) else { return }
        send(message, over: connection)
    }

    private func send(_ message: Message, over connection: Connection) {
        var writer = CBORWriter()
        _ = writer.append(frame: message)
        connection.send(writer.bytes)
    }

    /// A hello as a node of this version says it, but for what a test changes.
    func sayHello(_ change: (inout Hello) -> Void = { _ in }) {
        var hello = Hello(
            versions: .supported, capabilities: [], nodeName: identity.nodeName, softwareVersion: "by hand",
            statements: [], databases: [], window: 1 << 20)
        change(&hello)
        send(.hello(hello))
    }

    /// What was heard so far.
    var heard: [Message] { state.withLock { $0.heard } }

    /// The peer's goodbye, once it came.
    var goodbye: Goodbye? {
        heard.compactMap { message in if case .goodbye(let goodbye) = message { goodbye } else { nil } }.first
    }

    var ending: Connection.Ending? { state.withLock { $0.ending } }

    func close() { connection.withLock { $0 }?.close() }

    deinit { close() }

    /// Pings, and waits for the answer: what was said before was looked at then.
    func roundTrip(_ nonce: UInt64 = 4_711) async throws {
        send(.ping(Heartbeat(nonce: nonce, wallClock: nil)))
        let answered = try await eventually(within: 20) {
            self.goodbye != nil
                || self.heard.contains { if case .pong(let pong) = $0 { pong.nonce == nonce } else { false } }
        }
        #expect(answered, "no pong; \(String(describing: ending))")
    }
}

/// A statement with a member's certificate in the place of an admin's, signed by that member over the very bytes that an
/// admin would sign.
func forgedStatement(_ content: StatementContent, by liar: Identity) throws -> [UInt8] {
    var body = FieldWriter()
    let kind: UInt8
    switch content {
    case .revocation(let node):
        kind = 1
        body.write(fixed: node.bytes)
    case .policy(let database, let number, let json):
        kind = 2
        body.write(string: Array(database.utf8))
        body.write(number: number)
        body.write(string: json)
    case .role(let node, let role, let number):
        kind = 3
        body.write(fixed: node.bytes)
        body.write(byte: role.rawValue)
        body.write(number: number)
    }
    var signed = FieldWriter()
    signed.write(fixed: Array("kith statement 1\0".utf8))
    signed.write(fixed: liar.trust.root.fingerprint)
    signed.write(byte: kind)
    signed.write(string: body.bytes)
    var writer = FieldWriter()
    writer.write(fixed: Array("KS".utf8) + [1, kind])
    writer.write(string: body.bytes)
    writer.write(string: liar.certificate.der)
    writer.write(string: try liar.key.sign(signed.bytes))
    return writer.bytes
}
