import Glibc
import KithDocument
import KithTestSupport
import Testing

/// A router with NAT between two nodes: one of them can't be dialled.
@Suite(.serialized, .enabled(if: Lab.skipReason == nil, "there can be no LAN here"), .timeLimit(.minutes(4)))
struct RouterTests {
    init() { LANReport.count() }

    @Test func fromBehindARouterWithNATOneDialsAndBothDirectionsReplicate() throws {
        let lan = try LAN(machines: 3)
        // Machine 3 is the router; what machine 2 sends comes from the router's address, and nothing gets in to it.
        if let reason = lan.lacks("iptables -t nat -L -n") { return skipped(reason) }
        try lan.on(3, "iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE")
        try lan.lab.run("lab_second 2 3")
        try lan.on(3, "sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'")
        try lan.on(2, "ip link set eth0 down")
        try lan.on(2, "ip route add default via 10.78.0.3")
        let alpha = try lan.makeGroup("home", ["alpha"], on: [1])[0]
        let address = "10.77.0.1:5484"
        let beta = try lan.join("beta", on: 2, invitedBy: alpha, at: address)
        let nodes = [alpha, beta]
        try beta.start("--peer", address)
        let truth = LAN.truth(nodes)
        try until(30, "they meet", logs: nodes) { try nodes.allSatisfy { try $0.status().connected == 1 } }
        try alpha.createDatabase("t")
        try until(15, "in sync", logs: nodes) { try LAN.isInSync(nodes) }
        for node in nodes { try node.put(node.name, ["from": JSONValue(node.name)]) }
        try until(10, "both have both", logs: nodes) {
            nodes.allSatisfy { $0.document("alpha") != nil && $0.document("beta") != nil }
        }
        let outside = try alpha.status().peer("beta")
        #expect(outside?["direction"] == "accepted")
        #expect(outside?["address"]?.string?.hasPrefix("10.77.0.3:") == true, "\(String(describing: outside))")
        #expect(try beta.status().peer("alpha")?["direction"] == "dialled")
        // Whoever restarts, the one behind the router dials.
        for node in nodes {
            node.kill()
            let watch = Stopwatch()
            if node === beta { try beta.start("--peer", address) } else { try alpha.start() }
            try until(40, "in sync after \(node.name) was started anew", logs: nodes) { try LAN.isInSync(nodes) }
            measured("through a router with NAT, \(node.name) restarted: in sync in", watch.seconds)
            #expect(watch.seconds < 20)
            #expect(try alpha.status().peer("beta")?["direction"] == "accepted")
        }
        let said = truth.end()
        #expect(said.lies.isEmpty, "\(said)")
    }
}
