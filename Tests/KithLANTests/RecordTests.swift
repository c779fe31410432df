import Glibc
import KithDocument
import KithTestSupport
import Testing

/// What is announced may be stale, doubled, renamed or a lie, and a machine has interfaces that lead nowhere: whom a node
/// talks to is decided by certificates.
@Suite(.serialized, .enabled(if: Lab.skipReason == nil, "there can be no LAN here"), .timeLimit(.minutes(20)))
struct RecordTests {
    init() { LANReport.count() }

    private func candidates(_ node: LANNode) throws -> [String] {
        try node.status()["peers"]?.array?.flatMap { $0["candidates"]?.array ?? [] }.compactMap {
            $0["address"]?.string
        }
            ?? []
    }

    /// How many links a node has taken up since it was started.
    private func linksBegun(_ node: LANNode) throws -> Double {
        let series = "kith_links_begun_total "
        let line = try node.mustRun("metrics").first { $0.hasPrefix(series) } ?? ""
        return Double(line.dropFirst(series.utf8.count)) ?? .infinity
    }

    @Test func aRecordThatLiesAndAHostThatIsRenamedMakeNoOtherPeers() throws {
        let lan = try LAN(machines: 3)
        let nodes = try lan.runGroup("home", ["alpha", "beta", "gamma"], on: [1, 2, 3])
        let ids = try Dictionary(
            uniqueKeysWithValues: nodes.map { ($0.name, try $0.status()["node"]?["id"]?.string ?? "") })
        let tag = try lan.tag(of: nodes[0])
        // Gamma's machine announces alpha's id at gamma's port, gamma's id at a port where nobody is, and nobody's.
        for (number, (id, port)) in [("alpha", 5484), ("gamma", 9), ("nobody", 5484)].enumerated() {
            try lan.lab.run(
                "on 3 avahi-publish -s --subtype=_\(tag)._sub._kith._tcp liar\(number) _kith._tcp \(port) "
                    + "id=\(ids[id] ?? "") v=1 g=\(tag) > /dev/null 2>&1 &")
        }
        // Beta begins anew, with nothing remembered: it has only what is announced.
        try nodes[1].stop()
        try lan.lab.run("rm -f \(lan.lab.folder)/beta/peers")
        try nodes[1].start("--log", "discovery=debug", "--peer", "10.77.0.2:5484", "--peer", "10.77.0.2")
        try until(60, "beta meets both", logs: nodes) { try nodes[1].status().connected == 2 }
        try LAN.settle(nodes, within: 60, "all in sync")
        for node in nodes {
            let status = try node.status()
            let peers = status["peers"]?.array ?? []
            #expect(peers.count == 2, "\(node.name): \(peers)")
            for peer in peers { #expect(ids[peer["name"]?.string ?? ""] == peer["id"]?.string, "\(peer)") }
        }
        for node in nodes {
            let begun = try linksBegun(node)
            #expect(begun < 20, "\(node.name): \(begun) \(node.log)")
        }
        #expect(
            try nodes.allSatisfy { try !$0.status().checks.contains("IDENTITY_DUPLICATE") },
            "a lie makes no twin\n\(nodes.map(\.log).joined(separator: "\n"))")
        // Its own address, given as a peer twice over, is told of once.
        try until(60, "its own address is told of", logs: nodes) {
            nodes[1].logLines("this node's own identity").count > 0
        }

        // A machine gets another name, and another machine the name it had.
        let isUp = "connected peer=\((ids["alpha"] ?? "").prefix(8))"
        let begun = nodes[1].logLines(isUp).count
        try lan.lab.run("on 1 avahi-set-host-name other && on 3 avahi-set-host-name node1")
        for round in 1...5 {
            try lan.lab.run("on 1 ip -6 addr add 2001:db8::\(round)/64 dev eth0 nodad")
            if round > 1 { try lan.lab.run("on 1 ip -6 addr del 2001:db8::\(round - 1)/64 dev eth0") }
            try nodes[0].put("round\(round)", ["address": .number(round)])
            try until(60, "it replicates", logs: nodes) { nodes[1].document("round\(round)") != nil }
        }
        #expect(try nodes[1].status()["peers"]?.array?.count == 2)
        // On a busy machine a link may not answer in time, and another takes its place; not with each change.
        let more = nodes[1].logLines(isUp).count - begun
        #expect(more < 5, "\(more) new links to alpha in five changes\n\(nodes.map(\.log).joined(separator: "\n"))")
        #expect(nodes[1].logLines("this node's own identity").count == 1, "\(nodes[1].log)")
        try LAN.settle(nodes, within: 60, "all is there")
    }

    @Test func bridgesOfContainersAndTunnelsAreNoAddressesOfOthers() throws {
        let lan = try LAN(machines: 2)
        for machine in 1...2 {
            // As docker makes it, with a container on it, and a tunnel; and names are looked up without mDNS.
            try lan.lab.run("on \(machine) ip link add docker0 type bridge && on \(machine) ip link set docker0 up")
            try lan.lab.run("on \(machine) ip addr add 172.17.0.1/16 dev docker0")
            try lan.lab.run("on \(machine) ip link add kdc\(machine) type veth peer name vethkdp\(machine)")
            try lan.lab.run("on \(machine) ip link set kdc\(machine) master docker0 up")
            try lan.lab.run("on \(machine) ip link set vethkdp\(machine) up")
            try lan.lab.run(
                "on \(machine) ip tuntap add tun0 mode tun && on \(machine) ip addr add 10.99.0.\(machine)/24 dev tun0")
            try lan.lab.run("on \(machine) ip link set tun0 up")
            try lan.lab.run(
                "echo 'hosts: files' > $LAB_DIR/nsswitch && on \(machine) mount --bind $LAB_DIR/nsswitch /etc/nsswitch.conf"
            )
        }
        let nodes = try lan.runGroup("home", ["alpha", "beta"], on: [1, 2])
        for node in nodes {
            try until(60, "an address of the other is known", logs: nodes) { try !candidates(node).isEmpty }
            let addresses = try candidates(node)
            #expect(addresses.allSatisfy { !$0.hasPrefix("172.17.") && !$0.hasPrefix("10.99.") }, "\(addresses)")
            #expect(try node.status()["peers"]?[0]?["address"]?.string?.contains("172.17.") == false)
        }
        // What is left out by name does not count at all; the doctor says so.
        try nodes[1].stop()
        try nodes[1].start("--interface", "!docker*", "--interface", "!veth*", "--interface", "!kdc*")
        try until(60, "they meet again", logs: nodes) { try nodes[1].status().connected == 1 }
        let used = try nodes[1].status()["discovery"]?["interfaces"]?.array?.compactMap(\.string) ?? []
        #expect(used.contains("eth0") && !used.contains { $0.hasPrefix("docker") || $0.hasPrefix("veth") }, "\(used)")
        let text = try nodes[1].command(["doctor"]).lines.joined(separator: "\n")
        #expect(
            text.contains("docker0: 172.17.0.1/16") && text.contains("left out by the node's configuration"), "\(text)")
        for node in nodes { try node.put(node.name, ["bridges": true]) }
        try LAN.settle(nodes, within: 60, "all is there")
        // Where nothing that leads to the other counts, nobody is found.
        for node in nodes { try node.stop() }
        for node in nodes { try lan.lab.run("rm -f \(lan.lab.folder)/\(node.name)/peers") }
        for node in nodes { try node.start("--interface", "docker*") }
        try until(60, "both are announced", logs: nodes) {
            try nodes.allSatisfy { try $0.status()["discovery"]?["state"] == "advertised" }
        }
        #expect(try nodes.allSatisfy { try candidates($0).isEmpty && $0.status().connected == 0 })
    }

    @Test func aNodeWithTwoNetworksIsFoundOnBoth() throws {
        let lan = try LAN(machines: 3)
        // Machine 1 is on both bridges, 2 on the first alone, 3 on the second alone.
        try lan.lab.run("lab_second 1 3 && lab_part 3 && on 3 ip link set eth0 down")
        let nodes = try lan.makeGroup("home", ["alpha", "beta", "gamma"], on: [1, 2, 3])
        for node in nodes.dropFirst() { try node.start() }
        try until(60, "alpha meets both", logs: nodes) { try nodes[0].status().connected == 2 }
        try nodes[0].createDatabase("t")
        try until(60, "gamma has the database", logs: nodes) { try nodes[2].status().digest(of: "t") != nil }
        try nodes[2].put("from-gamma", ["by": "the second bridge"])
        try until(60, "beta reads it by way of alpha", logs: nodes) { nodes[1].document("from-gamma") != nil }
        #expect(try nodes[0].status().peer("gamma")?["address"]?.string?.contains("10.77.") == false)
        try LAN.agree(nodes, within: 60, "all is there")
    }

    @Test func multicastThatStopsEndsNoLinkAndIsToldOf() throws {
        let lan = try LAN(machines: 3)
        let nodes = try lan.runGroup("home", ["alpha", "beta", "gamma"], on: [1, 2, 3])
        for machine in 1...3 { try lan.lab.run("lab_wall \(machine) -A INPUT -p udp --dport 5353 -j DROP") }
        try nodes[0].put("one", ["multicast": false])
        try until(60, "writing goes on", logs: nodes) { nodes.allSatisfy { $0.document("one") != nil } }
        // A machine that begins anew has the addresses at which the others answered before, and an Avahi that knows nobody.
        try nodes[2].stop()
        try lan.lab.run("lab_avahi_stop 3 && lab_avahi_start 3 && lab_ready 3")
        let started = Stopwatch()
        try nodes[2].start()
        try until(60, "gamma is back", logs: nodes) { try nodes[2].status().connected == 2 }
        measured("without multicast a node was back after", started.seconds)
        try nodes[2].put("two", ["multicast": false])
        try until(60, "writing goes on", logs: nodes) { nodes.allSatisfy { $0.document("two") != nil } }
        try until(90, "gamma says that multicast is lost", logs: nodes) {
            try nodes[2].status().checks.contains("MULTICAST_LOST")
        }
        measured("lost multicast was told after", started.seconds)
        try LAN.settle(nodes, within: 60, "all is there")
    }
}
