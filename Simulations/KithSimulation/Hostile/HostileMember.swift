import KithDiscovery
import KithDocument
import KithNetwork
import KithNode
import KithReplication
import KithSystem
import KithTestSupport
import KithTransport

/// A member of the group that breaks its rules from within: it has a real certificate, listens, dials whom it hears of,
/// and speaks the real protocol, until what it says is a lie.
///
/// What it writes by the rules, as any member may, it writes to documents of its own (`isOwn`): nobody else does.
final class HostileMember: @unchecked Sendable {
    // Sendable: a run has one thread.

    let kind: HostileKind
    let identity: Identity
    let process: SimulatedProcess
    let databases: [String]
    var random: SeededGenerator
    private let harm: any Harm
    private let transport: SimulatedTransport
    private let discovery: SimulatedDiscovery
    private let queue: SimulatedQueue
    private var listener: (any ChannelListener)?
    /// Connections that are not over, in the order in which they were made.
    private(set) var links: [HostileLink] = []
    /// Whom it has heard of, ascending, and where.
    private(set) var found: [(node: NodeID, address: NetworkAddress)] = []
    /// What it offers in each database; a sequence is a place in it.
    private(set) var offers: [HostileOffer] = []
    /// The places of each document in it.
    private var places: [DocumentID: [Int]] = [:]
    /// Documents of others that it has heard of, in the order in which it did.
    private(set) var heard: [Change] = []
    private var known: Set<DocumentID> = []
    private var dials = 0
    private var round = 0
    /// Whether all its harm is done.
    private(set) var isDone = false
    let timeline: TimelineID
    /// Nodes whose names it may take.
    let victims: [NodeID]

    /// The beginning of the ids of documents that only hostile members write.
    static let prefix = "x-"

    /// What it writes last, once all its harm is done.
    static let lastDocument = prefix + "last"

    static func isOwn(_ document: DocumentID) -> Bool { document.string.utf8.starts(with: prefix.utf8) }

    init(
        _ kind: HostileKind, _ identity: Identity, _ membership: Membership, on process: SimulatedProcess,
        _ network: SimulatedNetwork, _ multicast: Multicast, databases: [String], victims: [NodeID],
        _ random: SeededGenerator
    ) {
        self.kind = kind
        self.identity = identity
        self.process = process
        self.databases = databases
        self.victims = victims
        self.random = random
        harm = kind.makeHarm()
        transport = SimulatedTransport(
            process, network, .member(identity, membership: membership, acceptsJoin: { false }))
        discovery = SimulatedDiscovery(process, multicast)
        queue = process.makeQueue("hostile")
        timeline = self.random.next()
    }

    /// Listens, is announced, and begins.
    func start(tag: String) throws {
        let listener = try transport.listen(
            .numeric(process.machine.address), orNextPort: true, stranger: { _, _ in },
            opened: { [weak self] channel, peer in self?.accepted(channel, peer) })
        self.listener = listener
        let (name, id) = harm.announced(self)
        try discovery.start(
            tag: tag,
            advertising: Advertisement(nodeName: name, nodeID: id, port: listener.port, protocolVersion: 1),
            onServicesChanged: { [weak self] services in self?.heard(of: services) }, onStateChanged: { _ in })
        goOn()
    }

    private func heard(of services: [DiscoveredService]) {
        for service in services where service.isPresent {
            guard let node = service.text?.nodeID, node != identity.nodeID,
                let address = service.addresses.first?.address
            else { continue }
            found.removeAll { $0.node == node }
            found.append((node, address))
            found.sort { $0.node < $1.node }
        }
    }

    /// One round after the other, and a dial of everybody it has no connection to.
    private func goOn() {
        queue.async(afterMilliseconds: harm.pace) {
            self.links.removeAll { $0.isEnded }
            if self.round < self.harm.rounds {
                self.round += 1
                self.harm.round(self.round, of: self)
            } else if !self.isDone {
                self.isDone = true
                self.offer(Self.lastDocument, self.edit())
                self.announceOffers()
            }
            for (node, address) in self.found where !self.links.contains(where: { $0.peer == node }) {
                self.dial(node, address)
            }
            self.goOn()
        }
    }

    private static let mostDials = 400

    private func dial(_ node: NodeID, _ address: NetworkAddress) {
        guard dials < Self.mostDials else { return }
        dials += 1
        let link = HostileLink(self, harm, peer: node)
        guard
            let channel = try? transport.dial(
                .numeric(address), connectMilliseconds: 4_000, segmentBytes: nil,
                handler: { _, event in link.handle(event) })
        else { return }
        link.channel = channel
        links.append(link)
    }

    private func accepted(_ channel: any Channel, _ peer: AuthenticatedPeer) -> ChannelHandler? {
        guard case .member(let identity) = peer else { return nil }
        let link = HostileLink(self, harm, peer: identity.nodeID)
        link.channel = channel
        links.append(link)
        queue.async { link.begin() }
        return { _, event in link.handle(event) }
    }

    // MARK: For what it does

    /// How long its harm takes at most, in microseconds.
    var duration: UInt64 { UInt64(harm.rounds * harm.pace) * 1_000 }

    var now: Instant { process.machine.clock.now }

    /// The time of a stamp made now.
    var time: UInt64 { Stamp.time(ofMilliseconds: process.machine.clock.wallMilliseconds) }

    /// The links on which the peer's hello has come.
    var openLinks: [HostileLink] { links.filter { $0.isOpen && !$0.isEnded } }

    /// The nodes to which it has a link, ascending.
    var peers: [NodeID] { Set(openLinks.compactMap(\.peer)).sorted() }

    /// Offers revisions of a document to everybody, or to one peer alone.
    func offer(_ document: String, _ items: [Delivery.Item], to audience: NodeID? = nil) {
        let id = DocumentID(unchecked: document)
        places[id, default: []].append(offers.count)
        offers.append(HostileOffer(document: id, items: items, audience: audience))
    }

    func offers(of document: DocumentID) -> [HostileOffer] { places[document, default: []].map { offers[$0] } }

    func offer(_ document: String, _ revisions: Revision..., to audience: NodeID? = nil) {
        offer(document, revisions.map { Delivery.Item(revision: $0, ancestors: []) }, to: audience)
    }

    /// Offers the leaves that others have, without what they are, from the change of that number that it has heard of.
    /// - Returns: the number of the next.
    func claimHeard(from first: Int) -> Int {
        for change in heard.dropFirst(first) {
            offer(
                change.document.string,
                change.leaves.map {
                    Revision(
                        id: $0.id, parent: nil, mergedParents: [], kind: .edit, body: [], stamps: nil,
                        version: Version(), isForeign: false
                    ).item()
                })
        }
        return heard.count
    }

    /// Tells all links that there is more.
    func announceOffers() { for link in openLinks { link.announceOffers(databases) } }

    /// A peer has told of changes.
    func note(_ changes: [Change]) {
        for change in changes where !Self.isOwn(change.document) {
            if known.insert(change.document).inserted {
                heard.append(change)
            } else if let index = heard.firstIndex(where: { $0.document == change.document }) {
                heard[index] = change
            }
        }
    }

    /// A document of the honest nodes, if it has heard of any.
    func drawVictim() -> Change? { heard.isEmpty ? nil : random.pick(heard) }

    func drawBytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) } }
}

/// Revisions of one document that a hostile member says it has.
struct HostileOffer {
    let document: DocumentID
    let items: [Delivery.Item]
    /// The only one that is told of it; nil for everybody.
    let audience: NodeID?

    func isFor(_ peer: NodeID?) -> Bool { audience == nil || audience == peer }

    func change(_ sequence: Int) -> Change {
        Change(
            sequence: UInt64(sequence), document: document,
            leaves: Set(items.map(\.revision.id)).sorted().map { AnnouncedLeaf(id: $0) })
    }
}
