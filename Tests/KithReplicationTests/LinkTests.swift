import KithDocument
import KithTestSupport
import Testing

@testable import KithReplication

/// The hello, the heartbeat and the end of a link.
@Suite struct LinkTests {
    @Test("Sides without a common version part with a message that names both ranges")
    func versionMismatch() {
        let world = World(seed: 1)
        let (one, other) = (world.addNode(), world.addNode())
        let (left, right) = world.connect(one, other) { node, configuration in
            configuration.versions = node === one ? ProtocolVersions(1, 2) : ProtocolVersions(3, 5)
        }
        world.run(1000)
        let texts = [left, right].compactMap(\.ended?.goodbye.text)
        #expect(texts.count == 2)
        for text in texts { #expect(text.contains("1 to 2") && text.contains("3 to 5"), "\(text)") }
        #expect(left.ended?.goodbye.code == .versionMismatch)
        #expect(left.isClosed && right.isClosed)
    }

    @Test("The highest version of both ranges is taken")
    func highestVersion() {
        #expect(ProtocolVersions(1, 4).common(with: ProtocolVersions(2, 3)) == 3)
        #expect(ProtocolVersions(2, 3).common(with: ProtocolVersions(1, 4)) == 3)
        #expect(ProtocolVersions(1, 1).common(with: ProtocolVersions(2, 2)) == nil)
        #expect(ProtocolVersions(1, 2).common(with: ProtocolVersions(2, 9)) == 2)
        let bench = Bench { $0.versions = ProtocolVersions(1, 7) }
        bench.start()
        var hello = Bench.hello()
        hello.versions = ProtocolVersions(3, 6)
        bench.say(.hello(hello))
        guard case .opened(let peer)? = bench.events.first else {
            Issue.record("the link did not open: \(bench.events)")
            return
        }
        #expect(peer.protocolVersion == 6 && peer.nodeName == "peer" && peer.capabilities == ["unheard-of"])
    }

    @Test("A peer that is not trusted is told so and gets no document")
    func notTrusted() {
        let world = World(seed: 2)
        let (one, other) = (world.addNode(), world.addNode())
        one.store.put("secret", "{}")
        other.distrust = "the node was revoked"
        one.distrust = "the node was revoked"
        let (left, right) = world.connect(one, other)
        world.run(1000)
        #expect(left.ended?.goodbye.code == .notTrusted && right.ended != nil)
        #expect(other.store.documents == 0)
    }

    @Test("Statements are judged before anything that follows them is looked at")
    func statementsFirst() {
        let bench = Bench()
        bench.isSlow = true
        bench.start(documents: 3)
        bench.say(.hello(Bench.hello()))
        bench.say(.open(feed: 1, database: 1))
        bench.say(.subscribe(feed: 1, after: nil))
        #expect(bench.requests.isEmpty)
        bench.answer()
        #expect(!bench.requests.isEmpty)
        for _ in 0..<10 { bench.answer() }
        #expect(bench.said.contains { if case .changes = $0 { true } else { false } })

        // A later revocation holds what follows it, too.
        let asked = bench.requests.count
        bench.say(.statements([[1]]))
        bench.say(
            .want(
                feed: 1, request: 1,
                wants: [Want(document: Samples.document("doc-1"), revisions: [Samples.id(1, 1)], known: [])]))
        #expect(bench.requests.count == asked)
        bench.input(.statementsJudged(refusal: "revoked by ann"))
        #expect(bench.ended?.goodbye == Goodbye(code: .notTrusted, text: "revoked by ann"))
        #expect(bench.requests.count == asked)
    }

    @Test("Why a peer goes is known though it went before its statements were judged")
    func goodbyeWhileJudging() {
        for isCutShort in [false, true] {
            let bench = Bench()
            bench.isSlow = true
            bench.start(documents: 1)
            bench.say(.hello(Bench.hello()))
            bench.say(.statements([[1]]))
            let goodbye = Samples.encoded(.goodbye(Goodbye(code: .paused, text: "paused there")))
            bench.say(raw: isCutShort ? goodbye.dropLast() : goodbye)
            #expect(bench.ended == nil)
            bench.input(.disconnected)
            #expect(bench.ended?.goodbye.text == (isCutShort ? nil : "paused there"))
            // The answer that comes now changes nothing.
            bench.answer()
            #expect(bench.events.isEmpty && bench.link.isEnded)
        }
    }

    @Test("A silent peer is pinged and then dropped", arguments: [1, 2, 3])
    func heartbeat(seed: UInt64) {
        let world = World(seed: seed)
        let (one, other) = (world.addNode(), world.addNode())
        let (left, right) = world.connect(one, other)
        world.run(60_000)
        #expect(left.ended == nil && right.ended == nil)
        let started = world.now
        right.isCut = true
        world.run(60_000) { left.ended != nil }
        #expect(left.ended?.goodbye.code == .silence)
        #expect(world.now - started >= 10_000 && world.now - started <= 15_100)
    }

    @Test("A peer that is asked whether it is there is pinged at once, and not again for the next who asks")
    func probe() {
        let bench = Bench.opened()
        func pings() -> Int { bench.said.count { if case .ping = $0 { true } else { false } } }
        let before = pings()
        bench.now += 1_000
        bench.input(.probe)
        bench.input(.probe)
        #expect(pings() == before + 1)
        bench.now += ReplicationLimits.probeMilliseconds
        bench.input(.probe)
        #expect(pings() == before + 2)
        #expect(bench.ended == nil)
    }

    @Test("A peer whose bytes trickle and who answers no ping is dropped")
    func trickle() {
        let bench = Bench.opened()
        let frame = Samples.encoded(.presence([UInt8](repeating: 3, count: 4_000)))
        var seconds = 0
        while bench.ended == nil, seconds < 200 {
            bench.now += 1_000
            bench.say(raw: [frame[seconds]])
            bench.input(.deadline)
            seconds += 1
        }
        #expect(bench.ended?.goodbye.code == .silence)
        #expect(seconds >= 59 && seconds <= 62, "\(seconds)")
    }

    @Test("A slow peer that answers its pings stays")
    func slowAnswers() {
        let bench = Bench.opened()
        let frame = Samples.encoded(.presence([UInt8](repeating: 3, count: 1_000)))
        for round in 0..<5 {
            for byte in frame.prefix(40) {
                bench.now += 1_000
                bench.say(raw: [byte])
                bench.input(.deadline)
            }
            bench.say(raw: Array(frame.dropFirst(40)))
            guard case .ping(let ping)? = bench.said.last(where: { if case .ping = $0 { true } else { false } }) else {
                Issue.record("no ping")
                return
            }
            bench.say(.pong(ping))
            #expect(bench.ended == nil, "round \(round)")
        }
    }

    /// Three documents of 900 kB one way, or both, over 20 kB/s, while both ends ask all the time whether the other is there.
    @Test("A slow link that moves bytes lives, however long a ping waits behind them", arguments: [false, true])
    func slowLink(bothWays: Bool) {
        let world = World(seed: 8)
        world.bytesPerSecond = 20_000
        world.pieceBytes = 4_000
        let (one, other) = (world.addNode(), world.addNode())
        for number in 0..<3 {
            let body = "{\"x\":\"\(String(repeating: "y", count: 900_000))\"}"
            one.store.put("of-one-\(number)", body)
            if bothWays { other.store.put("of-other-\(number)", body) }
        }
        let (left, right) = world.connect(one, other)
        let began = world.now
        while world.now < began + 900_000, left.ended == nil, right.ended == nil, !(left.isInSync && right.isInSync) {
            world.run(1_000)
            left.input(.probe)
            right.input(.probe)
        }
        #expect(left.ended == nil && right.ended == nil, "\(String(describing: left.ended ?? right.ended))")
        #expect(left.isInSync && right.isInSync)
        let pings = left.events.count { if case .heartbeat = $0 { true } else { false } }
        #expect(pings > 2, "round trips are measured although the next ping goes before an answer comes")
    }

    @Test("Who only receives says something every few seconds, so that a slow sender hears that it is there")
    func speaksWhileReceiving() {
        let bench = Bench.opened()
        guard case .ping(let first)? = bench.said.last(where: { if case .ping = $0 { true } else { false } }) else {
            Issue.record("no ping at first: \(bench.said)")
            return
        }
        bench.say(.pong(first))
        let before = bench.said.count
        let frame = Samples.encoded(.presence([UInt8](repeating: 3, count: 30_000)))
        for part in 0..<29 {
            bench.now += 1_000
            bench.say(raw: Array(frame[part * 1_000..<(part + 1) * 1_000]))
            if let deadline = bench.link.nextDeadline, deadline.milliseconds <= bench.now { bench.input(.deadline) }
        }
        #expect(bench.ended == nil)
        #expect(bench.said.count >= before + 5, "\(bench.said.dropFirst(before))")
    }

    @Test(
        "A ping that waits behind bytes that the peer's machine takes has its time from the last of them",
        arguments: [false, true])
    func arrivedBytes(areTaken: Bool) {
        let bench = Bench.opened()
        var second: UInt64 = 0
        while second < 200, bench.ended == nil {
            second += 1
            bench.now += 1_000
            if areTaken { bench.input(.arrived(total: second * 1_000)) }
            // Something is heard, and no ping is answered.
            bench.say(.credit(0))
            bench.input(.deadline)
        }
        #expect((bench.ended == nil) == areTaken)
        #expect(areTaken || (59...62).contains(second), "\(second)")
    }

    @Test("A peer that grants no credit can't fill the memory with answers that wait for it")
    func answersWithoutCredit() {
        let bench = Bench { $0.localIsSource = false }
        bench.start()
        var hello = Bench.hello()
        hello.window = 0
        bench.say(.hello(hello))
        var feed: FeedID = 0
        while bench.ended == nil, feed < 2_000_000 {
            var bytes: [UInt8] = []
            for _ in 0..<1_000 {
                feed += 1
                bytes += Samples.encoded(.open(feed: feed, database: 1))
            }
            bench.say(raw: bytes)
        }
        #expect(bench.ended?.goodbye.code == .silence)
        #expect(feed < 1_000_000)
    }

    @Test("Round trip and clock offset are measured")
    func clocks() {
        let world = World(seed: 3)
        let (one, other) = (world.addNode(), world.addNode())
        other.clockSkew = 90_000
        let (left, right) = world.connect(one, other)
        world.run(40_000)
        func measured(_ side: LinkSide) -> [(UInt64, Int64)] {
            side.events.compactMap {
                if case .heartbeat(_, let trip, let offset?) = $0 { (trip, offset) } else { nil }
            }
        }
        for (trip, offset) in measured(left) { #expect(trip <= 12 && abs(offset - 90_000) <= 6) }
        for (trip, offset) in measured(right) { #expect(trip <= 12 && abs(offset + 90_000) <= 6) }
        #expect(measured(left).count > 4)
    }

    @Test("A pong waits for no store")
    func pong() {
        let bench = Bench.opened(documents: 10)
        bench.isSlow = true
        bench.say(.open(feed: 1, database: 1))
        bench.say(.subscribe(feed: 1, after: nil))
        bench.say(.ping(Heartbeat(nonce: 7, wallClock: nil)))
        #expect(bench.said.last == .pong(Heartbeat(nonce: 7, wallClock: nil)))
        #expect(!bench.waiting.isEmpty)
    }

    @Test("A peer that says no hello is dropped")
    func noHello() {
        let bench = Bench()
        bench.start()
        #expect(bench.link.nextDeadline == Instant(milliseconds: 11_000))
        bench.pass(10_000)
        #expect(bench.ended?.goodbye.code == .silence)
        #expect(bench.link.isEnded && bench.link.nextDeadline == nil)
        bench.say(.hello(Bench.hello()))
        #expect(bench.requests.isEmpty)
    }

    @Test("Presence records, later statements and goodbyes reach the other side")
    func sideChannel() {
        let world = World(seed: 4)
        let (one, other) = (world.addNode(), world.addNode())
        let (left, right) = world.connect(one, other)
        #expect(world.run { left.isInSync })
        left.input(.presence([[1, 2, 3]]))
        world.run(50)
        #expect(right.events.contains(.presence([1, 2, 3])))
        other.distrust = "revoked"
        left.input(.statements([[4]]))
        world.run(50)
        #expect(right.ended?.goodbye == Goodbye(code: .notTrusted, text: "revoked"))
        #expect(left.ended == LinkEnd(isByPeer: true, goodbye: Goodbye(code: .notTrusted, text: "revoked")))
    }

    @Test("An ordinary end writes the checkpoints that were put off")
    func checkpointsAtTheEnd() {
        let world = World(seed: 5)
        let (one, other) = (world.addNode(), world.addNode())
        for number in 0..<10 {
            one.store.put("doc-\(number)", "{}")
        }
        let (left, right) = world.connect(one, other)
        #expect(world.run { left.isInSync && right.isInSync })
        // Its own feed brought nothing, so this checkpoint is put off.
        left.input(.stop(Goodbye(code: .closing, text: "stopping")))
        world.run(100)
        #expect(one.store.checkpoints[other.id]?.sequence == UInt64(other.store.documents))
        #expect(right.ended?.isByPeer == true)
    }

    @Test("A peer that reads nothing while it talks is dropped before much waits for it")
    func neverReads() {
        let bench = Bench.opened()
        bench.input(.sendBufferDrained(remaining: ReplicationLimits.heldBytes))
        #expect(bench.ended == nil)
        bench.input(.sendBufferDrained(remaining: ReplicationLimits.heldBytes + 1))
        #expect(bench.ended?.goodbye.code == .silence)
    }
}
