import Dispatch
import Glibc
import KithDocument
import KithNetwork
import KithTransport
import Synchronization

/// Whether a node of the group answers at an address, tried as the node itself dials: with TLS and this node's identity.
/// The connection carries nothing and is closed at once.
enum DialProbe {
    struct Target: Sendable {
        let node: NodeID?
        let endpoint: Endpoint
    }

    /// Dials all at once. Blocks until all have answered or failed, at most so long.
    /// - Parameter own: this node's identity; who else shows it has the outcome `sameIdentity`.
    static func run(_ targets: [Target], as own: NodeID, context: TLSContext, milliseconds: Int)
        -> [DoctorFacts.DialOutcome]
    {
        let group = DispatchGroup()
        let dials = targets.map { target in
            group.enter()
            return Dial(target, as: own) { group.leave() }
        }
        for dial in dials { dial.begin(context) }
        _ = group.wait(timeout: .now() + .milliseconds(milliseconds))
        return dials.map { $0.end() }
    }

    private final class Dial: Sendable {
        private struct State {
            var connection: Connection?
            var outcome: DoctorFacts.DialOutcome?
            var isDone = false
        }

        private let target: Target
        private let own: NodeID
        private let done: @Sendable () -> Void
        private let state = Mutex(State())

        init(_ target: Target, as own: NodeID, done: @escaping @Sendable () -> Void) {
            self.target = target
            self.own = own
            self.done = done
        }

        func begin(_ context: TLSContext) {
            var timeouts = Connection.Timeouts()
            timeouts.connectMilliseconds = DoctorLimits.dialMilliseconds
            timeouts.handshakeMilliseconds = DoctorLimits.dialMilliseconds
            do throws(TransportError) {
                let connection = try Connection.dial(target.endpoint, context, timeouts: timeouts) {
                    connection, event in
                    self.heard(event, connection)
                }
                state.withLock { $0.connection = connection }
            } catch { decide(.failed(error.message)) }
        }

        private func heard(_ event: Connection.Event, _ connection: Connection) {
            switch event {
            case .opened(.member(let peer)):
                if peer.nodeID == own {
                    decide(.sameIdentity)
                    return connection.close()
                }
                if let node = target.node, node != peer.nodeID {
                    decide(.wrongNode(peer.nodeID.short))
                    return connection.close()
                }
                // The other side judges this node after its own end of the handshake.
                connection.queue.asyncAfter(deadline: .now() + .milliseconds(DoctorLimits.refusalMilliseconds)) {
                    self.decide(.answered)
                    connection.close()
                }
            case .opened: connection.close()
            case .received:
                decide(.answered)
                connection.close()
            case .closed(.failed(let error)): decide(Self.outcome(error))
            case .closed: decide(.failed("the peer closed the connection"))
            case .drained, .acknowledged, .finished: break
            }
        }

        private func decide(_ outcome: DoctorFacts.DialOutcome) {
            let isFirst = state.withLock { state in
                guard !state.isDone else { return false }
                state.outcome = outcome
                state.isDone = true
                return true
            }
            if isFirst { done() }
        }

        func end() -> DoctorFacts.DialOutcome {
            let (connection, outcome) = state.withLock { ($0.connection, $0.outcome) }
            connection?.close()
            return outcome ?? .noAnswer
        }

        private static func outcome(_ error: TransportError) -> DoctorFacts.DialOutcome {
            switch error {
            case .system(_, ECONNREFUSED): .refused
            case .system(_, EHOSTUNREACH), .system(_, ENETUNREACH): .unreachable
            case .system(_, ETIMEDOUT), .timedOut: .noAnswer
            case .refused(.wrongNode(let node)): .wrongNode(node.short)
            case .refused(.notInGroup), .refused(.noCertificate), .refused(.malformedCertificate): .otherGroup
            case .refusedByPeer(48): .otherGroup
            case .refusedByPeer: .refusedThere(error.message)
            default: .failed(error.message)
            }
        }
    }
}
