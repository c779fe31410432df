import Dispatch
import KithCrypto
import KithDocument
import KithNetwork
import KithTestSupport
import Synchronization

@testable import KithTransport

/// A group with its root and members, for tests.
struct TestGroup {
    let root: GroupRoot
    let first: Identity

    var trust: GroupTrust { first.trust }
    var admin: GroupAdmin { first.admin! }

    init(name: String = "ward seven") throws {
        (first, root) = try Identity.createGroup(name: name, nodeName: "first")
    }

    /// A member with a new key.
    func member(
        _ role: Role = .writer, number: UInt64 = 1, admin: GroupAdmin? = nil,
        change: (inout CertificateTemplate) -> Void = { _ in }
    ) throws -> Identity {
        let key = try PrivateKey.generate()
        let admin = admin ?? self.admin
        let certificate = try admin.issueNode(
            publicKeyInfo: try key.publicKeyInfo(), role: role, number: number, change)
        return try Identity(
            groupName: first.groupName, nodeName: "member", key: key, certificate: certificate,
            issuer: admin.certificate, root: root.certificate, adminKey: nil)
    }

    /// A second admin, made by the root.
    func secondAdmin() throws -> Identity {
        let key = try PrivateKey.generate()
        let adminKey = try PrivateKey.generate()
        let info = try key.publicKeyInfo()
        let admin = try root.makeAdmin(node: Identity.nodeID(ofPublicKeyInfo: info), key: adminKey, number: 1)
        return try Identity(
            groupName: first.groupName, nodeName: "second", key: key,
            certificate: try admin.issueNode(publicKeyInfo: info, role: .admin, number: 1), issuer: admin.certificate,
            root: root.certificate, adminKey: adminKey)
    }
}

extension TLSContext {
    static func member(
        _ identity: Identity, membership: Membership? = nil, acceptsJoin: @escaping @Sendable () -> Bool = { false }
    ) throws -> TLSContext {
        try TLSContext(
            .member(identity, membership: membership ?? Membership(trust: identity.trust), acceptsJoin: acceptsJoin))
    }
}

/// What happened to a connection, waited for with an upper limit.
final class Recorder: Sendable {
    struct Seen {
        var peer: AuthenticatedPeer?
        var bytes: [UInt8] = []
        var count = 0
        var drained = 0
        var acknowledged: UInt64 = 0
        var finished = false
        var ending: Connection.Ending?
    }

    private struct State {
        var seen = Seen()
        var waiters: [Waiter] = []
    }

    private struct Waiter: Sendable {
        let id: Int
        let condition: @Sendable (Seen) -> Bool
        let continuation: CheckedContinuation<Seen?, Never>
    }

    private let state = Mutex(State())
    private let nextID = Atomic(0)
    private let keepsBytes: Bool
    private let react: @Sendable (Connection, Connection.Event) -> Void

    init(keepsBytes: Bool = true, react: @escaping @Sendable (Connection, Connection.Event) -> Void = { _, _ in }) {
        self.keepsBytes = keepsBytes
        self.react = react
    }

    var now: Seen { state.withLock { $0.seen } }

    func handle(_ connection: Connection, _ event: Connection.Event) {
        note(event)
        react(connection, event)
    }

    /// Notes an event without reacting to it.
    func note(_ event: Connection.Event) {
        change { seen in
            switch event {
            case .opened(let peer): seen.peer = peer
            case .received(let bytes):
                seen.count += bytes.count
                if keepsBytes { seen.bytes.append(contentsOf: bytes) }
            case .drained: seen.drained += 1
            case .acknowledged(let total): seen.acknowledged = total
            case .finished: seen.finished = true
            case .closed(let ending): seen.ending = ending
            }
        }
    }

    func opened(by peer: AuthenticatedPeer) { change { $0.peer = peer } }

    private func change(_ body: (inout Seen) -> Void) {
        let (seen, due) = state.withLock { state -> (Seen, [Waiter]) in
            body(&state.seen)
            let seen = state.seen
            let due = state.waiters.filter { $0.condition(seen) }
            let ids = Set(due.map(\.id))
            state.waiters.removeAll { ids.contains($0.id) }
            return (seen, due)
        }
        for waiter in due { waiter.continuation.resume(returning: seen) }
    }

    /// Waits until the condition holds; nil when it did not within the seconds.
    @discardableResult
    func wait(seconds: Int = 30, until condition: @escaping @Sendable (Seen) -> Bool) async -> Seen? {
        let id = nextID.add(1, ordering: .relaxed).newValue
        return await withCheckedContinuation { continuation in
            let holds = state.withLock { state -> Seen? in
                if condition(state.seen) { return state.seen }
                state.waiters.append(Waiter(id: id, condition: condition, continuation: continuation))
                return nil
            }
            if let holds { return continuation.resume(returning: holds) }
            DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) {
                let waiter = self.state.withLock { state -> Waiter? in
                    guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
                    return state.waiters.remove(at: index)
                }
                waiter?.continuation.resume(returning: nil)
            }
        }
    }

    func ending(seconds: Int = 30) async -> Connection.Ending? {
        await wait(seconds: seconds) { $0.ending != nil }?.ending
    }
}

/// A listener on loopback whose accepted connections are recorded.
struct TestServer {
    let listener: Listener
    let recorder: Recorder
    private let accepted: Shared<[Connection]>

    var connections: [Connection] { accepted.value }
    var endpoint: Endpoint { Endpoint(host: "127.0.0.1", port: listener.port) }

    init(
        _ context: TLSContext, timeouts: Connection.Timeouts = .init(), pendingPerAddress: Int = 16,
        graceMilliseconds: Int = TransportLimits.handshakeGraceMilliseconds, recorder: Recorder = Recorder()
    ) throws {
        let accepted = Shared<[Connection]>([])
        self.accepted = accepted
        self.recorder = recorder
        listener = try Listener(
            Endpoint(host: "::", port: 0), orNextPort: false, context: context, timeouts: timeouts,
            pendingPerAddress: pendingPerAddress, graceMilliseconds: graceMilliseconds
        ) { connection, peer in
            recorder.opened(by: peer)
            accepted.change { $0.append(connection) }
            return recorder.handle
        }
    }
}
