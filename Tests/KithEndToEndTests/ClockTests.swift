import Glibc
import KithDocument
import Testing

/// Nodes whose clocks are wrong: the wall clock of the node's process alone, by a library that is loaded into it.
@Suite(.timeLimit(.minutes(10))) struct ClockTests {
    /// A wrong clock, in seconds from the right one.
    enum Clock: String, CaseIterable, Sendable {
        case tenYearsBehind, twentyYearsAhead, aDayAhead, aDayBehind, nineteenSeventy

        /// Ten minutes past the beginning of 1970, as the tests started.
        private static let sinceNineteenSeventy = 600 - time(nil)

        var seconds: Int {
            switch self {
            case .tenYearsBehind: -10 * 365 * 86_400
            case .twentyYearsAhead: 20 * 365 * 86_400
            case .aDayAhead: 86_400
            case .aDayBehind: -86_400
            case .nineteenSeventy: Self.sinceNineteenSeventy
            }
        }

        /// Stands beside the program under test.
        var environment: [String] {
            let library = ChildProgram.kith.dropLast("kith".count) + "libKithTestClock.so"
            return ["LD_PRELOAD=\(library)", "KITH_TEST_CLOCK=\(seconds)"]
        }
    }

    private static func skew(_ node: TestNode) async throws -> String? {
        try await RevocationTests.checks(node).first { $0["code"]?.string == "CLOCK_SKEW" }?["summary"]?.string
    }

    @Test(arguments: Clock.allCases) func aNodeWithAWrongClockJoinsReplicatesAndEndsTheSame(_ clock: Clock) async throws
    {
        try await Lab.open(nodes: 3) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("notes")
            let odd = lab.node("olga")
            odd.setEnvironment(clock.environment)
            // The dates in certificates are not judged, and the code's time is the inviter's.
            try await odd.join(by: nodes[0])
            try await odd.start(peers: nodes)
            let all = nodes + [odd]
            try await all.settle("notes")

            // Written by one, replaced by another that has seen it: whoever comes later wins, whatever the clocks say.
            try await odd.kith("put", "notes", "first-odd", #"{"v":"odd"}"#)
            try await nodes[0].kith("put", "notes", "first-right", #"{"v":"right"}"#)
            try await all.settle("notes")
            try await nodes[1].kith("put", "notes", "first-odd", #"{"v":"right, later"}"#)
            try await odd.kith("put", "notes", "first-right", #"{"v":"odd, later"}"#)
            try await all.settle("notes")
            for node in all {
                #expect(try await node.kith("get", "notes", "first-odd") == #"{"v":"right, later"}"#, "\(node.name)")
                #expect(try await node.kith("get", "notes", "first-right") == #"{"v":"odd, later"}"#, "\(node.name)")
            }
            // At once: one of the two, and the same one everywhere.
            try await all.pauseAll()
            try await odd.kith("put", "notes", "both", #"{"v":"odd"}"#)
            try await nodes[1].kith("put", "notes", "both", #"{"v":"right"}"#)
            try await nodes[0].kith("delete", "notes", "first-odd")
            try await together(all) { try await $0.kith("resume") }
            try await all.settle("notes")
            let winner = try await odd.kith("get", "notes", "both")
            for node in nodes { #expect(try await node.kith("get", "notes", "both") == winner) }
            for node in all { #expect(try await node.run(["get", "notes", "first-odd"]).status == 2) }

            // Each says whose clock it is.
            let told = try await eventually(within: 40) {
                for node in nodes where try await Self.skew(node)?.contains("olga") != true { return false }
                return try await Self.skew(odd)?.contains("clock of this machine") == true
            }
            #expect(told)
            let peer = try await nodes[0].peer(odd)
            let offset = try #require(peer["clock_offset_ms"]?.integer)
            let error = try #require(peer["clock_error_ms"]?.integer)
            let roundTrip = try #require(peer["round_trip_ms"]?.double)
            #expect(Double(error) <= roundTrip / 2 + 2 || error < 1_000)
            let wrong = Int64(clock.seconds) * 1_000
            #expect((offset - wrong).magnitude <= error.magnitude + 2_000, "\(offset) instead of \(wrong)")
        }
    }

    @Test func aClockThatIsSetBackMakesNoTwinOfANode() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(1)
            let odd = lab.node("olga")
            odd.setEnvironment(Clock.twentyYearsAhead.environment)
            try await odd.join(by: nodes[0])
            try await odd.start(peers: nodes)
            try await [nodes[0], odd].makeDatabase("notes")
            try await odd.kith("put", "notes", "one", "{}")
            try await [nodes[0], odd].settle("notes")
            // The time service sets the clock right, and the node starts anew within a minute.
            try await odd.stop()
            odd.setEnvironment([])
            try await odd.start(peers: nodes)
            try await odd.kith("put", "notes", "one", #"{"n":2}"#)
            try await [nodes[0], odd].settle("notes")
            #expect(try await nodes[0].kith("get", "notes", "one") == #"{"n":2}"#)
            // What it says of itself is believed again, so that the mesh sees its new edit and its neighbours.
            let believed = try await eventually(within: 40) {
                let mesh = try await nodes[0].json("mesh", "--json")["nodes"]?.array ?? []
                return mesh.first { $0["id"]?.string == odd.id }?["neighbours"]?.array?.isEmpty == false
            }
            #expect(believed)
            for node in [nodes[0], odd] {
                let codes = try await RevocationTests.checks(node).compactMap { $0["code"]?.string }
                #expect(!codes.contains("IDENTITY_DUPLICATE"))
            }
        }
    }

    @Test func anInviterWithAWrongClockLetsInForAsLongAsItSaid() async throws {
        try await Lab.open(nodes: 1) { lab in
            let admin = lab.node("ada")
            admin.setEnvironment(Clock.nineteenSeventy.environment)
            try await admin.found("g")
            try await admin.start()
            let short = try await admin.kith("invite", "--valid", "1s")
            let other = lab.node("ben")
            try await other.join(by: admin)
            let late = lab.node("carl")
            // A try before the end would use the code up.
            try await Task.sleep(for: .milliseconds(1_100))
            let refused = try await late.run(["join", short, "--name", "carl", "--peer", try #require(admin.address)])
            #expect(refused.status == 1 && refused.errorText.contains("expired"), "\(refused.errorText)")
            let check = try await Self.skew(admin)
            #expect(check?.contains("1970") == true, "\(check ?? "-")")
        }
    }
}
