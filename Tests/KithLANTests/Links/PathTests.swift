import Glibc
import KithDocument
import KithTestSupport
import Testing

/// Paths on which small packets pass and large ones vanish.
@Suite(.serialized, .enabled(if: Lab.skipReason == nil, "there can be no LAN here"), .timeLimit(.minutes(20)))
struct PathTests {
    init() { LANReport.count() }

    /// Whether a rule on the length of packets works here: those that a virtual cable carries may be many in one.
    private func prepare(_ lan: LAN, _ machines: Int) throws -> Bool {
        for machine in 1...machines {
            if let reason = lan.lacks("iptables -L -n") ?? lan.lacks("ip link set dev eth0 gso_max_segs 1") {
                skipped(reason)
                return false
            }
            try lan.on(machine, "ip link set dev eth0 gso_max_segs 1")
        }
        return true
    }

    private func hole(_ lan: LAN, _ machine: Int, largest: Int, _ action: String) throws {
        for tables in ["iptables", "ip6tables"] {
            try lan.on(machine, "\(tables) -\(action) INPUT -p tcp -m length --length \(largest + 1):65535 -j DROP")
        }
    }

    /// A hole that comes while links are up, in one direction and in both; 800 bytes are below what IPv6 asks of a network.
    @Test(arguments: longTests ? [(1, 1_300), (2, 1_300), (3, 1_300), (3, 800)] : [(1, 1_300), (3, 800)])
    func aHoleIsNamedAndSmallPacketsCarryAllUntilItIsLifted(machines: Int, largest: Int) throws {
        let lan = try LAN(machines: 2)
        guard try prepare(lan, 2) else { return }
        let nodes = try lan.runGroup("home", ["alpha", "beta"], on: [1, 2])
        let truth = LAN.truth(nodes)
        let behind = [1, 2].filter { machines & $0 != 0 }
        for machine in behind { try hole(lan, machine, largest: largest, "A") }
        let dug = Stopwatch()
        let large: JSONValue = ["text": JSONValue(String(repeating: "large ", count: 30_000))]
        for node in nodes { try node.put("large-\(node.name)", large) }
        try LAN.settle(nodes, within: 60, "large documents get through")
        measured("a hole above \(largest) bytes at \(behind): large documents were in sync after", dug.seconds)
        #expect(dug.seconds < 30)
        let statuses = try nodes.map { try $0.status() }
        #expect(statuses.contains { $0.checks.contains("PATH_MTU") }, "\(nodes.map(\.log).joined(separator: "\n"))")
        let reasons = statuses.flatMap { $0["peers"]?.array ?? [] }.compactMap { $0["reason"]?.string }
        #expect(reasons.contains { $0.contains("large packets are lost") }, "\(reasons)")

        for machine in behind { try hole(lan, machine, largest: largest, "D") }
        if machines == 1 {
            // Nothing else changes: large packets are tried again by themselves.
            let lifted = Stopwatch()
            try until(150, "nothing is wrong any more", logs: nodes) {
                try LAN.isInSync(nodes) && nodes.allSatisfy { try !$0.status().checks.contains("PATH_MTU") }
            }
            measured("the hole was gone and nothing else: no check after", lifted.seconds)
            let said = truth.end()
            #expect(said.lies.isEmpty, "\(said)")
            return
        }
        // The network of both is another for a moment: the check goes at once, whichever of them has it.
        for machine in [1, 2] { try lan.lab.run("lab_cut \(machine)") }
        try until(60, "the link is down", logs: nodes) {
            try nodes.allSatisfy { try $0.status().peer($0.name == "alpha" ? "beta" : "alpha")?["state"] == "unknown" }
        }
        for machine in [1, 2] { try lan.lab.run("lab_heal \(machine)") }
        let lifted = Stopwatch()
        try until(60, "nothing is wrong any more", logs: nodes) {
            try LAN.isInSync(nodes) && nodes.allSatisfy { try !$0.status().checks.contains("PATH_MTU") }
        }
        measured("the hole was gone: in sync and no check after", lifted.seconds)
        try LAN.settle(nodes, within: 30, "all is there")
        let said = truth.end()
        #expect(said.lies.isEmpty, "\(said)")
    }

    @Test func nodesMeetOverAPathThatHadAHoleFromTheBeginning() throws {
        let lan = try LAN(machines: 2)
        guard try prepare(lan, 2) else { return }
        for machine in 1...2 { try hole(lan, machine, largest: 1_300, "A") }
        let watch = Stopwatch()
        let nodes = try lan.runGroup("home", ["alpha", "beta"], on: [1, 2])
        measured("joined, met and in sync over a path with a hole in", watch.seconds)
        for node in nodes { try node.put(node.name, ["path": "with a hole"]) }
        try LAN.settle(nodes, within: 60, "all is there")
        #expect(try nodes.contains { try $0.status().checks.contains("PATH_MTU") })
    }
}
