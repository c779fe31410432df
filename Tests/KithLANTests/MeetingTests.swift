import KithDocument
import KithTestSupport
import Testing

/// The `kith` command on machines that know nothing of each other but what Avahi tells.
@Suite(.serialized, .enabled(if: Lab.skipReason == nil, "there can be no LAN here"), .timeLimit(.minutes(20)))
struct MeetingTests {
    init() { LANReport.count() }

    @Test func nodesMeetByDNSSDAloneAndWhatOneWritesAllRead() throws {
        let lan = try LAN(machines: 3)
        let nodes = try lan.makeGroup("home", ["alpha", "beta", "gamma"], on: [1, 2, 3])
        // As after a power cut: nobody has met anybody, and all start at one time.
        try nodes[0].stop()
        var watches: [Stopwatch] = []
        for node in nodes {
            watches.append(Stopwatch())
            try node.start()
        }
        for (node, watch) in zip(nodes, watches) {
            try until(15, "\(node.name) sees the others", logs: nodes) { try node.status().connected == 2 }
            measured("\(node.name) saw the others in", watch.seconds)
            #expect(watch.seconds < 5, "\(node.log)")
        }
        let candidates = try nodes.flatMap { try $0.status()["peers"]?.array ?? [] }.flatMap {
            $0["candidates"]?.array ?? []
        }
        #expect(candidates.allSatisfy { $0["source"]?.string != "static" })

        try nodes[1].createDatabase("t")
        try LAN.settle(nodes, within: 10, "the database is on all")
        for (number, writer) in nodes.enumerated() {
            let body: JSONValue = ["text": JSONValue("from \(writer.name)")]
            let watch = Stopwatch()
            try writer.put("note\(number)", body)
            try until(10, "all read it", logs: nodes) { nodes.allSatisfy { $0.document("note\(number)") == body } }
            measured("a put on \(writer.name) was read on all in", watch.seconds)
            #expect(watch.seconds < 1)
        }
        // The same by the command that people use.
        try nodes[0].mustRun("wait", "--peers", "2", "--in-sync", "t")
        let shown = try JSONValue(parsing: Array(nodes[2].mustRun("get", "t", "note0").joined().utf8))
        #expect(shown == ["text": "from alpha"])
        for node in nodes { try node.stop() }
    }

    @Test func twoGroupsOnOneLANShareNothing() throws {
        let lan = try LAN(machines: 3)
        let home = try lan.runGroup("home", ["alpha", "beta"], on: [1, 2])
        // One machine has a node of each group, the second on the next free port.
        let work = try lan.runGroup("work", ["delta", "omega"], on: [3, 2])
        let groups = [home, work]
        for (number, group) in groups.enumerated() {
            for document in 2..<100 { try group[document % 2].put("note\(document)", ["group": .number(number)]) }
            try group[0].put("same", ["group": .number(number)])
            try group[1].put("own\(number)", ["group": .number(number)])
        }
        for (number, group) in groups.enumerated() {
            try until(10, "its documents are on both", logs: group) {
                group.allSatisfy {
                    $0.document("own\(number)") != nil && $0.document("same") == ["group": .number(number)]
                }
            }
            try until(15, "the other group is counted", logs: group) {
                try group.allSatisfy { try $0.status()["discovery"]?["foreign_groups"] == 1 }
            }
        }
        try expectApart(groups)
        // Alpha and delta swap their addresses: where one node was, one of the other group is now.
        try lan.lab.run("on 1 ip addr del 10.77.0.1/24 dev eth0 && on 3 ip addr del 10.77.0.3/24 dev eth0")
        try lan.lab.run("on 1 ip addr add 10.77.0.3/24 dev eth0 && on 3 ip addr add 10.77.0.1/24 dev eth0")
        for (number, group) in groups.enumerated() {
            try group[0].put("note2", ["group": .number(number), "moved": true])
            try until(60, "the moved node's write is on both", logs: group) {
                group.allSatisfy { $0.document("note2") == ["group": .number(number), "moved": true] }
            }
            try LAN.settle(group, within: 30, "all is there")
        }
        try expectApart(groups)
    }

    private func expectApart(_ groups: [[LANNode]]) throws {
        for (number, group) in groups.enumerated() {
            for node in group {
                let status = try node.status()
                let database = status["databases"]?.array?.first { $0["name"] == "t" }
                #expect(database?["documents"] == 100, "\(node.name)")
                #expect(status["peers"]?.array?.count == 1)
                #expect(status["discovery"]?["foreign_groups"] == 1)
                #expect(node.document("same") == ["group": .number(number)])
                #expect(node.document("own\(1 - number)") == nil)
            }
        }
    }

    @Test func twoNodesOfOneGroupOnOneMachineFindEachOtherAndReplicate() throws {
        let lan = try LAN(machines: 1)
        let nodes = try lan.runGroup("home", ["alpha", "beta"], on: [1, 1])
        for node in nodes {
            try node.put(node.name, ["on": "one machine"])
            let peer = try node.status()["peers"]?[0]
            #expect(peer?["candidates"]?.array?.contains { $0["source"] == "static" } == false)
        }
        try LAN.settle(nodes, within: 20, "both have both")
        let ports = try nodes.compactMap { try $0.status()["node"]?["listen"]?[0]?.string }
        #expect(Set(ports).count == 2, "\(ports)")
        // The second knows nothing of before: it has what is announced.
        try nodes[1].stop()
        try lan.lab.run("rm -f \(lan.lab.folder)/beta/peers \(lan.lab.folder)/alpha/peers")
        try nodes[1].start()
        try until(20, "they meet again", logs: nodes) { try nodes.allSatisfy { try $0.status().connected == 1 } }
        // To the doctor the other one is no alarm.
        let answer = try nodes[0].command(["doctor"])
        #expect(
            answer.lines.first == "nothing is wrong: 1 peer is connected", "\(answer.lines.joined(separator: "\n"))")
        #expect(answer.lines.contains { $0.contains("on this machine") })
        for node in nodes { #expect(try !node.status().checks.contains("IDENTITY_DUPLICATE")) }
    }

    @Test(arguments: [1, 2]) func nodesMeetWhereOneOfThemHearsNoMulticast(deaf: Int) throws {
        let lan = try LAN(machines: 2)
        guard lan.lacks("iptables -L -n") == nil else { return skipped("no iptables") }
        let nodes = try lan.makeGroup("home", ["alpha", "beta"], on: [1, 2])
        try nodes[0].stop()
        // Its Avahi begins anew, so that it knows nothing of before; and nobody remembers an address.
        try lan.lab.run("lab_wall \(deaf) -A INPUT -p udp --dport 5353 ! -i lo -j DROP")
        for machine in 1...2 {
            try lan.lab.run("lab_avahi_stop \(machine) && lab_avahi_start \(machine) && lab_ready \(machine)")
        }
        for node in nodes {
            try lan.lab.run("rm -f \(lan.lab.folder)/\(node.name)/peers")
            try node.start()
        }
        let watch = Stopwatch()
        try until(30, "they meet", logs: nodes) { try nodes.allSatisfy { try $0.status().connected == 1 } }
        measured("with multicast closed inbound on machine \(deaf): connected in", watch.seconds)
        #expect(watch.seconds < 20)
        #expect(try nodes[deaf - 1].status()["peers"]?[0]?["direction"] == "accepted", "the other one found it")
        try nodes[0].createDatabase("t")
        try LAN.settle(nodes, within: 20, "in sync")
        for node in nodes { try node.put(node.name, ["deaf": .number(deaf)]) }
        try LAN.settle(nodes, within: 20, "both have both")
    }

    @Test func linkLocalIPv6AloneIsEnough() throws {
        let lan = try LAN(machines: 2)
        for machine in 1...2 { try lan.lab.run("on \(machine) ip addr del 10.77.0.\(machine)/24 dev eth0") }
        let nodes = try lan.runGroup("home", ["alpha", "beta"], on: [1, 2])
        for node in nodes {
            try node.put(node.name, ["by": "IPv6"])
            let address = try node.status()["peers"]?[0]?["address"]?.string ?? ""
            #expect(address.hasPrefix("[fe80::") && address.contains("%eth0]:"), "\(address)")
        }
        try LAN.settle(nodes, within: 20, "both have both")
        // Interface numbers may change over a restart, so such an address is not kept; the node is found anew.
        let killed = Stopwatch()
        nodes[1].kill()
        try nodes[1].start()
        try until(15, "beta is back", logs: nodes) {
            try nodes.allSatisfy { try $0.status().connected == 1 }
        }
        measured("over IPv6 a node that crashed was back in", killed.seconds)
        try LAN.settle(nodes, within: 20, "all is there")
    }
}
