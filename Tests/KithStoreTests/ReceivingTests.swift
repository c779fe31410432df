import KithDocument
import KithMerge
import KithTestSupport
import Testing

@testable import KithStore

@Suite struct ReceivingTests {
    private let peer = NodeID(bytes: [UInt8](repeating: 9, count: 32))!

    private func edit(_ json: String, writer: WriterID = 7, time: UInt64 = 1 << 40) -> Revision {
        Revision(
            parent: nil, kind: .edit, body: Array(json.utf8),
            stamps: FieldStamps(defaultStamp: Stamp(time: time, writer: writer)),
            version: Version(writer: writer, time: time))
    }

    private func delivery(_ id: String, _ revisions: [Revision]) throws -> Delivery {
        Delivery(document: try DocumentID(id), items: revisions.map { .init(revision: $0, ancestors: []) })
    }

    private func forged(_ json: String) -> Revision {
        let good = edit(#"{"x":1}"#)
        return Revision(
            id: good.id, parent: nil, mergedParents: [], kind: .edit, body: Array(json.utf8), stamps: good.stamps,
            version: good.version, isForeign: false)
    }

    @Test func aWrongRevisionIsRecordedAndDoesNotStopTheRest() throws {
        let test = try TestStore()
        let forged = forged(#"{"x":2}"#)
        let sloppy = edit(#"{ "x":1}"#)
        let checkpoint = Position(timeline: 3, sequence: 17)
        let outcome = try test.apply(
            peer,
            [
                delivery("a", [forged]), delivery("b", [sloppy]), delivery("c", [edit(#"{"x":1}"#), forged]),
                delivery("d", [edit(#"{"x":1}"#)]),
            ], checkpoint)
        #expect(outcome.stored == 2)
        #expect(outcome.refused.map(\.document.string) == ["a", "b", "c"])
        #expect(outcome.refused.allSatisfy { !$0.reason.isEmpty && !$0.reason.contains("x") || $0.reason.count < 200 })
        #expect(try test.get("a") == nil)
        #expect(try test.body("c") == #"{"x":1}"#)
        #expect(try test.reader.checkpoint(of: peer) == checkpoint)
        #expect(try test.reader.exclusions().map(\.string) == ["a", "b", "c"])
        #expect(try test.reader.refusals().count == 3)
        let change = Change(sequence: 1, document: try DocumentID("b"), leaves: [AnnouncedLeaf(id: sloppy.id)])
        #expect(try test.reader.missing(in: [change]).isEmpty, "what was refused is not asked for again")
        // What a peer has not shown is not left out of the comparison with it.
        #expect(try test.reader.refused(in: [change]) == [change.document])
        let other = Change(sequence: 1, document: change.document, leaves: [AnnouncedLeaf(id: forged.id)])
        #expect(try test.reader.refused(in: [other]).isEmpty)
        #expect(try test.reader.exclusions(refused: [change.document]) == [change.document])
        #expect(try test.reader.exclusions(refused: []).isEmpty)
        try test.reopen()
        #expect(try test.reader.missing(in: [change]).isEmpty)
        // A good revision of the document ends the record.
        try test.apply(peer, [delivery("b", [edit(#"{"x":5}"#, writer: 8)])])
        #expect(try test.reader.exclusions().map(\.string) == ["a", "c"])
        #expect(try test.reader.missing(in: [change]).count == 1)
        try test.check()
    }

    /// Who delivers something else under the id of a revision must not keep the revision from this node.
    @Test func whatAPeerHasWrongCanBeHadOfAnother() throws {
        let test = try TestStore()
        let good = edit(#"{"x":1}"#)
        func wrong(_ body: String, isForeign: Bool = false) -> Delivery.Item {
            Delivery.Item(
                revision: Revision(
                    id: good.id, parent: nil, mergedParents: [], kind: .edit, body: Array(body.utf8),
                    stamps: good.stamps,
                    version: good.version, isForeign: isForeign), ancestors: [])
        }
        let odd = Delivery.Item(
            revision: good, ancestors: [Ancestor(id: RevisionID(generation: 9, digest: good.id.digest))])
        let crowd = (0...DocumentLimits.leaves).map { edit("{\"n\":\($0)}", writer: UInt64($0) + 10) }
        let deliveries: [[Delivery.Item]] = [
            [wrong(#"{"x":2}"#)], [wrong("no JSON")], [wrong("")], [wrong("no JSON", isForeign: true)], [odd],
            [Delivery.Item(revision: good, ancestors: [])] + crowd.map { Delivery.Item(revision: $0, ancestors: []) },
        ]
        for (number, items) in deliveries.enumerated() {
            let id = try DocumentID("d\(number)")
            let change = Change(sequence: 1, document: id, leaves: [AnnouncedLeaf(id: good.id)])
            #expect(try test.apply(peer, [Delivery(document: id, items: items)]).refused.count == 1, "\(number)")
            #expect(try test.reader.exclusions().contains(id))
            #expect(try test.reader.missing(in: [change]).first?.revisions == [good.id], "\(number)")
            try test.apply(peer, [delivery(id.string, [good])])
            #expect(try test.body(id.string) == #"{"x":1}"#)
            #expect(try !test.reader.exclusions().contains(id))
        }
        try test.check()
    }

    /// A foreign id is no hash of the content: whoever sends another content as foreign under the id of a revision of Kith's
    /// own is found out by whoever has that.
    @Test func aRevisionThatCameAsForeignIsReplacedByTheOneThatItsIDIsTheHashOf() throws {
        let (test, honest) = (try TestStore(), try TestStore())
        let good = edit(#"{"x":1}"#)
        let copy = Revision(
            id: good.id, parent: nil, mergedParents: [], kind: .edit, body: Array(#"{"x":2}"#.utf8),
            stamps: good.stamps,
            version: good.version, isForeign: true)
        try test.apply(peer, [delivery("a", [copy])])
        #expect(try test.body("a") == #"{"x":2}"#)
        try honest.apply(peer, [delivery("a", [good])])
        #expect(test.store.summary.digest != honest.store.summary.digest)
        let change = Change(sequence: 1, document: try DocumentID("a"), leaves: [AnnouncedLeaf(id: good.id)])
        #expect(try test.reader.missing(in: [change]).first?.revisions == [good.id])
        try test.apply(peer, [delivery("a", [good])])
        #expect(try test.body("a") == #"{"x":1}"#)
        #expect(test.store.summary.digest == honest.store.summary.digest)
        #expect(try test.reader.missing(in: [change]).isEmpty)
        // Nobody who has it takes the copy.
        try honest.apply(peer, [delivery("a", [copy])])
        #expect(try honest.body("a") == #"{"x":1}"#)
        try test.check()
        try honest.check()
    }

    @Test func whatOtherRulesRefusedIsAskedForAgain() throws {
        let test = try TestStore()
        let wrong = edit(#"{ "x":1}"#)
        try test.apply(peer, [delivery("a", [wrong])])
        try Connection(path: test.store.file.path, subject: "test", access: .write).run("UPDATE refused SET rules = 0")
        let change = Change(sequence: 1, document: try DocumentID("a"), leaves: [AnnouncedLeaf(id: wrong.id)])
        #expect(try test.reader.missing(in: [change]).count == 1)
        #expect(try test.reader.exclusions().isEmpty)
    }

    @Test func tooManyLeavesAreRefused() throws {
        let test = try TestStore()
        try test.setPolicy("manual", number: 1)
        let many = (0..<UInt64(DocumentLimits.leaves + 1)).map { edit("{\"n\":\($0)}", writer: $0 + 1) }
        #expect(try test.apply(peer, [delivery("a", many)]).refused.count == 1)
        #expect(try test.get("a") == nil)
        #expect(try test.apply(peer, [delivery("b", Array(many.dropLast()))]).refused.isEmpty)
        #expect(try test.apply(peer, [delivery("b", many.suffix(1))]).refused.count == 1)
        #expect(try test.get("b")?.conflicts.count == DocumentLimits.leaves - 1)
        try test.check()
    }

    @Test func anOddAncestryIsRefused() throws {
        let test = try TestStore()
        let revision = edit(#"{"x":1}"#)
        let later = Ancestor(id: RevisionID(generation: 9, digest: revision.id.digest))
        let item = Delivery.Item(revision: revision, ancestors: [later])
        let outcome = try test.apply(peer, [Delivery(document: try DocumentID("a"), items: [item])])
        #expect(outcome.refused.count == 1)
        #expect(outcome.stored == 0)
    }

    @Test func theSameBatchTwiceWritesNothingTheSecondTime() throws {
        let test = try TestStore()
        let batch = [try delivery("a", [edit(#"{"x":1}"#)])]
        #expect(try test.apply(peer, batch, Position(timeline: 1, sequence: 1)).stored == 1)
        let summary = test.store.summary
        #expect(try test.apply(peer, batch, Position(timeline: 1, sequence: 1)).stored == 0)
        #expect(test.store.summary == summary)
    }

    @Test func deliveriesStopAtTheirBytesAndOneDocumentAlwaysGoes() throws {
        let test = try TestStore()
        let filling = String(repeating: "x", count: 1000)
        for number in 0..<5 { try test.put("d\(number)", "{\"x\":\"\(filling)\"}") }
        let changes = try test.reader.changes(after: 0, limit: 9).changes
        var wants = changes.map { Want(document: $0.document, revisions: $0.leaves.map(\.id), known: []) }
        wants.insert(Want(document: try DocumentID("no"), revisions: wants[0].revisions, known: []), at: 1)
        var (sent, gone, rounds) = (0, [DocumentID](), 0)
        while !wants.isEmpty {
            let page = try test.reader.deliveries(for: wants, maximumBytes: 2500)
            #expect(page.deliveries.count == 2 || page.rest.isEmpty)
            sent += page.deliveries.count
            gone += page.gone
            wants = page.rest
            rounds += 1
        }
        #expect(sent == 5)
        #expect(gone.map(\.string) == ["no"])
        #expect(rounds == 3)
        let tiny = try test.reader.deliveries(
            for: [Want(document: changes[0].document, revisions: changes[0].leaves.map(\.id), known: [])],
            maximumBytes: 1)
        #expect(tiny.deliveries.count == 1)
    }

    @Test func rangesEqualThoseCountedByHand() throws {
        var generator = SeededGenerator(seed: 11)
        let test = try TestStore()
        for number in 0..<300 { try test.put("d\(number)", "{\"n\":\(generator.below(9))}") }
        for number in 0..<50 { try test.delete("d\(number * 3)") }
        let ranges = try test.reader.rangeDigests()
        #expect(ranges.position == test.store.summary.position)
        #expect(zip(ranges.ranges, ranges.ranges.dropFirst()).allSatisfy { $0.index < $1.index })
        #expect(ranges.ranges.reduce(0) { $0 + $1.documents } == 300)
        let makes = DocumentDigest()
        for range in ranges.ranges.prefix(40) {
            let changes = try test.reader.changes(inRanges: [range.index])
            #expect(changes.count == Int(range.documents))
            #expect(changes.allSatisfy { makes.range(of: $0.document) == range.index })
            #expect(try test.reader.digest(of: changes.map(\.document)) == range.digest)
        }
        let all = try test.reader.changes(inRanges: ranges.ranges.map(\.index))
        #expect(all == (try test.reader.changes(after: 0, limit: 1000).changes))
    }

    @Test func twoStoresWithoutCheckpointsMeetByRanges() throws {
        let (one, other) = (try TestStore(seed: 1), try TestStore(seed: 2))
        for number in 0..<200 { try one.put("d\(number)", #"{"x":1}"#) }
        try other.pull(one)
        try one.put("d7", #"{"x":2}"#)
        try other.put("new", #"{"x":2}"#)
        let (mine, its) = (try one.reader.rangeDigests().ranges, try other.reader.rangeDigests().ranges)
        let differing = Set(mine).symmetricDifference(its).map(\.index)
        #expect(Set(differing).count == 2)
        let changes = try other.reader.changes(inRanges: differing)
        #expect(try one.reader.missing(in: changes).map(\.document.string) == ["new"])
    }
}
