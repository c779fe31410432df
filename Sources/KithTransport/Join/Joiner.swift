import Dispatch
import Glibc
import KithCrypto
import KithDocument
import KithNetwork
import Synchronization

/// The joiner's side: one attempt at one address. Nothing is written; what comes back is a whole identity or an error.
package enum Joiner {
    /// Joins by the node at the endpoint. The callback runs once, on a queue of its own.
    ///
    /// Another attempt at another address may follow every error but `.joinRefused` with `used`, `expired`, `burnt` or
    /// `cannotIssue`, which come from the right inviter.
    /// - Parameter keys: nil for new ones.
    /// - Throws: `.crypto`, `.tls`, `.invalidName` before anything is sent.
    package static func join(
        _ code: InviteCode, at endpoint: Endpoint, nodeName: String, timeouts: Connection.Timeouts = .init(),
        segmentBytes: Int? = nil, keys: NodeKeys? = nil,
        completion: @escaping @Sendable (Result<Identity, TransportError>) -> Void
    ) throws(TransportError) {
        try Identity.check(name: nodeName, of: "a node")
        let keys = if let keys { keys } else { try NodeKeys.generate() }
        let context = try TLSContext(.joiner(key: keys.node, shortFingerprint: code.shortFingerprint))
        let attempt = Attempt(
            code: code, nodeName: nodeName, key: keys.node, adminKey: keys.admin, completion: completion)
        _ = try Connection.dial(endpoint, context, timeouts: timeouts, segmentBytes: segmentBytes) {
            connection, event in
            attempt.handle(event, of: connection)
        }
    }

    /// As above, and waits for the end. Where large packets are lost on the way, it tries again with small ones, and where
    /// the inviter closes at once, a few times more.
    package static func join(
        _ code: InviteCode, at endpoint: Endpoint, nodeName: String, timeouts: Connection.Timeouts = .init()
    ) throws(TransportError) -> Identity {
        var sizes = TransportLimits.smallSegments[...]
        var segmentBytes: Int?
        var tries = 1
        while true {
            do throws(TransportError) {
                return try attempt(code, at: endpoint, nodeName, timeouts, segmentBytes)
            } catch {
                switch error {
                case .largePacketsLost where !sizes.isEmpty: segmentBytes = sizes.removeFirst()
                case .closedInHandshake where tries < TransportLimits.joinTries,
                    .system(_, ECONNRESET) where tries < TransportLimits.joinTries:
                    tries += 1
                    usleep(TransportLimits.joinPauseMilliseconds * 1_000)
                default: throw error
                }
            }
        }
    }

    private static func attempt(
        _ code: InviteCode, at endpoint: Endpoint, _ nodeName: String, _ timeouts: Connection.Timeouts,
        _ segmentBytes: Int?
    ) throws(TransportError) -> Identity {
        let semaphore = DispatchSemaphore(value: 0)
        let outcome = Mutex<Result<Identity, TransportError>?>(nil)
        try join(code, at: endpoint, nodeName: nodeName, timeouts: timeouts, segmentBytes: segmentBytes) { result in
            outcome.withLock { $0 = result }
            semaphore.signal()
        }
        semaphore.wait()
        guard let result = outcome.withLock({ $0 }) else { preconditionFailure("the semaphore follows the outcome") }
        return try result.get()
    }

    /// What one attempt holds.
    private final class Attempt: Sendable {
        private struct State {
            var framing = JoinFraming()
            var root: Certificate?
            var isDone = false
        }

        private let code: InviteCode
        private let nodeName: String
        private let key: PrivateKey
        private let adminKey: PrivateKey
        private let completion: @Sendable (Result<Identity, TransportError>) -> Void
        private let state = Mutex(State())

        init(
            code: InviteCode, nodeName: String, key: PrivateKey, adminKey: PrivateKey,
            completion: @escaping @Sendable (Result<Identity, TransportError>) -> Void
        ) {
            self.code = code
            self.nodeName = nodeName
            self.key = key
            self.adminKey = adminKey
            self.completion = completion
        }

        func handle(_ event: Connection.Event, of connection: Connection) {
            do throws(TransportError) {
                switch event {
                case .opened(let peer): try begin(peer, on: connection)
                case .received(let bytes):
                    let message = try state.withLock { state throws(TransportError) in try state.framing.take(bytes) }
                    guard let message else { return }
                    complete(.success(try identity(from: try JoinAnswer(encoded: message))))
                    connection.finish()
                case .finished: connection.finish()
                case .drained, .acknowledged: break
                case .closed(.failed(.refusedByPeer(alert: 120))): complete(.failure(.refused(.noInviteOpen)))
                case .closed(.failed(let error)): complete(.failure(error))
                case .closed: complete(.failure(.truncated))
                }
            } catch {
                complete(.failure(error))
                connection.close()
            }
        }

        /// The root was checked against the code during the handshake: from here on the secret may be proved.
        private func begin(_ peer: AuthenticatedPeer, on connection: Connection) throws(TransportError) {
            guard case .inviter(_, let root) = peer else { throw .refused(.wrongProtocol) }
            state.withLock { $0.root = root }
            let remote = connection.remote
            connection.queue.asyncAfter(deadline: .now() + .milliseconds(TransportLimits.joinMilliseconds)) {
                [weak connection] in
                self.complete(.failure(.timedOut("the answer of \(remote)")))
                connection?.close()
            }
            let exported = try connection.exportKey(label: InviteProof.exporterLabel)
            let infos = try crypto { () throws(CryptoError) in (try key.publicKeyInfo(), try adminKey.publicKeyInfo()) }
            let proof = InviteProof.make(
                verifier: InviteProof.verifier(ofSecret: code.secret), exported: exported,
                node: Identity.nodeID(ofPublicKeyInfo: infos.0))
            connection.send(JoinFraming.frame(JoinRequest(proof: proof, adminPublicKeyInfo: infos.1).encoded))
        }

        /// Checks all of the answer, as `Identity` does when it is made.
        private func identity(from answer: JoinAnswer) throws(TransportError) -> Identity {
            guard let root = state.withLock({ $0.root }) else { throw .malformed("an answer came before the question") }
            switch answer {
            case .refused(let refusal): throw .joinRefused(refusal)
            case .node(let groupName, let certificate, let issuer):
                let certificates = try crypto { () throws(CryptoError) in
                    (try Certificate(der: certificate), try Certificate(der: issuer))
                }
                return try Identity(
                    groupName: groupName, nodeName: nodeName, key: key, certificate: certificates.0,
                    issuer: certificates.1, root: root, adminKey: nil)
            case .admin(let groupName, let certificate, let number):
                let issuer = try crypto { () throws(CryptoError) in try Certificate(der: certificate) }
                let admin = try GroupAdmin(certificate: issuer, key: adminKey)
                let info = try crypto { () throws(CryptoError) in try key.publicKeyInfo() }
                return try Identity(
                    groupName: groupName, nodeName: nodeName, key: key,
                    certificate: try admin.issueNode(publicKeyInfo: info, role: .admin, number: number), issuer: issuer,
                    root: root, adminKey: adminKey)
            }
        }

        private func complete(_ result: Result<Identity, TransportError>) {
            let isFirst = state.withLock { state in
                defer { state.isDone = true }
                return !state.isDone
            }
            if isFirst { completion(result) }
        }
    }
}
