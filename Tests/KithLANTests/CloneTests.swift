import Glibc
import KithDocument
import KithTestSupport
import Testing

/// A machine that was cloned, with a node on it.
@Suite(.serialized, .enabled(if: Lab.skipReason == nil, "there can be no LAN here"), .timeLimit(.minutes(20)))
struct CloneLANTests {
    init() { LANReport.count() }

    @Test func twoMachinesWithOneIdentityAreNamedAndDoNotFight() throws {
        let lan = try LAN(machines: 3)
        let nodes = try lan.runGroup("home", ["alpha", "beta"], on: [1, 2])
        try nodes[1].put("early", ["by": "beta"])
        try LAN.settle(nodes, within: 10, "in sync")
        let clone = try nodes[1].copy(as: "clone", on: 3)
        defer { clone.kill() }
        let watch = Stopwatch()
        try clone.start()
        try clone.put("by-the-clone", ["n": 1])
        try nodes[1].put("by-the-original", ["n": 1])
        let all = nodes + [clone]
        try until(90, "all three say so", logs: all) {
            try all.allSatisfy { try $0.status().checks.contains("IDENTITY_DUPLICATE") }
        }
        measured("two machines with one identity were named by all after", watch.seconds)

        // What the three send by datagrams, mDNS above all, while they stand against each other.
        let before = try all.map { try $0.sentDatagrams() }
        let window = Stopwatch()
        while window.seconds < 10 { usleep(100_000) }
        let sent = try zip(all, before).map { try $0.sentDatagrams() - $1 }
        print("measured on the LAN: datagrams sent in 10 s by three machines of which two are one: \(sent)")
        #expect(sent.reduce(0, +) < 300, "\(sent)")
        // The original and the third go on.
        try until(10, "one of the two is linked", logs: all) { try nodes[0].status().connected >= 1 }

        try clone.stop()
        try clone.resetIdentity()
        let code = try nodes[0].mustRun("invite").last ?? ""
        try clone.mustRun("join", code, "--name", "clone")
        try clone.start()
        try LAN.settle(all, within: 60, "all three in sync")
        guard getenv("KITH_LONG_TESTS") != nil else { return }
        try until(150, "it is forgotten", logs: all) {
            try all.allSatisfy { try !$0.status().checks.contains("IDENTITY_DUPLICATE") }
        }
        measured("two machines with one identity were forgotten after", watch.seconds)
    }
}
