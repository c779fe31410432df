import KithDocument
import KithMerge
import KithTestSupport
import Testing

@testable import KithStore

@Suite struct TimelineTests {
    @Test func everyOpeningThatWritesBeginsATimelineAndAllAreRemembered() throws {
        let test = try TestStore()
        var positions: [Position] = []
        for number in 0..<5 {
            try test.put("a", "{\"n\":\(number)}")
            try test.put("b", "{\"n\":\(number)}")
            positions.append(test.store.summary.position)
            try test.reopen()
            #expect(test.store.summary.position == positions.last, "opening alone begins none")
        }
        #expect(Set(positions.map(\.timeline)).count == 5)
        for position in positions { #expect(try test.reader.resume(at: position) == position.sequence) }
        let beyond = Position(timeline: positions[1].timeline, sequence: 1000)
        #expect(try test.reader.resume(at: beyond) == positions[1].sequence)
        #expect(try test.reader.resume(at: Position(timeline: 12345, sequence: 3)) == nil)
        #expect(try test.reader.resume(at: nil) == 0)
    }

    @Test func aPageEndsInTheTimelineItsSequenceWasWrittenIn() throws {
        let test = try TestStore()
        for number in 0..<4 { try test.put("d\(number)", #"{"x":1}"#) }
        let first = test.store.summary.position
        try test.reopen()
        for number in 4..<8 { try test.put("d\(number)", #"{"x":1}"#) }
        #expect(try test.reader.changes(after: 0, limit: 3).through == Position(timeline: first.timeline, sequence: 3))
        #expect(try test.reader.changes(after: 2, limit: 3).through.timeline == test.store.summary.position.timeline)
        let last = try test.reader.changes(after: 5, limit: 3)
        #expect(last.through == test.store.summary.position)
        #expect(last.isCaughtUp)
        #expect(last.digest == test.store.summary.digest)
        #expect(try test.reader.changes(after: 99, limit: 3).changes.isEmpty)
    }

    @Test func aRestoredCopyHandsOutNothingTwiceAndPullersResumeRightly() throws {
        let (source, puller) = (try TestStore(seed: 1), try TestStore(seed: 2))
        for number in 0..<10 { try source.put("d\(number)", #"{"x":1}"#) }
        let backup = source.directory.copy()
        for number in 10..<15 { try source.put("d\(number)", #"{"x":1}"#) }
        try puller.pull(source)
        #expect(try puller.reader.checkpoint(of: source.node)?.sequence == 15)

        // The same node from the backup; it forgot five documents and writes five others with the same sequences.
        let restored = try TestStore(seed: 1, directory: backup)
        restored.world.generator = SeededGenerator(seed: 55)
        #expect(try restored.reader.resume(at: puller.reader.checkpoint(of: source.node)) == 10)
        for number in 20..<25 { try restored.put("d\(number)", #"{"x":1}"#) }
        #expect(restored.store.summary.position.sequence == 15)
        try puller.pull(restored)
        try restored.pull(puller)
        #expect(puller.store.summary.documents == 20)
        #expect(puller.store.summary.digest == restored.store.summary.digest)
        try puller.check()
        try restored.check()
    }

    @Test func aWriterWhoForgotEditsDoesNotCoverThem() throws {
        let (source, puller) = (try TestStore(seed: 1), try TestStore(seed: 2))
        try source.put("a", #"{"x":1,"y":1}"#)
        let backup = source.directory.copy()
        try source.put("a", #"{"x":2,"y":1}"#)
        try puller.pull(source)
        let restored = try TestStore(seed: 1, directory: backup)
        restored.world.generator = SeededGenerator(seed: 55)
        restored.world.now += 1000
        try restored.put("a", #"{"x":1,"y":2}"#)
        try puller.pull(restored)
        try restored.pull(puller)
        #expect(try puller.body("a") == #"{"x":2,"y":2}"#)
        #expect(try restored.body("a") == #"{"x":2,"y":2}"#)
    }

    @Test func aStampOfThePresentTimelineThatWasNotHandedOutIsDetected() throws {
        let (original, peer) = (try TestStore(seed: 1), try TestStore(seed: 2))
        try original.put("a", #"{"x":1}"#)
        let timeline = original.store.summary.position.timeline

        // A twin of the running process, as a snapshot of a virtual machine makes one: same file, same timeline.
        let twin = try TestStore(seed: 1, directory: original.directory.copy())
        try twin.put("a", #"{"x":2}"#)
        let node = try #require(try twin.reader.load(DocumentID("a"))?.tree.leaves.first)
        let version = Version(writer: timeline, time: (node.content?.version.highestTime ?? 0) + 1)
        let revision = Revision(
            parent: nil, kind: .edit, body: Array(#"{"x":3}"#.utf8),
            stamps: FieldStamps(defaultStamp: Stamp(time: version.highestTime, writer: timeline)), version: version)
        let delivery = Delivery(document: try DocumentID("b"), items: [.init(revision: revision, ancestors: [])])
        let outcome = try original.apply(peer.node, [delivery])
        #expect(outcome.isRollbackDetected)
        #expect(outcome.stored == 1)
        #expect(original.store.summary.position.timeline != timeline)
        #expect(try original.reader.resume(at: Position(timeline: timeline, sequence: 1)) == nil)
        try original.put("a", #"{"x":4}"#)
        let tree = try #require(try original.reader.load(DocumentID("a"))?.tree)
        #expect(tree.leaves[0].content?.version[original.store.summary.position.timeline] != nil)
        #expect(!(try original.apply(peer.node, [delivery]).isRollbackDetected))
        // The feed goes on under the new timeline, also for what the forgotten one wrote.
        let page = try original.reader.changes(after: 0, limit: 1)
        #expect(page.through.timeline == original.store.summary.position.timeline)
        try original.check()
    }

    @Test func whatAPeerSendsBackOfOurOwnIsNoRollback() throws {
        let (one, other) = (try TestStore(seed: 1), try TestStore(seed: 2))
        for number in 0..<5 { try one.put("a", "{\"n\":\(number)}") }
        try other.pull(one)
        try other.put("a", #"{"n":9}"#)
        let changes = try other.reader.changes(after: 0, limit: 9).changes
        let wants = changes.map { Want(document: $0.document, revisions: $0.leaves.map(\.id), known: []) }
        let sent = try other.reader.deliveries(for: wants, maximumBytes: 1 << 20)
        #expect(!(try one.apply(other.node, sent.deliveries).isRollbackDetected))
    }

    @Test func editsBesideOtherLeavesKeepTheirFreshWriter() throws {
        let (one, other) = (try TestStore(seed: 1), try TestStore(seed: 2))
        for test in [one, other] { try test.setPolicy("manual", number: 1) }
        try one.put("a", #"{"x":1}"#)
        try other.put("a", #"{"x":2}"#)
        try one.pull(other)
        #expect(one.store.summary.conflicts == 1)
        let id = try DocumentID("a")
        let timeline = one.store.summary.position.timeline
        let first = try one.put("a", #"{"x":3}"#)
        let second = try one.put("a", #"{"x":4}"#, if: .revision(first.revision))
        let version = try #require(try one.reader.load(id)?.tree[second.revision]?.content?.version)
        let fresh = version.entries.filter {
            $0.writer != timeline && $0.writer != other.store.summary.position.timeline
        }
        #expect(fresh.count == 1, "one fresh writer for both edits")
        try one.check()
    }
}
