import Glibc
import KithDocument
import KithTestSupport
import Testing

/// Firewalls that let one direction through, or only what was there before.
@Suite(.serialized, .enabled(if: Lab.skipReason == nil, "there can be no LAN here"), .timeLimit(.minutes(20)))
struct FirewallTests {
    init() { LANReport.count() }

    @Test(arguments: [1, 2]) func whoGetsThroughServesBothDirections(closed: Int) throws {
        let lan = try LAN(machines: 2)
        guard lan.lacks("iptables -L -n") == nil else { return skipped("no iptables") }
        let nodes = try lan.makeGroup("home", ["alpha", "beta"], on: [1, 2])
        try nodes[0].stop()
        for tables in ["iptables", "ip6tables"] { try lan.on(closed, "\(tables) -A INPUT -p tcp --syn -j DROP") }
        for node in nodes { try node.start() }
        let watch = Stopwatch()
        try until(30, "they meet", logs: nodes) { try nodes.allSatisfy { try $0.status().connected == 1 } }
        measured("with a firewall on machine \(closed): connected in", watch.seconds)
        #expect(watch.seconds < 15)
        try nodes[0].createDatabase("t")
        try LAN.settle(nodes, within: 15, "in sync")
        for node in nodes { try node.put(node.name, ["from": JSONValue(node.name)]) }
        try LAN.settle(nodes, within: 20, "both have both")
        // The closed one says that nobody has reached it; the other was reached.
        let behind = try nodes[closed - 1].status()
        let other = try nodes[2 - closed].status()
        #expect(behind["node"]?["inbound_at"] == .null)
        #expect(behind["peers"]?[0]?["direction"] == "dialled")
        #expect(other["node"]?["inbound_at"]?.string != nil)
        let text = try nodes[closed - 1].mustRun("status").joined(separator: "\n")
        #expect(text.contains("inbound: none seen yet"), "\(text)")
    }

    @Test func aFirewallForNewConnectionsLeavesOldOnesAndARestartIsMendedFromTheOtherSide() throws {
        let lan = try LAN(machines: 2)
        guard lan.lacks("iptables -L -n") == nil else { return skipped("no iptables") }
        let nodes = try lan.runGroup("home", ["alpha", "beta"], on: [1, 2])
        let truth = LAN.truth(nodes)
        let rules = [
            "INPUT -p tcp -m conntrack --ctstate ESTABLISHED -j ACCEPT",
            "INPUT -p tcp -m conntrack --ctstate NEW -j DROP",
        ]
        for rule in rules { try lan.on(1, "iptables -A \(rule)") }
        try lan.on(1, "ip6tables -A INPUT -p tcp --syn -j DROP")
        try nodes[1].put("old-link", ["lives": true])
        try until(5, "the link that was there goes on", logs: nodes) { nodes[0].document("old-link") != nil }
        for number in 0...1 {
            let watch = Stopwatch()
            nodes[number].kill()
            try nodes[number].start()
            try until(40, "they meet again", logs: nodes) { try nodes.allSatisfy { try $0.status().connected == 1 } }
            measured(
                "behind a firewall for new connections, \(nodes[number].name) restarted: connected in", watch.seconds)
            #expect(watch.seconds < 20)
        }
        try nodes[0].put("new-link", ["by": "alpha"])
        try LAN.settle(nodes, within: 15, "in sync")
        // Nobody in: the other way round there is none left.
        try lan.on(2, "iptables -A INPUT -p tcp --syn -j DROP")
        try lan.on(2, "ip6tables -A INPUT -p tcp --syn -j DROP")
        nodes[1].kill()
        try nodes[1].start()
        try until(15, "beta says why", logs: nodes) {
            // Known by its id alone: nothing was heard of it since the start.
            let peer = try nodes[1].status()["peers"]?[0]
            return peer?["reason"]?.string?.contains("no answer in time") == true && peer?["connected"] == false
        }
        let lifted = Stopwatch()
        try lan.on(2, "iptables -F")
        try lan.on(2, "ip6tables -F")
        try LAN.settle(nodes, within: 40, "in sync again")
        measured("a firewall on both sides was lifted on one: in sync in", lifted.seconds)
        #expect(lifted.seconds < 10)
        let said = truth.end()
        #expect(said.lies.isEmpty, "\(said)")
    }

    @Test func withoutMulticastLinksGoOnAndARestartedNodeIsFoundWhereItWas() throws {
        let lan = try LAN(machines: 2)
        guard lan.lacks("iptables -L -n") == nil else { return skipped("no iptables") }
        let nodes = try lan.runGroup("home", ["alpha", "beta"], on: [1, 2])
        let truth = LAN.truth(nodes)
        for machine in 1...2 {
            for tables in ["iptables", "ip6tables"] {
                for chain in ["INPUT", "OUTPUT"] {
                    try lan.on(machine, "\(tables) -A \(chain) -p udp --dport 5353 -j DROP")
                }
            }
        }
        try nodes[0].put("deaf", ["to": "multicast"])
        try until(5, "the link goes on", logs: nodes) { nodes[1].document("deaf") != nil }
        let watch = Stopwatch()
        nodes[1].kill()
        try nodes[1].start()
        try LAN.settle(nodes, within: 30, "it is back")
        measured("without multicast a restarted node was in sync in", watch.seconds)
        #expect(watch.seconds < 12)
        let said = truth.end()
        #expect(said.lies.isEmpty, "\(said)")
    }
}
