import KithDocument
import Testing

@Suite struct RevisionTreeTests {
    private func revision(
        _ body: String, parent: RevisionID? = nil, kind: Revision.Kind = .edit, knows: [UInt64: UInt64]
    ) -> Revision {
        var version = Version()
        for (writer, time) in knows { version.set(writer, to: time) }
        return Revision(
            parent: parent, kind: kind, body: kind.isLive ? Array(body.utf8) : [],
            stamps: kind.isLive ? FieldStamps(defaultStamp: Stamp(time: 1, writer: 1)) : nil, version: version)
    }

    @Test func liveBeatsDeletedWhateverTheGeneration() {
        let one = revision(#"{"a":1}"#, knows: [1: 1])
        let other = revision(#"{"a":2}"#, knows: [2: 1])
        let deletion = revision("", parent: other.id, kind: .deleted, knows: [2: 1])
        for order in [
            [one, other, deletion], [deletion, other, one], [other, deletion, one], [deletion, one, other],
        ] {
            var tree = RevisionTree()
            for revision in order { tree.insert(revision, ancestors: revision.parent.map { [Ancestor(id: $0)] } ?? []) }
            #expect(tree.winner?.id == one.id)
            #expect(tree.leaves.map(\.id) == [one.id, deletion.id])
        }
    }

    @Test func ancestryAboveTheParentIsBelievedOnlyWhereItWasSeen() {
        let leaf = revision(#"{"a":1}"#, knows: [1: 1])
        let middle = revision(#"{"a":2}"#, parent: leaf.id, knows: [1: 1, 2: 2])
        let forged = revision(#"{"a":3}"#, parent: middle.id, knows: [9: 9])
        let honest = revision(#"{"a":3}"#, parent: middle.id, knows: [1: 1, 9: 9])
        let ancestry = [Ancestor(id: middle.id), Ancestor(id: leaf.id)]
        for (late, covers) in [(forged, false), (honest, true)] {
            var leafFirst = RevisionTree(leaf)
            leafFirst.insert(late, ancestors: ancestry)
            var leafLast = RevisionTree()
            leafLast.insert(late, ancestors: ancestry)
            leafLast.insert(leaf)
            for tree in [leafFirst, leafLast] {
                #expect(tree.leaves.contains { $0.id == leaf.id } == !covers)
                #expect(tree.leaves.contains { $0.id == late.id })
            }
        }
    }

    @Test func aTombstoneThatCameBeforeItsReasonHidesNothing() {
        let leaf = revision(#"{"a":1}"#, knows: [1: 1])
        let closing = Revision.closing(leaf.id, version: leaf.version)
        for order in [[leaf, closing], [closing, leaf]] {
            var tree = RevisionTree()
            for revision in order { tree.insert(revision) }
            #expect(tree.live.map(\.id) == [leaf.id])
            #expect(tree.winner?.id == leaf.id)
        }
    }

    @Test func aTombstoneTellsWhatItsLeafHadReplaced() {
        let deletion = revision("", kind: .deleted, knows: [1: 1])
        let closed = revision(#"{"a":1}"#, parent: deletion.id, knows: [1: 1, 2: 2])
        let closing = Revision.closing(closed.id, version: closed.version)
        let ancestry = [Ancestor(id: closed.id), Ancestor(id: deletion.id, kind: .deleted)]
        var deletionFirst = RevisionTree(deletion)
        deletionFirst.insert(closing, ancestors: ancestry)
        var deletionLast = RevisionTree()
        deletionLast.insert(closing, ancestors: ancestry)
        deletionLast.insert(deletion)
        for tree in [deletionFirst, deletionLast] { #expect(tree.leaves.map(\.id) == [closing.id]) }
    }

    @Test func stemmingKeepsLeavesAndTheirNearestAncestors() {
        var tree = RevisionTree()
        var last: Revision?
        for time in 1...50 {
            let next = revision("{\"n\":\(time)}", parent: last?.id, knows: [1: UInt64(time)])
            tree.insert(next)
            tree.stem(to: 20)
            last = next
        }
        #expect(tree.nodes.count == 21)
        #expect(tree.leaves.map(\.id) == [last?.id])
        #expect(tree.ancestors(of: last!.id).count == 20)
    }

    @Test func aTreeReadsBackAsItWasWritten() throws {
        let root = revision(#"{"a":1}"#, knows: [1: 1])
        var tree = RevisionTree(root)
        tree.insert(revision(#"{"a":2}"#, parent: root.id, knows: [1: 2]))
        tree.insert(revision("", parent: root.id, kind: .deleted, knows: [1: 1, 3: 1]))
        tree.insert(.closing(tree.leaves[0].id, version: Version()))
        let encoded = tree.encoded()
        #expect(try RevisionTree(encoded: encoded) == tree)
        for end in encoded.indices {
            #expect(throws: DocumentError.self) { try RevisionTree(encoded: Array(encoded[..<end])) }
        }
    }

    @Test func revisionIdsAreReadStrictly() {
        let text = "3-0123456789abcdef0123456789abcdef"
        #expect(RevisionID(text)?.description == text)
        for wrong in [
            "", "-", "3-", "3-foo", "03-0123456789abcdef0123456789abcdef", "0-0123456789abcdef0123456789abcdef",
            "3-0123456789ABCDEF0123456789abcdef", "3-0123456789abcdef0123456789abcde",
            "99999999999999999-0123456789abcdef0123456789abcdef",
        ] { #expect(RevisionID(wrong) == nil, "\(wrong)") }
    }

    @Test func aRevisionThatIsNotItsHashIsRefused() throws {
        let good = revision(#"{"a":1}"#, knows: [1: 1])
        try good.verify()
        let bad = Revision(
            id: good.id, parent: nil, mergedParents: [], kind: .edit, body: Array(#"{"a":2}"#.utf8),
            stamps: good.stamps,
            version: good.version, isForeign: false)
        #expect(throws: DocumentError.hashMismatch(good.id)) { try bad.verify() }
    }
}
