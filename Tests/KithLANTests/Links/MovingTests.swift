import Glibc
import KithDocument
import KithTestSupport
import Testing

/// Machines whose addresses change, that sleep, and that wake up elsewhere.
@Suite(.serialized, .enabled(if: Lab.skipReason == nil, "there can be no LAN here"), .timeLimit(.minutes(20)))
struct MovingTests {
    init() { LANReport.count() }

    @Test func aNewAddressIsUsedAndTheOldOneIsNotTakenForTheNodeByWhoGetsIt() throws {
        let lan = try LAN(machines: 3)
        let nodes = try lan.runGroup("home", ["alpha", "beta", "gamma"], on: [1, 2, 3])
        let truth = LAN.truth(nodes)
        // The link may use IPv6; that goes with the cable's numbers, so both are changed.
        try lan.on(1, "ip addr flush dev eth0 scope global")
        try lan.on(1, "ip addr add 10.77.0.101/24 dev eth0")
        try lan.on(1, "ip -6 addr flush dev eth0")
        try lan.on(1, "ip -6 addr add fe80::101/64 dev eth0 nodad")
        try nodes[0].put("moved", ["to": "10.77.0.101"])
        let watch = Stopwatch()
        try LAN.settle(nodes, within: 50, "in sync at the new address")
        measured("an address was changed: in sync in", watch.seconds)
        #expect(watch.seconds < 20)
        // Somebody else gets the old address.
        try lan.on(3, "ip addr add 10.77.0.1/24 dev eth0")
        nodes[1].kill()
        try nodes[1].start()
        try LAN.settle(nodes, within: 50, "in sync though another node is where alpha was")
        for node in nodes { #expect(try node.status()["peers"]?.array?.count == 2, "one peer each, and no new one") }
        let said = truth.end()
        #expect(said.lies.isEmpty, "\(said)")
    }

    @Test func aMachineThatSleptAndWokeOnAnotherNetworkFindsThePeersThere() throws {
        let lan = try LAN(machines: 3)
        let nodes = try lan.runGroup("home", ["alpha", "beta", "gamma"], on: [1, 2, 3])
        let truth = LAN.truth(nodes)
        // A second network with gamma on it; the first keeps alpha.
        try lan.lab.run("ip link add kc$LAB_ID type bridge mcast_snooping 0 && ip link set kc$LAB_ID up")
        defer { _ = try? lan.lab.run("ip link del kc$LAB_ID") }
        nodes[1].signal(SIGSTOP)
        try nodes[0].put("night", ["beta": "sleeps"])
        for machine in 2...3 { try lan.lab.run("ip link set kv$LAB_ID-\(machine) master kc$LAB_ID") }
        let asleep = Stopwatch()
        while asleep.seconds < 17 { usleep(100_000) }
        try nodes[2].put("there", ["on": "the other network"])
        let woke = Stopwatch()
        nodes[1].signal(SIGCONT)
        try until(50, "beta has what gamma wrote", logs: nodes) {
            nodes[1].document("there") != nil
        }
        measured("a machine that slept and was moved has the other network's documents in", woke.seconds)
        #expect(woke.seconds < 10, "\(nodes[1].log)")
        // What alpha sent before it went is read first, and counts as a word from it.
        try until(10, "alpha is unknown", logs: nodes) { try nodes[1].status().state(of: "alpha") == "unknown" }
        #expect(nodes[1].log.contains("this node stood still"))
        for machine in 2...3 { try lan.lab.run("ip link set kv$LAB_ID-\(machine) master $LAB_BRIDGE") }
        try LAN.settle(nodes, within: 50, "all in sync")
        let said = truth.end()
        #expect(said.lies.isEmpty, "\(said)")
    }

    @Test func withoutIPv4AndAfterItsReturnAllGoesOn() throws {
        let lan = try LAN(machines: 2)
        let nodes = try lan.runGroup("home", ["alpha", "beta"], on: [1, 2])
        let truth = LAN.truth(nodes)
        for machine in 1...2 { try lan.on(machine, "ip addr flush dev eth0 scope global") }
        try nodes[0].put("six", ["ip": 6])
        let watch = Stopwatch()
        try LAN.settle(nodes, within: 60, "in sync over link-local IPv6")
        measured("IPv4 was taken away: in sync over link-local IPv6 in", watch.seconds)
        #expect(watch.seconds < 25)
        for node in nodes {
            let address = try node.status()["peers"]?[0]?["address"]?.string ?? ""
            #expect(address.hasPrefix("[fe80::") && address.contains("%eth0]:"), "\(address)")
        }
        for machine in 1...2 { try lan.on(machine, "ip addr add 10.77.0.\(machine)/24 dev eth0") }
        try nodes[1].put("four", ["ip": 4])
        try LAN.settle(nodes, within: 30, "in sync")
        let said = truth.end()
        #expect(said.lies.isEmpty, "\(said)")
    }
}
