package import KithDocument

#if KITH_MUTANTS
import KithSystem
#endif

extension Document {
    /// What settling a document did.
    package struct Settlement: Sendable {
        /// The merge that was written, if one was.
        package var merge: RevisionID?
        /// The leaves that were closed.
        package var closed: [RevisionID] = []
        /// Of the merged leaves those of which some field does not show any more: their bodies are kept for a while.
        package var overruled: [RevisionID] = []

        package var isEmpty: Bool { merge == nil && closed.isEmpty }
    }

    /// Applies the merge rules (docs/merge.md): a pure function of the leaves, so every node that has the same leaves
    /// writes the same revisions.
    ///
    /// 1. What was deleted stays deleted. 2. What was seen is replaced. 3. What is left is merged by the policy.
    /// 4. Each live leaf that does not stay is closed.
    @discardableResult
    package mutating func settle(_ policy: some MergePolicy) -> Settlement {
        let live = live
        let deleted = tree.deleted
        var settlement = Settlement()
        if live.isEmpty || (live.count == 1 && deleted.isEmpty) { return settlement }

        #if KITH_MUTANTS
        var kept = Self.notReplaced(Self.notDeleted(live, by: deleted))
        if Mutant.isActive(.closesConflicts), kept.count > 1 { kept = [] }
        #else
        let kept = Self.notReplaced(Self.notDeleted(live, by: deleted))
        #endif
        var staying = kept
        if kept.count > 1, let merge = merged(kept, by: policy) {
            settlement.overruled = overruled(kept, by: merge)
            add(merge)
            settlement.merge = merge.id
            staying = [kept[kept.count - 1]]
        }
        for leaf in live where !staying.contains(where: { $0.id == leaf.id }) {
            add(.closing(leaf.id, version: leaf.isForeign ? Version() : leaf.version))
            settlement.closed.append(leaf.id)
        }
        return settlement
    }

    /// Rule 1: a live leaf whose version, entries of time 0 aside, is within the join of the deletions' is closed:
    /// whoever deleted had seen all of it.
    private static func notDeleted(_ live: [RevisionTree.Node], by deleted: [RevisionTree.Node]) -> [RevisionTree.Node]
    {
        #if KITH_MUTANTS
        if Mutant.isActive(.forgetsDeletions) { return live }
        #endif
        if deleted.isEmpty { return live }
        #if KITH_MUTANTS
        if Mutant.isActive(.deletesUnseen) { return [] }
        #endif
        let known = deleted.reduce(Version()) { $0.joined(with: $1.version) }
        return live.filter { !$0.version.isWithinIgnoringInitial(known) }
    }

    /// Rule 2: a live leaf whose version is within another's is closed; of equal versions the winner stays.
    private static func notReplaced(_ live: [RevisionTree.Node]) -> [RevisionTree.Node] {
        live.filter { leaf in
            !live.contains { other in
                #if KITH_MUTANTS
                if Mutant.isActive(.closesEquals), leaf.version == other.version { return other.id != leaf.id }
                #endif
                return other.id != leaf.id && leaf.version.isWithin(other.version)
                    && (!other.version.isWithin(leaf.version) || other.id > leaf.id)
            }
        }
    }

    /// Rule 3: the parent is the winner, the generation one more than its. Nil where the policy leaves the conflict, and
    /// where the join is larger or has more entries than a revision may, or nothing can follow the winner.
    private func merged(_ leaves: [RevisionTree.Node], by policy: some MergePolicy) -> Revision? {
        let winner = leaves[leaves.count - 1]
        guard Self.canFollow(winner.id) else { return nil }
        let seen = leaves.map { MergeLeaf(id: $0.id, fields: fields(of: $0), version: $0.version) }
        guard let fields = policy.merge(seen) else { return nil }
        #if KITH_MUTANTS
        let version =
            Mutant.isActive(.forgetsVersions)
            ? winner.version : leaves.reduce(Version()) { $0.joined(with: $1.version) }
        #else
        let version = leaves.reduce(Version()) { $0.joined(with: $1.version) }
        #endif
        let (body, stamps) = fields.split()
        guard version.entries.count <= DocumentLimits.maximumEntries, Self.fits(body, stamps),
            stamps.exceptions.count(where: { $0.state != .visible }) <= DocumentLimits.maximumEntries
        else { return nil }
        #if KITH_MUTANTS
        let resolver = Mutant.isActive(.namesNodeInMerges) ? "\(Mutant.node)" : policy.resolver
        #else
        let resolver = policy.resolver
        #endif
        return Revision(
            parent: winner.id, mergedParents: leaves.dropLast().map(\.id), kind: .merge, body: body, stamps: stamps,
            version: version, resolver: resolver)
    }

    /// Whether an edit, a deletion or a merge may follow a revision: others refuse what has a higher generation.
    static func canFollow(_ parent: RevisionID) -> Bool {
        #if KITH_MUTANTS
        if Mutant.isActive(.followsHighest) { return true }
        #endif
        return parent.generation + 1 < RevisionID.maximumGeneration
    }

    /// Whether a revision may hold so much. A merge, and an edit that keeps what the fields hide, may have more in their
    /// stamps than in their body.
    static func fits(_ body: [UInt8], _ stamps: FieldStamps) -> Bool {
        body.count <= DocumentLimits.documentBytes
            && body.count + stamps.encodedBytes <= DocumentLimits.revisionBytes
    }

    /// The leaves of which some field has another value in the merge.
    private func overruled(_ leaves: [RevisionTree.Node], by merge: Revision) -> [RevisionID] {
        let shown = Fields.leaves(of: merge.body)
        return leaves.filter { leaf in
            var rest = shown[...]
            return Fields.leaves(of: bodies[leaf.id] ?? []).contains { field in
                while let next = rest.first, next.path < field.path { rest.removeFirst() }
                return rest.first?.path != field.path || rest.first?.value != field.value
            }
        }.map(\.id)
    }
}

extension RevisionTree.Node {
    /// What the revision knows; nothing where it is known by its id alone.
    var version: Version { content?.version ?? Version() }
}
