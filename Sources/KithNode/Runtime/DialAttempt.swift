import Dispatch
import KithDiscovery
import KithDocument
import KithNetwork
import KithSystem
import KithTransport

/// Whom to dial: a node, or an address of the static list of which nobody knows whose it is.
enum DialTarget: Hashable, Comparable, Sendable {
    case node(NodeID)
    case address(String)

    var node: NodeID? { if case .node(let node) = self { node } else { nil } }

    static func < (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.node(let one), .node(let other)): one < other
        case (.address(let one), .address(let other)): one.utf8.lexicographicallyPrecedes(other.utf8)
        case (.node, .address): true
        case (.address, .node): false
        }
    }
}

/// One attempt to reach a target: its addresses raced, each begun a little after the one before. The first connection
/// that is authenticated wins, and the others are closed.
///
/// Used on the node's queue only.
final class DialAttempt {
    enum Outcome {
        case connected(any Channel, PeerIdentity, Endpoint, tieBreak: UInt64)
        case failed(Endpoint, String, TransportError?)
        /// Nothing is left to try.
        case exhausted
    }

    let target: DialTarget
    private let queue: any WorkQueue
    private let transport: any Transport
    private let segmentBytes: Int?
    private let report: (DialAttempt, Outcome) -> Void
    private var waiting: [Endpoint]
    private var tried: Set<Endpoint> = []
    private var open: [Int: any Channel] = [:]
    private var lastNumber = 0
    private var resolving = 0
    private var isOver = false

    init(
        _ target: DialTarget, addresses: [Endpoint], segmentBytes: Int?, queue: any WorkQueue, transport: any Transport,
        report: @escaping (DialAttempt, Outcome) -> Void
    ) {
        self.target = target
        self.queue = queue
        self.transport = transport
        self.segmentBytes = segmentBytes
        self.report = report
        waiting = addresses
    }

    /// Begins.
    /// - Parameter services: to be asked anew where they are; what they answer is tried first.
    func start(services: [InstanceName], _ discovery: (any DiscoveryService)?) {
        let run = Unchecked(self)
        for service in services {
            guard let discovery else { continue }
            resolving += 1
            discovery.resolve(service) { [queue] result in
                queue.async {
                    let attempt = run.value
                    attempt.resolving = max(0, attempt.resolving - 1)
                    if case .success(let resolution) = result {
                        attempt.waiting.insert(contentsOf: resolution.addresses.map { .numeric($0.address) }, at: 0)
                    }
                    attempt.dialNext()
                }
            }
        }
        if resolving == 0 { return dialNext() }
        // What discovery knew before is tried too, should the answer be long in coming.
        queue.async(afterMilliseconds: NodeLimits.dialStaggerMilliseconds * 2) {
            run.value.dialNext()
        }
        // Nor is the end of the attempt put off by it: where many nodes are gone, their answers are waited for one by one.
        queue.async(afterMilliseconds: Int(NodeLimits.dialTimeoutMilliseconds)) {
            run.value.resolving = 0
            run.value.dialNext()
        }
    }

    func cancel() {
        isOver = true
        closeOpen()
    }

    private func closeOpen() {
        for number in open.keys.sorted() { open[number]?.close() }
        open = [:]
    }

    private func dialNext() {
        guard !isOver else { return }
        while let address = waiting.first {
            waiting.removeFirst()
            guard tried.count < NodeLimits.addressesPerAttempt, tried.insert(address).inserted else { continue }
            dial(address)
            let run = Unchecked(self)
            queue.async(afterMilliseconds: NodeLimits.dialStaggerMilliseconds) {
                run.value.dialNext()
            }
            return
        }
        if open.isEmpty, resolving == 0 {
            isOver = true
            report(self, .exhausted)
        }
    }

    private func dial(_ address: Endpoint) {
        lastNumber += 1
        let number = lastNumber
        let run = Unchecked(self)
        do throws(TransportError) {
            open[number] = try transport.dial(
                address, connectMilliseconds: Int(NodeLimits.dialTimeoutMilliseconds), segmentBytes: segmentBytes
            ) { [queue] connection, event in
                switch event {
                case .opened(let peer):
                    // The owner takes over on its queue; what comes meanwhile waits in the socket.
                    connection.setReading(false)
                    let tieBreak = connection.tieBreak
                    queue.async { run.value.opened(number, connection, peer, address, tieBreak) }
                case .closed(let ending): queue.async { run.value.closed(number, ending, address) }
                case .received, .drained, .acknowledged, .finished: break
                }
            }
        } catch {
            report(self, .failed(address, error.message, error))
        }
    }

    private func opened(
        _ number: Int, _ connection: any Channel, _ peer: AuthenticatedPeer, _ address: Endpoint, _ tieBreak: UInt64
    ) {
        guard open.removeValue(forKey: number) != nil, !isOver, case .member(let identity) = peer else {
            return connection.close()
        }
        isOver = true
        closeOpen()
        report(self, .connected(connection, identity, address, tieBreak: tieBreak))
    }

    private func closed(_ number: Int, _ ending: Connection.Ending, _ address: Endpoint) {
        guard open.removeValue(forKey: number) != nil, !isOver else { return }
        report(self, .failed(address, ending.message, ending.error))
        dialNext()
    }
}

/// Carries an object that is used on one queue only to callbacks that come back to that queue.
private struct Unchecked<Value>: @unchecked Sendable {
    // Sendable: whoever takes the value out is on the queue that owns it.
    let value: Value

    init(_ value: Value) { self.value = value }
}

extension Connection.Ending {
    /// Why, for people.
    var message: String {
        switch self {
        case .complete: "the peer closed the connection"
        case .closedHere: "closed here"
        case .failed(let error): error.message
        }
    }

    /// The error, if it was one.
    var error: TransportError? { if case .failed(let error) = self { error } else { nil } }
}
