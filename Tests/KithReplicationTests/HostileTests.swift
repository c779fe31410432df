import KithDocument
import KithTestSupport
import Testing

@testable import KithReplication

/// What a peer that breaks the rules meets: a goodbye that says which rule, and nothing else.
@Suite struct HostileTests {
    private static let revision = Bench.revision(1)

    /// A link that was told of one document and has asked for it.
    private func asked() -> Bench {
        let bench = Bench.opened()
        bench.say(bench.changes(1, [(1, "a", Self.revision.id)]))
        #expect(bench.said.contains { if case .want(1, 1, _) = $0 { true } else { false } }, "\(bench.said)")
        return bench
    }

    private func expectEnd(_ bench: Bench, _ text: String, _ comment: Comment? = nil) {
        #expect(bench.complaint?.contains(text) == true, "\(bench.complaint ?? "no complaint") \(comment ?? "")")
        #expect(bench.link.isEnded)
    }

    @Test("The first message must be a hello, and there is one")
    func hello() {
        for (name, message) in Samples.messages where message.type != .hello && message.type != .goodbye {
            let bench = Bench()
            bench.start()
            bench.say(message)
            expectEnd(bench, message.type.isCredited ? "" : "before the hello", "\(name)")
        }
        let bench = Bench.opened()
        bench.say(.hello(Bench.hello()))
        expectEnd(bench, "second hello")
        let garbage = Bench()
        garbage.start()
        garbage.say(raw: Array("GET / HTTP/1.1\r\n\r\n".utf8))
        expectEnd(garbage, "unknown type")
    }

    @Test("Databases are named in order and once")
    func databases() {
        for names in [["a", "a"]] {
            let bench = Bench()
            bench.start()
            bench.say(.hello(Bench.hello(names)))
            expectEnd(bench, "named twice")
        }
        let bench = Bench.opened()
        bench.say(
            .databases(DatabasesUpdate(added: [DatabaseEntry(number: 1, name: "x", state: Samples.state)], removed: []))
        )
        expectEnd(bench, "do not ascend")
        let other = Bench.opened()
        other.say(.databases(DatabasesUpdate(added: [], removed: [2])))
        expectEnd(other, "not named")
    }

    @Test("Feeds that were not opened are not spoken of")
    func feeds() {
        for (name, message) in Samples.messages {
            guard message.feed != nil, message.type != .open, message.type != .changes, message.type != .feedEnded
            else {
                continue
            }
            let bench = Bench.opened()
            bench.say(message)
            #expect(bench.complaint != nil, "\(name)")
        }
        let bench = Bench.opened()
        bench.say(.changes(Changes(feed: 2, page: 1, through: Samples.position, digest: nil, latest: 0, changes: [])))
        expectEnd(bench, "feed 2 was not opened")
        let twice = Bench.opened()
        twice.say(.open(feed: 1, database: 1))
        twice.say(.open(feed: 2, database: 1))
        expectEnd(twice, "two feeds")
        let unknown = Bench.opened()
        unknown.say(.open(feed: 1, database: 9))
        expectEnd(unknown, "not named")
        let backwards = Bench.opened()
        backwards.say(.open(feed: 4, database: 1))
        backwards.say(.open(feed: 4, database: 1))
        expectEnd(backwards, "after feed 4")
        let subscribed = Bench.opened()
        subscribed.say(.open(feed: 1, database: 1))
        subscribed.say(.subscribe(feed: 1, after: nil))
        subscribed.say(.subscribe(feed: 1, after: nil))
        expectEnd(subscribed, "twice")
    }

    @Test("Pages come in order, with ascending sequences, and not too many")
    func pages() {
        let gap = Bench.opened()
        gap.say(gap.changes(2, []))
        expectEnd(gap, "page 2 came after page 0")
        let falling = Bench.opened()
        falling.say(falling.changes(1, [(5, "a", Self.revision.id), (4, "b", Self.revision.id)]))
        expectEnd(falling, "do not ascend")
        let back = Bench.opened()
        back.say(back.changes(1, [(5, "a", Self.revision.id)]))
        back.say(back.changes(2, [(5, "b", Self.revision.id)]))
        expectEnd(back, "do not ascend")
        let short = Bench.opened()
        short.say(short.changes(1, [(5, "a", Self.revision.id)], through: 4))
        expectEnd(short, "before its last change")
        let far = Bench.opened()
        far.say(far.changes(1, [(1 << 63, "a", Self.revision.id)]))
        expectEnd(far, "a sequence is 9223372036854775808")
        let beyond = Bench.opened()
        beyond.say(.open(feed: 1, database: 1))
        beyond.say(.subscribe(feed: 1, after: Position(timeline: 1, sequence: .max)))
        expectEnd(beyond, "a sequence is 18446744073709551615")
        let many = Bench.opened()
        for page in 1...33 { many.say(many.changes(UInt64(page), [(UInt64(page), "doc-\(page)", Self.revision.id)])) }
        expectEnd(many, "more than 32 pages")
    }

    @Test("Only what was asked for is answered, and all of it")
    func answers() {
        let other = asked()
        other.say(Bench.revisions([Bench.delivery("b", Self.revision)]))
        expectEnd(other, "did not ask for")
        let gone = asked()
        gone.say(Bench.revisions([], gone: ["b"]))
        expectEnd(gone, "did not ask for")
        let none = asked()
        none.say(Bench.revisions([]))
        expectEnd(none, "1 documents unanswered")
        let unknown = asked()
        unknown.say(Bench.revisions(request: 2, [Bench.delivery("a", Self.revision)]))
        expectEnd(unknown, "not open")
        let twice = asked()
        twice.say(Bench.revisions([Bench.delivery("a", Self.revision)]))
        #expect(twice.store.documents == 1)
        twice.say(Bench.revisions([Bench.delivery("a", Self.revision)]))
        expectEnd(twice, "not open")
        let digests = asked()
        digests.say(.rangeDigests(RangeAnswer(feed: 1, position: Samples.position, ranges: [])))
        expectEnd(digests, "not asked for")
        let list = asked()
        list.say(.rangeChanges(feed: 1, changes: [], isFinal: true))
        expectEnd(list, "not asked for")
        let compared = asked()
        compared.say(.compared(Compared(feed: 1, position: Samples.position, digest: Samples.digest, documents: [])))
        expectEnd(compared, "not asked for")
        let checkpoint = asked()
        checkpoint.say(.unknown(1, Samples.state))
        expectEnd(checkpoint, "not sent")
    }

    @Test("A revision that is not the hash of its content is refused alone")
    func wrongHash() {
        let bench = Bench.opened()
        let (good, bad) = (Bench.revision(1), Bench.revision(2))
        bench.say(bench.changes(1, [(1, "a", good.id), (2, "b", bad.id)]))
        let forged = Revision(
            id: bad.id, parent: nil, mergedParents: [], kind: .edit, body: Array("{\"n\":666}".utf8),
            stamps: bad.stamps,
            version: bad.version, isForeign: false)
        bench.say(Bench.revisions([Bench.delivery("a", good), Bench.delivery("b", forged)]))
        #expect(bench.ended == nil)
        #expect(bench.store.documents == 1)
        #expect(bench.store.checkpoints[Bench.peer] == Position(timeline: 2, sequence: 2))
        let reason = "revision \(bad.id) is not the hash of its content"
        let refusal = Refusal(document: DocumentID(unchecked: "b"), reason: reason)
        #expect(bench.events.contains(.refused(database: "db", [refusal])))
        #expect(bench.said.contains(.refused(feed: 1, refusals: [refusal])))
    }

    @Test("A revision that can't be read is refused alone, and not asked for again")
    func unreadable() throws {
        let bench = Bench.opened()
        let (good, bad) = (Bench.revision(1), Bench.revision(2))
        bench.say(bench.changes(1, [(1, "a", good.id), (2, "b", bad.id)]))
        var bytes = Samples.encoded(Bench.revisions([Bench.delivery("b", bad), Bench.delivery("a", good)]))
        let body = try #require(bytes.firstRange(of: Array("G{\"n\":2}".utf8)))
        bytes[body.lowerBound - 1] = 8
        bench.say(raw: bytes)
        #expect(bench.ended == nil)
        #expect(bench.store.body("a") == "{\"n\":1}" && bench.store.documents == 1)
        #expect(bench.store.refused[DocumentID(unchecked: "b")] == [bad.id])
        #expect(
            bench.events.contains(
                .refused(
                    database: "db",
                    [Refusal(document: DocumentID(unchecked: "b"), reason: "a revision has the unknown kind 8")])))
        bench.say(bench.changes(2, [(3, "b", bad.id)]))
        #expect(bench.said.count { if case .want = $0 { true } else { false } } == 1)
    }

    @Test("The parts of a document follow one another and keep their bounds")
    func chunks() {
        func chunk(_ total: Int, _ offset: Int, _ count: Int, request: UInt64 = 1) -> Message {
            .revisionChunk(
                RevisionChunk(
                    feed: 1, request: request, totalBytes: total, offset: offset,
                    bytes: [UInt8](repeating: 0, count: count)))
        }
        for (message, text) in [
            (chunk(100, 1, 10), "follow"), (chunk(10, 0, 11), "follow"), (chunk(10, 0, 5, request: 2), "not open"),
            (chunk(10, 0, 10), "expected"),
        ] {
            let bench = asked()
            bench.say(message)
            expectEnd(bench, text)
        }
        let changed = asked()
        changed.say(chunk(100, 0, 50))
        changed.say(chunk(101, 50, 10))
        expectEnd(changed, "follow")
        let final = asked()
        final.say(chunk(100, 0, 50))
        final.say(Bench.revisions([Bench.delivery("a", Self.revision)]))
        expectEnd(final, "unanswered")
        let large = asked()
        var frame = CBORWriter()
        let start = frame.beginFrame(.revisionChunk)
        frame.append(1, 1, 25 << 20, 0, [1])
        frame.endFrame(start)
        large.say(raw: frame.bytes)
        expectEnd(large, "over the limit")
    }

    @Test("Nobody sends more than the credit, nor grants without bound")
    func credit() {
        let bench = Bench.opened { $0.windowBytes = 100_000 }
        bench.isSlow = true
        for page in 1...8 where bench.ended == nil {
            let base = UInt64(page * 1000)
            bench.say(
                bench.changes(
                    UInt64(page),
                    (0..<400).map {
                        (base + UInt64($0), "\(String(repeating: "x", count: 100))-\($0)", Self.revision.id)
                    }))
        }
        expectEnd(bench, "credit")
        let granting = Bench.opened()
        granting.say(.credit(.max))
        expectEnd(granting, "credit")
        let slowly = Bench.opened()
        for _ in 0..<100 where slowly.ended == nil { slowly.say(.credit(1 << 20)) }
        expectEnd(slowly, "credit")
    }

    @Test("Requests are numbered, not empty, and not too many")
    func requests() {
        func opened() -> Bench {
            let bench = Bench.opened(documents: 5)
            bench.say(.open(feed: 1, database: 1))
            bench.say(.subscribe(feed: 1, after: nil))
            return bench
        }
        let want = Want(document: Samples.document("doc-1"), revisions: [Samples.id(1, 1)], known: [])
        let gap = opened()
        gap.say(.want(feed: 1, request: 2, wants: [want]))
        expectEnd(gap, "request 2 came after 0")
        let empty = opened()
        empty.say(.want(feed: 1, request: 1, wants: []))
        expectEnd(empty, "wants nothing")
        let many = opened()
        many.isSlow = true
        for request in 1...33 { many.say(.want(feed: 1, request: UInt64(request), wants: [want])) }
        expectEnd(many, "more than 32 requests")
        let ack = opened()
        ack.say(.ack(Ack(feed: 1, page: 2, position: Samples.position, digest: Samples.digest)))
        expectEnd(ack, "acknowledged and was not sent")
        let twoQuestions = opened()
        twoQuestions.isSlow = true
        twoQuestions.say(.rangeQuery(feed: 1, firstBytes: []))
        twoQuestions.say(.rangeQuery(feed: 1, firstBytes: []))
        expectEnd(twoQuestions, "two questions")
        let twoLists = opened()
        twoLists.isSlow = true
        twoLists.say(.rangeList(feed: 1, ranges: [1]))
        twoLists.say(.rangeList(feed: 1, ranges: [1]))
        expectEnd(twoLists, "two lists")
        let twoComparisons = opened()
        twoComparisons.isSlow = true
        twoComparisons.say(.compare(feed: 1, documents: []))
        twoComparisons.say(.compare(feed: 1, documents: []))
        expectEnd(twoComparisons, "two comparisons")
        let pong = opened()
        pong.say(.pong(Heartbeat(nonce: 99, wallClock: nil)))
        expectEnd(pong, "not sent")
    }

    @Test("A reader that is asked for documents says that it is none to ask")
    func reader() {
        let bench = Bench.opened { $0.localIsSource = false }
        bench.say(.open(feed: 1, database: 1))
        #expect(bench.ended == nil)
        #expect(
            bench.said.contains(
                .feedEnded(FeedEnd(feed: 1, code: .notASource, text: "documents are not pulled from a reader"))))
        bench.say(.subscribe(feed: 1, after: nil))
        #expect(bench.ended == nil)
    }

    @Test("Random messages in random order never trap", arguments: 1...60)
    func fuzz(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bench = Bench.opened(documents: random.below(2000)) { $0.windowBytes = 1 << 20 }
        bench.isSlow = random.chance(1, in: 2)
        for _ in 0..<300 where bench.ended == nil {
            bench.now += UInt64(random.below(300))
            switch random.below(10) {
            case 0: bench.answer()
            case 1: bench.pass(0)
            case 2:
                bench.store.put("doc-\(random.below(50))", "{\"n\":\(random.below(100))}")
                bench.input(.localCommit(database: "db", try! bench.store.summary()))
            case 3:
                var bytes = Samples.encoded(random.pick(Samples.messages).message)
                bytes[random.below(bytes.count)] ^= UInt8(1 << random.below(8))
                bench.say(raw: bytes)
            default: bench.say(plausible(&random))
            }
        }
        bench.answer()
        bench.input(.disconnected)
        bench.answer()
    }

    /// A message that may be legal at some moment.
    private func plausible(_ random: inout SeededGenerator) -> Message {
        let feed = UInt64(1 + random.below(2))
        let position = Position(timeline: UInt64(1 + random.below(2)), sequence: UInt64(random.below(3000)))
        let document = Samples.document("doc-\(random.below(20))")
        let page = UInt64(1 + random.below(4))
        switch random.below(16) {
        case 0: return .open(feed: feed, database: 1)
        case 1: return .subscribe(feed: feed, after: random.chance(1, in: 2) ? position : nil)
        case 2: return .unsubscribe(FeedEnd(feed: feed, code: .closed, text: ""))
        case 3:
            return .want(
                feed: feed, request: page, wants: [Want(document: document, revisions: [Samples.id(1, 3)], known: [])])
        case 4: return .ack(Ack(feed: feed, page: page, position: position, digest: Samples.digest))
        case 5: return .rangeQuery(feed: feed, firstBytes: random.chance(1, in: 2) ? [] : [1, 2])
        case 6: return .rangeList(feed: feed, ranges: [UInt16(random.below(65_536))])
        case 7: return .compare(feed: feed, documents: [document])
        case 8, 9:
            let revision = Bench.revision(random.below(20))
            return .changes(
                Changes(
                    feed: 1, page: page, through: Position(timeline: 2, sequence: page * 10),
                    digest: random.chance(1, in: 2) ? Samples.digest : nil, latest: page * 10,
                    changes: [Change(sequence: page * 10, document: document, leaves: [AnnouncedLeaf(id: revision.id)])]
                ))
        case 10: return Bench.revisions(request: page, [Bench.delivery("doc-\(random.below(20))", Bench.revision(1))])
        case 11: return Bench.revisions(request: page, [], gone: ["doc-\(random.below(20))"])
        case 12: return .feedEnded(FeedEnd(feed: 1, code: .storeBusy, text: "busy"))
        case 13: return .unknown(1, Samples.state)
        case 14: return .credit(UInt64(random.below(1 << 16)))
        default: return .ping(Heartbeat(nonce: 1, wallClock: 5))
        }
    }
}
