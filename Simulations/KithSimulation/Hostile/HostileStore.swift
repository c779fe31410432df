import KithDocument
import KithReplication

/// The database of a hostile member, as one link sees it: it holds what is offered, and takes everything as if it had it.
struct HostileStore: ReplicaStore {
    let member: HostileMember
    let link: HostileLink

    func summary() throws(ReplicaError) -> ReplicaSummary { link.summary }

    func checkpoint(of source: NodeID, filter: FeedFilter?) throws(ReplicaError) -> Position? { nil }

    func missing(in changes: [Change], givesWay: Bool) throws(ReplicaError) -> [Want] {
        member.note(changes)
        return []
    }

    func held(of changes: [Change]) throws(ReplicaError) -> [Change] { [] }

    func refused(in changes: [Change]) throws(ReplicaError) -> [DocumentID] { [] }

    func apply(_ batch: ReplicaBatch) throws(ReplicaError) -> ReplicaOutcome {
        ReplicaOutcome(stored: 0, refused: [], summary: link.summary)
    }

    func resume(at checkpoint: Position?) throws(ReplicaError) -> ResumePoint {
        guard let checkpoint, checkpoint.timeline == member.timeline else { return .after(0) }
        return .after(min(checkpoint.sequence, UInt64(member.offers.count)))
    }

    func changes(after sequence: UInt64, limit: Int, filter: FeedFilter?) throws(ReplicaError) -> ChangesPage {
        let first = Int(min(sequence, UInt64(member.offers.count)))
        let last = min(member.offers.count, first + min(limit, 64))
        let changes = (first..<last).compactMap { index -> Change? in
            let offer = member.offers[index]
            return offer.isFor(link.peer) ? offer.change(index + 1) : nil
        }
        let isCaughtUp = last == member.offers.count
        let summary = link.summary
        return ChangesPage(
            changes: changes,
            through: isCaughtUp ? summary.position : Position(timeline: member.timeline, sequence: UInt64(last)),
            isCaughtUp: isCaughtUp, digest: summary.digest)
    }

    func deliveries(for wants: [Want], maximumBytes: Int) throws(ReplicaError) -> DeliveriesPage {
        let deliveries = wants.map { want in
            let wanted = Set(want.revisions)
            return Delivery(
                document: want.document,
                items: member.offers(of: want.document).filter { $0.isFor(link.peer) }.flatMap(\.items).filter {
                    wanted.contains($0.revision.id)
                })
        }
        return DeliveriesPage(
            deliveries: deliveries.filter { !$0.items.isEmpty }, rest: [],
            gone: deliveries.filter(\.items.isEmpty).map(\.document))
    }

    func rangeDigests(filter: FeedFilter?) throws(ReplicaError) -> RangeDigests {
        RangeDigests(position: link.summary.position, ranges: [])
    }

    func changes(inRanges ranges: [UInt16], filter: FeedFilter?) throws(ReplicaError) -> [Change] { [] }

    func exclusions(refused: Set<DocumentID>) throws(ReplicaError) -> [DocumentID] { [] }

    func digest(of documents: [DocumentID]) throws(ReplicaError) -> Digest256 { .zero }

    func matchingDigest(
        _ filter: FeedFilter, without leftOut: [DocumentID]
    ) throws(ReplicaError) -> (Digest256, ReplicaSummary) { (.zero, link.summary) }
}
