import Glibc
import KithDocument
import KithTestSupport
import Testing

/// What a LAN does to nodes: cables, crashes, a discovery that goes.
@Suite(.serialized, .enabled(if: Lab.skipReason == nil, "there can be no LAN here"), .timeLimit(.minutes(20)))
struct TroubleTests {
    init() { LANReport.count() }

    @Test func aNodeThatIsCutOffIsUnknownAndInSyncSoonAfterItsReturn() throws {
        let lan = try LAN(machines: 3)
        let nodes = try lan.runGroup("home", ["alpha", "beta", "gamma"], on: [1, 2, 3])
        // A switch that dies: no node learns of it or of its return, and the pauses between dials grow meanwhile.
        try cutOff(nodes, cut: "switch", seconds: 32, begin: "lab_part 3", end: "lab_join 3", of: lan.lab)
        // A cable that is out for so short a time that links may outlive it.
        try cutOff(nodes, cut: "cable", seconds: 7, begin: "lab_cut 3", end: "lab_heal 3", of: lan.lab)
        // And for longer: whose cable it is sees that it is back.
        try cutOff(nodes, cut: "long cable", seconds: 18, begin: "lab_cut 3", end: "lab_heal 3", of: lan.lab)
        #expect(nodes[2].log.contains("the network has changed"))
    }

    private func cutOff(
        _ nodes: [LANNode], cut: String, seconds: Double, begin: String, end: String, of lab: Lab
    ) throws {
        let pairs = [("alpha", "gamma"), ("beta", "gamma"), ("gamma", "alpha"), ("gamma", "beta")]
        let byName = Dictionary(uniqueKeysWithValues: nodes.map { ($0.name, $0) })
        let watch = Stopwatch()
        try lab.run(begin)
        // Writes go on on both sides; once beta has those of its side, all digests but alpha's and beta's differ.
        try nodes[0].put("\(cut)-here", ["side": "most"])
        try nodes[2].put("\(cut)-there", ["side": "alone"])
        try nodes[0].put("\(cut)-both", ["most": true])
        try nodes[2].put("\(cut)-both", ["alone": true])
        try until(5, "beta has alpha's writes", logs: nodes) { nodes[1].document("\(cut)-both") != nil }
        var unknownAfter: [String: Double] = [:]
        while watch.seconds < seconds {
            for (from, to) in pairs {
                let state = try byName[from]?.status().state(of: to) ?? "absent"
                #expect(state != "in_sync", "\(from) of \(to) \(watch.seconds) s after the cut")
                if state == "unknown", unknownAfter["\(from) of \(to)"] == nil {
                    unknownAfter["\(from) of \(to)"] = watch.seconds
                }
            }
            usleep(100_000)
        }
        if seconds > 15 {
            #expect(unknownAfter.count == pairs.count)
            for (who, after) in unknownAfter.sorted(by: { $0.key < $1.key }) {
                measured("\(who): unknown after", after)
                #expect(after < 20, "\(who)")
            }
            #expect(try nodes[0].status().state(of: "beta") == "in_sync", "the others are as they were")
        }
        try nodes[2].put("\(cut)-late", ["side": "alone"])
        let returned = Stopwatch()
        try lab.run(end)
        try LAN.settle(nodes, within: 25, "in sync after the \(cut)")
        let back = returned.seconds
        measured("in sync after the return of the \(cut) in", back)
        #expect(back < 10, "\(nodes.map(\.log).joined(separator: "\n"))")
        let bodies = Set(nodes.map { $0.document("\(cut)-both") })
        #expect(bodies == [["alone": true, "most": true]])
    }

    @Test func avahiMayGoAndComeBackWhileLinksStay() throws {
        let lan = try LAN(machines: 2)
        let nodes = try lan.runGroup("home", ["alpha", "beta"], on: [1, 2])
        let since = try nodes[0].status().peer("beta")?["since"]
        let killed = Stopwatch()
        try lan.lab.run("lab_avahi_stop 1 KILL")
        try until(15, "alpha says that discovery is down", logs: nodes) {
            let status = try nodes[0].status()
            return status["discovery"]?["state"] == "unavailable" && status.checks.contains("DISCOVERY_DOWN")
        }
        measured("Avahi's end was told after", killed.seconds)
        #expect(killed.seconds < 3)
        let check = try nodes[0].command("check")
        #expect(check.status == 1, "a warning")
        try nodes[0].put("meanwhile", ["avahi": false])
        try until(5, "the link carries documents", logs: nodes) { nodes[1].document("meanwhile") != nil }

        let started = Stopwatch()
        try lan.lab.run("lab_avahi_start 1")
        try until(20, "alpha is announced again", logs: nodes) {
            let status = try nodes[0].status()
            return status["discovery"]?["state"] == "advertised" && status.checks.isEmpty
        }
        measured("Avahi's return was used after", started.seconds)
        #expect(started.seconds < 10)
        let status = try nodes[0].status()
        #expect(status.peer("beta")?["since"] == since, "the link is the one from before")
        try LAN.settle(nodes, within: 20, "all is there")
    }

    @Test func aNodeThatComesBackOnAnotherPortIsFound() throws {
        let lan = try LAN(machines: 2)
        let nodes = try lan.runGroup("home", ["alpha", "beta"], on: [1, 2])
        for (number, port) in ["5584", "5684"].enumerated() {
            // Where both are gone neither remembers an address that holds; else the one that stayed dials too.
            let killed = Stopwatch()
            nodes[1].kill()
            if number == 1 { nodes[0].kill() }
            try nodes[1].start("--listen", "[::]:\(port)")
            if number == 1 { try nodes[0].start("--listen", "[::]:\(port)") }
            try until(15, "the two are connected again", logs: nodes) {
                try nodes.allSatisfy { try $0.status().connected == 1 }
            }
            measured("\(number == 0 ? "one" : "both") on another port: connected after", killed.seconds)
            #expect(killed.seconds < 5)
            try nodes[0].put("after\(number)", ["port": JSONValue(port)])
            try until(5, "it replicates", logs: nodes) { nodes[1].document("after\(number)") != nil }
            try LAN.settle(nodes, within: 20, "all is there")
        }
    }
}
