import KithDocument
import KithMerge

#if KITH_MUTANTS
import KithSystem
#endif

/// The wanted revisions that are here.
package struct StoredDeliveries: Hashable, Sendable {
    package let deliveries: [Delivery]
    /// Wants that did not fit.
    package let rest: [Want]
    /// Documents of which nothing wanted is here any more.
    package let gone: [DocumentID]
}

extension StoreReader {
    // The puller's side.

    /// Of the announced leaves those that are not here, were not purged here and are not recorded as refused. Documents
    /// of which nothing is missing are left out, and those that do not match and are not here.
    /// - Parameter givesWay: where something lives here that the source has not, all that it has is asked for again, for a
    ///   batch that gives way to it if nothing of it is new.
    package func missing(in changes: [Change], givesWay: Bool = false) throws(StoreError) -> [Want] {
        try connection.reading { () throws(StoreError) in
            let state = try StoreState.read(connection)
            var wants: [Want] = []
            for change in changes {
                if let want = try want(change, state, givesWay: givesWay) { wants.append(want) }
            }
            return wants
        }
    }

    private func want(_ change: Change, _ state: StoreState, givesWay: Bool) throws(StoreError) -> Want? {
        let row = try connection.statement(.readTree)
        defer { row.reset() }
        row.bind(1, text: change.document.string)
        var missing: [RevisionID]
        var known: [RevisionID] = []
        if try row.step() {
            let shown = try RevisionID(row, 1, of: change.document.string)
            if DocumentFlags(rawValue: row.number(0)).contains(.singleLeaf), change.leaves.count == 1,
                change.leaves[0].id == shown
            {
                return nil
            }
            let tree = try RevisionTree(row, 2, of: change.document.string)
            let lack = Lack(tree, digests)
            missing = change.leaves.filter { lack.includes($0) }.map(\.id)
            // Whatever is missing: a closed leaf that is too old beside what lives here is left out each time that it comes.
            if givesWay, tree.live.contains(where: { leaf in !change.leaves.contains { $0.id == leaf.id } }) {
                return Want(document: change.document, revisions: change.leaves.map(\.id), known: [])
            }
            known = missing.isEmpty ? [] : tree.knownLeaves.map(\.id)
        } else {
            // What does not match is followed while it is here, and no longer.
            if !change.isMatching { return nil }
            missing = change.leaves.map(\.id)
            if state.purged > 0, !missing.isEmpty {
                let purged = try purgedLeaves(of: change.document)
                missing.removeAll { purged.contains($0) }
            }
        }
        if state.refused > 0, !missing.isEmpty, let record = try Refusals.read(of: change.document, connection),
            record.isValid
        {
            missing.removeAll { record.leaves.contains($0) }
        }
        return missing.isEmpty ? nil : Want(document: change.document, revisions: missing, known: known)
    }

    /// Of the changes those whose documents are here.
    package func held(of changes: [Change]) throws(StoreError) -> [Change] {
        try connection.reading { () throws(StoreError) in
            var held: [Change] = []
            for change in changes {
                let row = try connection.statement(.readRevision)
                defer { row.reset() }
                row.bind(1, text: change.document.string)
                if try row.step() { held.append(change) }
            }
            return held
        }
    }

    private func purgedLeaves(of id: DocumentID) throws(StoreError) -> [RevisionID] {
        let row = try connection.statement(.readPurged)
        defer { row.reset() }
        row.bind(1, text: id.string)
        return try row.step() ? try RevisionList.decode(row.bytes(0), of: id.string) : []
    }

    // The source's side.

    /// The wanted revisions that are here, document by document, until `maximumBytes` are passed; one document always
    /// goes.
    package func deliveries(for wants: [Want], maximumBytes: Int) throws(StoreError) -> StoredDeliveries {
        try connection.reading { () throws(StoreError) in
            var deliveries: [Delivery] = []
            var gone: [DocumentID] = []
            var bytes = 0
            for (index, want) in wants.enumerated() {
                if bytes >= maximumBytes, !deliveries.isEmpty {
                    return StoredDeliveries(deliveries: deliveries, rest: Array(wants[index...]), gone: gone)
                }
                guard let delivery = try delivery(for: want) else {
                    gone.append(want.document)
                    continue
                }
                let size = delivery.items.reduce(0) { $0 + Self.size(of: $1) }
                if bytes + size > maximumBytes, !deliveries.isEmpty {
                    return StoredDeliveries(deliveries: deliveries, rest: Array(wants[index...]), gone: gone)
                }
                bytes += size
                deliveries.append(delivery)
            }
            return StoredDeliveries(deliveries: deliveries, rest: [], gone: gone)
        }
    }

    private func delivery(for want: Want) throws(StoreError) -> Delivery? {
        guard let document = try load(want.document) else { return nil }
        var ids = want.revisions
        if ids.contains(where: { document.revision($0) == nil }) {
            // The document has changed since it was announced. The rest of the announced leaves might be no more than the
            // tombstones of what is gone, and would hide what they closed: all that the puller has not got goes along.
            ids = document.tree.leaves.map(\.id).filter { !want.known.contains($0) }
        }
        let items = ids.compactMap { id -> Delivery.Item? in
            guard let revision = document.revision(id) else { return nil }
            return Delivery.Item(
                revision: revision, ancestors: Self.ancestors(of: id, document.tree, known: want.known))
        }
        return items.isEmpty ? nil : Delivery(document: want.document, items: items)
    }

    /// The ancestors up to the first that the puller has as a leaf: what lies above that one it has too.
    private static func ancestors(of id: RevisionID, _ tree: RevisionTree, known: [RevisionID]) -> [Ancestor] {
        let ancestors = tree.ancestors(of: id)
        guard !known.isEmpty, let end = ancestors.firstIndex(where: { known.contains($0.id) }) else {
            return Array(ancestors.prefix(Limits.ancestorsPerRevision))
        }
        return Array(ancestors.prefix(min(end + 1, Limits.ancestorsPerRevision)))
    }

    /// About what a revision takes on a link.
    private static func size(of item: Delivery.Item) -> Int {
        let revision = item.revision
        return revision.body.count + 24 * item.ancestors.count + 16 * revision.version.entries.count
            + 64 * (revision.stamps?.exceptions.count ?? 0) + 128
    }
}

/// Which announced leaves a tree lacks.
private struct Lack {
    private let tree: RevisionTree
    private let digests: DocumentDigest
    private let isAllClosed: Bool

    init(_ tree: RevisionTree, _ digests: DocumentDigest) {
        self.tree = tree
        self.digests = digests
        isAllClosed = tree.leaves.allSatisfy { $0.kind == .closed }
    }

    func includes(_ leaf: AnnouncedLeaf) -> Bool {
        guard let node = tree[leaf.id] else { return true }
        guard let content = node.content else {
            // Known as an ancestor only. What a revision's hash names as its parent was replaced for certain, and what
            // was closed shows only while all leaves are closed; of anything else the revision itself must tell.
            let children = tree.nodes.filter { $0.parent == leaf.id && $0.hasHashedParent }
            let isReplaced = children.contains { $0.kind != .closed }
            let isClosed = children.contains { $0.kind == .closed }
            return isClosed ? isAllClosed : !isReplaced
        }
        guard node.isForeign else { return false }
        #if KITH_MUTANTS
        if Mutant.isActive(.trustsForeignCopies), leaf.versionHash == nil { return false }
        #endif
        // Of a revision of Kith's own that is here as a foreign one nobody has checked the content.
        guard let versionHash = leaf.versionHash else { return true }
        return versionHash != digests.versionHash(content.version)
    }
}
