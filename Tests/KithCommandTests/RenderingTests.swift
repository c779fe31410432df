import KithDocument
import KithNode
import KithTestSupport
import Testing

@testable import kith

/// Status texts as they are read, at several widths.
@Suite struct RenderingTests {
    private static let now: Int64 = 1_796_049_296_000

    static func status(_ change: (inout ControlStatus) -> Void = { _ in }) throws -> JSONValue {
        var status = ControlStatus(generatedAt: now)
        status.node.id = "4f7a2b9c" + String(repeating: "0", count: 56)
        status.node.name = "living-room"
        status.node.group = "home"
        status.node.role = "admin"
        status.node.version = "0.1.0"
        status.node.startedAt = now - 273_600_000
        status.node.listen = ["[::]:5484"]
        status.node.data = "/home/ann/.local/share/kith"
        status.discovery.state = .advertised
        status.discovery.foreignGroups = 1
        status.checks = [
            .init(
                code: "DISCOVERY_DOWN", level: .warning,
                summary: "avahi-daemon has not answered; known peers still replicate",
                action: "systemctl status avahi-daemon; see kith help discovery-down", since: now - 120_000),
            .init(
                code: "STORAGE_FULL", level: .critical, summary: "the disk of /home/ann/.local/share/kith is full",
                action: "make room; the node goes on by itself", since: nil),
        ]
        status.databases = [database("notes", 18_204, 3, 91_877), database("日本語-long-name-of-a-database", 2, 0, 4)]
        status.peers = [catchingUp, den, attic]
        change(&status)
        return try JSONValue(parsing: status.json)
    }

    private static func database(_ name: String, _ documents: UInt64, _ conflicts: UInt64, _ sequence: UInt64)
        -> ControlStatus.Database
    {
        var database = ControlStatus.Database()
        database.name = name
        database.documents = documents
        database.deleted = 12
        database.conflicts = conflicts
        database.sequence = sequence
        database.bytes = 212_000_000
        database.walBytes = 4_000_000
        database.inSyncWith = 1
        database.peers = 2
        return database
    }

    private static var den: ControlStatus.Peer {
        var peer = ControlStatus.Peer()
        peer.id = "9a41" + String(repeating: "1", count: 60)
        peer.name = "den"
        peer.state = .inSync
        peer.connected = true
        peer.direction = .dialled
        peer.address = "10.0.0.7:5484"
        peer.since = now - 7_380_000
        peer.lastExchangeAt = now - 2_000
        peer.roundTripMilliseconds = 1.2
        peer.clockOffsetMilliseconds = -3
        peer.sentBytes = 1_200_000
        peer.receivedBytes = 3_400
        peer.version = "0.1.0"
        peer.protocolVersion = 1
        peer.candidates = [
            .init(address: "10.0.0.7:5484", source: "discovered", lastTriedAt: now - 7_400_000, lastError: nil),
            .init(
                address: "[fe80::1%wlan0]:5484", source: "remembered", lastTriedAt: now - 9_000, lastError: "timed out"),
        ]
        var database = ControlStatus.PeerDatabase()
        database.name = "notes"
        database.inChanges = 0
        database.outChanges = 0
        database.digestEqual = true
        database.pulled = 12
        database.pushed = 4_000
        database.refused = 0
        peer.databases = [database]
        return peer
    }

    private static var catchingUp: ControlStatus.Peer {
        var peer = den
        peer.id = "07c0" + String(repeating: "2", count: 60)
        peer.name = "laptop-with-a-rather-long-name"
        peer.state = .catchingUp
        peer.direction = .accepted
        peer.address = "[fe80::8c1f:2ff:fe00:1%wlan0]:49152"
        peer.databases[0].inChanges = 1_204
        peer.databases[0].digestEqual = false
        peer.roundTripMilliseconds = 9
        peer.lastExchangeAt = now
        return peer
    }

    private static var attic: ControlStatus.Peer {
        var peer = ControlStatus.Peer()
        peer.id = "ee" + String(repeating: "3", count: 62)
        peer.name = "attic"
        peer.state = .refused
        peer.reason = "it was revoked by living-room"
        peer.lastExchangeAt = now - 172_800_000
        peer.version = "0.0.9"
        peer.candidates = [
            .init(
                address: "10.0.0.9:5484", source: "remembered", lastTriedAt: now - 5_000,
                lastError: "connection refused")
        ]
        return peer
    }

    @Test(arguments: [60, 80, 200]) func theStatusKeepsToTheWidth(width: Int) throws {
        let lines = StatusRenderer(try Self.status(), width: width, colour: false).lines()
        for line in lines { #expect(Display.cells(line) <= width, "\(line)") }
        try Golden.expect(lines, "status-\(width)")
    }

    @Test(arguments: [60, 80, 200]) func inColourItIsAsRead(width: Int) throws {
        try Golden.expect(
            StatusRenderer(try Self.status(), width: width, colour: true).lines(), "status-\(width)-colour")
    }

    /// Each state that a peer can be in, with what goes with it.
    private static func allStates(_ status: inout ControlStatus) {
        status.checks = []
        status.peers = ControlStatus.PeerState.allCases.enumerated().map { index, state in
            var peer = state == .inSync || state == .catchingUp || state == .blocked ? den : attic
            peer.id = "\(index)a41" + String(repeating: "1", count: 60)
            peer.name = state.rawValue
            peer.state = state
            peer.reason = nil
            switch state {
            case .catchingUp: peer.databases[0].inChanges = 1_204
            case .blocked:
                peer.reason = "notes: the peer's store failed: database or disk is full"
                peer.databases[0].inChanges = 17
            case .paused:
                peer.reason = "paused here"
                peer.pausedUntil = now + 14_340_000
            case .refused: peer.reason = "the peer says: this node was revoked"
            case .neverSeen:
                peer.lastExchangeAt = nil
                peer.version = nil
                peer.candidates = []
            case .inSync, .unknown: break
            }
            return peer
        }
    }

    @Test func everyStateOfAPeerIsShown() throws {
        let status = try Self.status(Self.allStates)
        for state in ControlStatus.PeerState.allCases {
            let lines = StatusRenderer(status, width: 80, colour: false).lines()
            #expect(lines.contains { $0.contains(state.rawValue.replacing("_", with: " ")) }, "\(state)")
        }
        try Golden.expect(StatusRenderer(status, width: 80, colour: false).lines(), "status-states")
        try Golden.expect(StatusRenderer(status, width: 80, colour: true).lines(), "status-states-colour")
    }

    @Test(arguments: [20, 40, 60, 80, 200], [false, true])
    func manyPeersWithNamesOfAnyWidthKeepToTheWidth(width: Int, colour: Bool) throws {
        let names = ["n", "日本語の長い名前のマシン一号", "e\u{301}e\u{301}", "👨‍👩‍👧 family", String(repeating: "long-", count: 25)]
        let status = try Self.status { status in
            status.node.name = names[1]
            status.node.group = names[4]
            status.databases = (0..<20).map { Self.database(names[$0 % 5] + "\($0)", .max, .max, .max) }
            status.peers = (0..<50).map { number in
                var peer = number.isMultiple(of: 3) ? Self.attic : Self.catchingUp
                peer.id = String(number, radix: 16) + String(repeating: "5", count: 62)
                peer.name = names[number % 5]
                peer.reason = number.isMultiple(of: 7) ? String(repeating: "理由 ", count: 60) : nil
                return peer
            }
        }
        let lines = StatusRenderer(status, width: width, colour: colour).lines()
        for line in lines {
            let plain = Self.withoutColour(line)
            #expect(Display.cells(plain) <= width, "\(plain)")
        }
        #expect(lines.last?.hasPrefix("33 of 50 peers") == true)
        let piped = StatusRenderer(status, width: nil, colour: false).lines()
        #expect(!piped.contains { $0.contains("…") })
        for name in names { #expect(piped.contains { $0.contains(name.prefix(60)) }) }
    }

    @Test func textOfOthersSteersNoTerminal() throws {
        let status = try Self.status { status in
            status.checks[0].summary = "a\u{1b}[2J\nb\u{9b}c"
            status.checks[0].action = "\u{1b}]0;title\u{7}"
            status.peers[0].name = "x\u{1b}[31m\ny"
            status.peers[0].reason = "\u{1b}[2J"
            status.discovery.lastError = "\u{1b}[2J"
            status.peers[2].candidates[0].lastError = "\u{1b}[2J\r"
        }
        for width in [80, nil] {
            let texts =
                StatusRenderer(status, width: width, colour: false).lines()
                + StatusRenderer(status, width: width, colour: false).brief()
                + (0..<3).flatMap {
                    PeerRenderer(status["peers"]![$0]!, now: Self.now, width: width, colour: false).lines()
                }
            for text in texts {
                #expect(!text.unicodeScalars.contains { $0.value < 32 || (0x7f...0x9f).contains($0.value) }, "\(text)")
            }
        }
    }

    private static func withoutColour(_ line: String) -> String {
        var text = line
        for code in ["[32m", "[33m", "[31m", "[2m", "[0m"] { text = text.replacing("\u{1B}\(code)", with: "") }
        return text
    }

    @Test func aPipedStatusIsNeverCut() throws {
        let lines = StatusRenderer(try Self.status(), width: nil, colour: false).lines()
        #expect(!lines.contains { $0.contains("…") })
        try Golden.expect(lines, "status-piped")
    }

    @Test func anEmptyNodeSaysWhatToDo() throws {
        let status = try Self.status { status in
            status.databases = []
            status.peers = []
            status.checks = []
            status.node.group = nil
            status.node.listen = []
        }
        try Golden.expect(StatusRenderer(status, width: 80, colour: false).lines(), "status-empty")
    }

    @Test func aStatusOfAnotherVersionIsShownAsFarAsItGoes() throws {
        for text in ["{}", "[]", "null", #"{"peers":[{}],"databases":[{}],"health":{"checks":[{}]},"node":{}}"#] {
            let lines = StatusRenderer(try JSONValue(parsing: text), width: 80, colour: true).lines()
            #expect(!lines.isEmpty)
        }
    }

    @Test func colourNeverCarriesMeaningAlone() throws {
        let plain = StatusRenderer(try Self.status(), width: 80, colour: false).lines()
        let coloured = StatusRenderer(try Self.status(), width: 80, colour: true).lines()
        #expect(coloured != plain)
        let stripped = coloured.map { line in
            var text = Self.withoutColour(line)
            while text.hasSuffix(" ") { text.removeLast() }
            return text
        }
        #expect(stripped == plain)
    }

    @Test func theBriefFormIsOneCalmLineWhenAllIsWell() throws {
        let well = try Self.status { status in
            status.checks = []
            status.peers = [status.peers[1]]
        }
        #expect(StatusRenderer(well, width: 80, colour: false).brief() == ["all well; in sync with 1 of 1"])
        let alone = try Self.status { status in
            status.checks = []
            status.peers = []
        }
        #expect(StatusRenderer(alone, width: 80, colour: false).brief() == ["all well; no peers known"])
        try Golden.expect(StatusRenderer(try Self.status(), width: nil, colour: false).brief(), "status-brief")
    }

    @Test func aPauseIsShownWithTheTimeLeft() throws {
        let status = try Self.status { status in
            status.peers[0].state = .paused
            status.peers[0].pausedUntil = Self.now + 14_340_000
        }
        let lines = StatusRenderer(status, width: nil, colour: false).lines()
        #expect(lines.contains { $0.contains("paused 3h 59m") })
    }

    @Test func whatIsNotKnownOfAPeerIsAQuestionMark() throws {
        let status = try Self.status { status in status.peers[1].databases[0].inChanges = nil }
        let lines = StatusRenderer(status, width: nil, colour: false).lines()
        #expect(lines.contains { $0.hasPrefix("den (9a411111)") && $0.split(separator: " ").contains("?") })
    }

    @Test func onePeerIsShownInFull() throws {
        let status = try Self.status()
        for (index, name) in ["peer-catching-up", "peer-in-sync", "peer-refused"].enumerated() {
            let peer = try #require(status["peers"]?[index])
            try Golden.expect(PeerRenderer(peer, now: Self.now, width: 80, colour: false).lines(), name)
        }
    }

    @Test func whatIsLeftOutAndWhatWasComparedIsSaidOfAPeer() throws {
        let status = try Self.status { status in
            status.peers[1].databases[0].leftOutHere = 3
            status.peers[1].databases[0].leftOutByPeer = 1
            status.peers[1].databases[0].comparedAt = Self.now - 240_000
            status.peers[1].databases[0].comparedBecause = "no_checkpoint"
            status.peers[1].databases[0].comparedRevisions = 1_204
            var other = status.peers[1].databases[0]
            other.name = "other"
            other.leftOutHere = 0
            other.leftOutByPeer = 0
            other.comparedBecause = "digests_differed"
            other.comparedRevisions = 0
            status.peers[1].databases.append(other)
        }
        let peer = try #require(status["peers"]?[1])
        try Golden.expect(PeerRenderer(peer, now: Self.now, width: 80, colour: false).lines(), "peer-compared")
    }

    @Test func theMeshIsATableOfNodes() throws {
        var one = ControlMesh.Node(id: "aaaaaaaaaa", name: "den")
        one.isSelf = true
        one.version = "0.1.0"
        one.neighbours = ["bbbbbbbbbb", "cccccccccc"]
        var two = ControlMesh.Node(id: "bbbbbbbbbb", name: "attic")
        two.lastHeardAt = Self.now - 4_000
        two.neighbours = ["aaaaaaaaaa"]
        let three = ControlMesh.Node(id: "cccccccccc", name: nil)
        let mesh = try JSONValue(parsing: ControlMesh(generatedAt: Self.now, nodes: [one, two, three]).json)
        try Golden.expect(MeshRenderer(mesh, width: 80, colour: false).lines(), "mesh-80")
        #expect(MeshRenderer(.null, width: 80, colour: false).lines() == ["no nodes known"])
    }

    @Test func theHistoryIsDrawnAsATree() throws {
        func revision(_ generation: UInt64, _ letter: UInt64) -> RevisionID {
            RevisionID(generation: generation, digest: Digest128(high: letter << 60, low: 0))
        }
        var first = ControlHistory.Revision(id: revision(1, 1), kind: .edit, parent: nil)
        first.time = Self.now - 60_000
        let left = ControlHistory.Revision(id: revision(2, 2), kind: .edit, parent: revision(1, 1))
        let right = ControlHistory.Revision(id: revision(2, 3), kind: .edit, parent: revision(1, 1))
        var closed = ControlHistory.Revision(id: revision(3, 4), kind: .closed, parent: revision(2, 2))
        closed.isLeaf = true
        var merge = ControlHistory.Revision(id: revision(3, 5), kind: .merge, parent: revision(2, 3))
        merge.mergedParents = [revision(2, 2)]
        merge.isLeaf = true
        merge.isWinner = true
        merge.overruled = [
            .init(path: "/colour", revision: revision(2, 2), value: Array("\"blue\"".utf8)),
            .init(path: "/size", revision: revision(2, 2), value: nil),
        ]
        let history = ControlHistory(
            id: try DocumentID("a"), revisions: [first, left, right, closed, merge])
        let value = try JSONValue(parsing: history.json)
        try Golden.expect(HistoryRenderer(value, width: nil, colour: false).lines(), "history")
        #expect(HistoryRenderer(.null, width: 80, colour: false).lines() == ["no revisions known"])
    }

    @Test func aLongHistoryAndABrokenOneAreDrawn() throws {
        let chain = (1...5_000).map { number -> String in
            let parent = number == 1 ? "null" : "\"\(number - 1)-a\""
            return #"{"rev":"\#(number)-a","parent":\#(parent),"kind":"edit","winner":\#(number == 5_000)}"#
        }
        let long = try JSONValue(parsing: #"{"revisions":[\#(chain.joined(separator: ","))]}"#)
        #expect(HistoryRenderer(long, width: nil, colour: false).lines().count == 5_000)
        let circle =
            #"{"revisions":[{"rev":"a","parent":"b"},{"rev":"b","parent":"a","winner":true},{"rev":"c","parent":"c"}]}"#
        #expect(HistoryRenderer(try JSONValue(parsing: circle), width: 80, colour: false).lines().count <= 3)
    }

    @Test(
        arguments: [
            (#"{"level":"ok","checks":[]}"#, "OK", 0),
            (#"{"level":"warning","checks":[{"code":"A","level":"warning","summary":"s"}]}"#, "WARNING A: s", 1),
            (
                #"{"level":"critical","checks":[{"code":"A","level":"critical","summary":"s"},{"code":"B","level":"ok","summary":"t"}]}"#,
                "CRITICAL A: s", 2
            ), ("{}", "UNKNOWN the node's answer has no level", 3),
        ] as [(String, String, Int32)]) func checkIsOneLineAndAStatus(text: String, line: String, status: Int32) throws
    {
        let result = StatusCommands.checkLine(try JSONValue(parsing: text))
        #expect(result.line == line && result.status == status)
    }
}
