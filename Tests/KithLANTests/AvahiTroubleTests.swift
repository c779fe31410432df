import Glibc
import KithDocument
import KithTestSupport
import Testing

/// Avahi and the bus stopped, started, absent, refusing: links stay, and status says which piece is missing.
@Suite(.serialized, .enabled(if: Lab.skipReason == nil, "there can be no LAN here"), .timeLimit(.minutes(20)))
struct AvahiTroubleTests {
    init() { LANReport.count() }

    private func waitForDiscovery(_ state: String, _ node: LANNode, _ seconds: Double) throws -> JSONValue {
        var last = JSONValue.null
        try until(seconds, "\(node.name) is \(state)", logs: [node]) {
            last = try node.status()
            return last["discovery"]?["state"]?.string == state
        }
        return last
    }

    /// Whether an announced address of the peer is among its candidates.
    private func isAnnounced(_ name: String, to node: LANNode) throws -> Bool {
        let candidates = try node.status().peer(name)?["candidates"]?.array ?? []
        return candidates.contains { $0["source"] == "discovered" }
    }

    @Test func avahiAndTheBusMayGoWhileLinksStayAndTheMissingPieceIsNamed() throws {
        let lan = try LAN(machines: 2)
        let nodes = try lan.runGroup("home", ["alpha", "beta"], on: [1, 2])
        let since = try nodes[0].status().peer("beta")?["since"]
        let faults = [
            ("lab_avahi_stop 1", "lab_avahi_start 1", "avahi-daemon does not run"),
            ("lab_bus_stop 1", "lab_bus_start 1 && lab_avahi_start 1", "no system bus at"),
        ]
        for (number, (stop, start, piece)) in faults.enumerated() {
            try lan.lab.run(stop)
            // Just after its end an Avahi may still seem to be there: that is set right within a second.
            try until(20, "\(piece) is told", logs: nodes) {
                let status = try nodes[0].status()
                let check = status["health"]?["checks"]?.array?.first { $0["code"] == "DISCOVERY_DOWN" }
                return status["discovery"]?["state"] == "unavailable"
                    && status["discovery"]?["last_error"]?.string?.hasPrefix(piece) == true
                    && check?["summary"]?.string?.contains(piece) == true
            }
            #expect(try nodes[0].status()["discovery"]?["since"]?.string != nil)
            try nodes[0].put("meanwhile\(number)", ["without": JSONValue(piece)])
            try until(5, "the link carries documents", logs: nodes) { nodes[1].document("meanwhile\(number)") != nil }
            let started = Stopwatch()
            try lan.lab.run(start)
            _ = try waitForDiscovery("advertised", nodes[0], 20)
            measured("announced after \(start)", started.seconds)
            // 5 s where the machine is idle.
            #expect(started.seconds < 20)
        }
        #expect(try nodes[0].status().peer("beta")?["since"] == since, "the link is the one from before")
        try LAN.settle(nodes, within: 20, "all is there")
    }

    @Test func aListOfPeersDoesNotFlickerWhileAvahiGoesAndComes() throws {
        let lan = try LAN(machines: 2)
        let nodes = try lan.runGroup("home", ["alpha", "beta"], on: [1, 2])
        let since = try nodes.map { try $0.status()["peers"]?[0]?["since"] }
        for round in 0..<(Lab.isLong ? 15 : 3) {
            try lan.lab.run(round.isMultiple(of: 2) ? "lab_avahi_stop 1 KILL" : "lab_avahi_stop 1")
            let stopped = Stopwatch()
            try watch(nodes, since) { stopped.seconds > 1 }
            try nodes[0].put("round-\(round)", ["avahi": false])
            try lan.lab.run("lab_avahi_start 1")
            try watch(nodes, since) {
                try nodes[0].status()["discovery"]?["state"] == "advertised" || stopped.seconds > 30
            }
        }
        try LAN.settle(nodes, within: 20, "all is there")
    }

    /// Looks at both all the time until the condition holds.
    private func watch(_ nodes: [LANNode], _ since: [JSONValue?], until holds: () throws -> Bool) throws {
        while try !holds() {
            for (node, since) in zip(nodes, since) {
                let peers = try node.status()["peers"]?.array ?? []
                try #require(
                    peers.count == 1 && peers[0]["connected"] == true && peers[0]["since"] == since, "\(peers)")
            }
            usleep(50_000)
        }
    }

    @Test func aNodeMayBeThereBeforeTheBusAndAvahiAre() throws {
        let lan = try LAN(machines: 2)
        let nodes = try lan.makeGroup("home", ["alpha", "beta"], on: [1, 2])
        // Nobody has an address of anybody: what they meet by is discovery alone.
        try nodes[0].stop()
        for node in nodes { try lan.lab.run("rm -f \(lan.lab.folder)/\(node.name)/peers") }
        try lan.lab.run("lab_bus_stop 2")
        try nodes[0].start()
        try nodes[1].start()
        let status = try waitForDiscovery("unavailable", nodes[1], 20)
        #expect(status.checks.contains("DISCOVERY_DOWN"))
        #expect(status.connected == 0)
        // The bus first: then it is Avahi that is missing.
        try lan.lab.run("lab_bus_start 2")
        try until(20, "Avahi is named", logs: nodes) {
            try nodes[1].status()["discovery"]?["last_error"]?.string?.hasPrefix("avahi-daemon does not run") == true
        }
        let started = Stopwatch()
        try lan.lab.run("lab_avahi_start 2")
        try until(30, "they meet", logs: nodes) { try nodes.allSatisfy { try $0.status().connected == 1 } }
        measured("a node older than Avahi met the other after", started.seconds)
        #expect(started.seconds < 20, "5 s where the machine is idle")
        #expect(try isAnnounced("alpha", to: nodes[1]))
        try nodes[0].createDatabase("t")
        try nodes[0].put("met", ["by": "Avahi"])
        try LAN.settle(nodes, within: 20, "all is there")
    }

    @Test func anAnnouncementThatAvahiRefusesIsAMatterOfHealth() throws {
        let lan = try LAN(machines: 1)
        try lan.lab.run("lab_avahi_stop 1 && echo disable-publishing=yes >> $LAB_DIR/avahi1.conf && lab_avahi_start 1")
        let alpha = try lan.makeGroup("home", ["alpha"], on: [1])[0]
        try until(20, "the refusal is told", logs: [alpha]) { try alpha.status().checks.contains("NOT_ANNOUNCED") }
        #expect(try alpha.status()["discovery"]?["state"] == "searching")
        let answer = try alpha.command(["doctor"])
        #expect(answer.lines.first?.hasPrefix("this node is not announced") == true, "\(answer.lines)")
    }

    /// Avahi's library calls what stands in memory that it does not clear, when Avahi goes while a question is under way.
    @Test func aJoinOutlivesAvahiAndTheBus() throws {
        let lan = try LAN(machines: 2)
        let alpha = try lan.makeGroup("home", ["alpha"], on: [1])[0]
        let code = try alpha.mustRun("invite").last ?? ""
        let tag = try lan.tag(of: alpha)
        try alpha.stop()
        // Some of the group are announced, and nobody answers: there is something to ask all the time.
        try lan.lab.run(
            "for i in {10..39}; do on 1 avahi-publish -s --subtype=_\(tag)._sub._kith._tcp none$i _kith._tcp 9 v=1 "
                + "g=\(tag) > /dev/null 2>&1 & done")
        let beta = LANNode("beta", on: 2, of: lan.lab)
        for round in 0..<(Lab.isLong ? 40 : 4) {
            let join = try beta.begin("join", code, "--name", "beta")
            try lan.lab.run("lab_wait 40 test -e /proc/\(join.pid)")
            usleep(UInt32(150_000 + round % 8 * 60_000))
            try lan.lab.run(round.isMultiple(of: 2) ? "lab_bus_stop 2" : "lab_avahi_stop 2 KILL")
            let status = join.end(seconds: 35)
            #expect(status == 1, "round \(round): it fails with a reason, \(beta.log)")
            try lan.lab.run(round.isMultiple(of: 2) ? "lab_bus_start 2 && lab_avahi_start 2" : "lab_avahi_start 2")
            try lan.lab.run("lab_wait 100 lab_on_bus 2")
        }
    }
}
