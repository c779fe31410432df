import Glibc
import KithDocument
import KithTestSupport
import Testing

@testable import KithDiscovery

/// Discovery over real Avahi daemons, each on a node of a LAN of namespaces.
@Suite(.serialized, .enabled(if: Lab.skipReason == nil, "there can be no LAN here"), .timeLimit(.minutes(20)))
struct AvahiLANTests {
    private let tag = "0123456789abcdef"

    init() { LANReport.count() }

    private func id(_ digit: Character) -> String { String(repeating: digit, count: 64) }

    private func isPresent(_ line: String, _ id: String, _ address: String) -> Bool {
        line.hasPrefix("service present \(id.prefix(8)) [") && line.contains(address)
    }

    @Test func nodesOfAGroupSeeEachOtherAndOthersAreOnlyCounted() throws {
        let lab = try Lab(nodes: 3)
        let alpha = try lab.probe(on: 1, tag, "alpha", id("a"), "5484")
        let beta = try lab.probe(on: 2, tag, "beta", id("b"), "5484")
        let stranger = try lab.probe(on: 3, "ffff", "stranger", id("f"), "5484")
        _ = try alpha.wait(seconds: 15, for: "beta with its address") { isPresent($0, id("b"), "10.77.0.2:5484") }
        _ = try beta.wait(seconds: 15, for: "alpha with its address") { isPresent($0, id("a"), "10.77.0.1:5484") }
        _ = try alpha.wait(seconds: 15, for: "count of foreign groups") { $0.hasPrefix("state advertised foreign=1 ") }
        #expect(!alpha.lines.contains { $0.contains("stranger") })

        // A node that ends is a hint from then on, with its address; it returns without a word of its having gone.
        beta.end()
        _ = try alpha.wait(seconds: 15, for: "stale beta") {
            $0.hasPrefix("service stale bbbbbbbb [") && $0.contains("10.77.0.2:5484")
        }
        stranger.end()
    }

    @Test func avahiMayCrashAndComeBack() throws {
        let lab = try Lab(nodes: 2)
        let alpha = try lab.probe(on: 1, tag, "alpha", id("a"), "5484")
        let beta = try lab.probe(on: 2, tag, "beta", id("b"), "5484")
        _ = try alpha.wait(seconds: 15, for: "beta") { isPresent($0, id("b"), "10.77.0.2:5484") }
        try lab.run("lab_avahi_stop 1 KILL")
        let down = try alpha.wait(seconds: 15, for: "its state without Avahi") { $0.hasPrefix("state unavailable") }
        #expect(down.contains("avahi-daemon does not run"))
        alpha.send("resolve beta (bbbbbbbb)")
        _ = try alpha.wait(seconds: 15, for: "answer without Avahi") { $0.hasPrefix("unresolved ") }
        _ = try alpha.wait(seconds: 15, for: "hint") { $0.hasPrefix("service stale bbbbbbbb [") }
        alpha.forget()
        try lab.run("lab_avahi_start 1")
        _ = try alpha.wait(seconds: 15, for: "announcement") {
            $0.hasPrefix("state advertised") && $0.hasSuffix("error=-")
        }
        _ = try alpha.wait(seconds: 15, for: "beta again") { isPresent($0, id("b"), "10.77.0.2:5484") }
        beta.send("resolve alpha (aaaaaaaa)")
        _ = try beta.wait(seconds: 15, for: "alpha again") { $0.hasPrefix("resolved aaaaaaaa [10.77.0.1:5484") }
        #expect(!alpha.lines.contains { $0.hasPrefix("service") && $0.contains("alpha") }, "a node does not see itself")
    }

    @Test func aNewPortIsFoundByResolvingAgain() throws {
        let lab = try Lab(nodes: 2)
        let beta = try lab.probe(on: 2, tag, "beta", id("b"), "5484")
        let first = try lab.probe(on: 1, tag, "alpha", id("a"), "5484")
        _ = try beta.wait(seconds: 15, for: "alpha") { isPresent($0, id("a"), "10.77.0.1:5484") }
        // Killed and back at once: browsing says nothing about it.
        first.kill()
        let second = try lab.probe(on: 1, tag, "alpha", id("a"), "5499")
        _ = try second.wait(seconds: 15, for: "announcement") { $0.hasPrefix("state advertised") }
        let deadline = Deadline(seconds: 10)
        var answer = ""
        while !answer.contains("10.77.0.1:5499"), deadline.remaining > 0 {
            beta.forget()
            beta.send("resolve alpha (aaaaaaaa)")
            answer = try beta.wait(seconds: 15, for: "answer") {
                $0.hasPrefix("resolved") || $0.hasPrefix("unresolved")
            }
        }
        #expect(answer.contains("10.77.0.1:5499"))
    }

    @Test func nodesOfOneMachineFindEachOtherUnderTheSameName() throws {
        let lab = try Lab(nodes: 2)
        let one = try lab.probe(on: 1, tag, "alpha", id("a"), "5484")
        _ = try one.wait(seconds: 15, for: "announcement") { $0.contains("name=alpha (aaaaaaaa)") }
        // The same name and even the same id: refused by Avahi on this machine, and announced under a longer name.
        let two = try lab.probe(on: 1, tag, "alpha", id("a"), "5485")
        _ = try two.wait(seconds: 15, for: "announcement") { $0.contains("name=alpha (aaaaaaaaaaaaaaaa)") }
        _ = try one.wait(seconds: 15, for: "the other") { isPresent($0, id("a"), ":5485") }
        _ = try two.wait(seconds: 15, for: "the one") { isPresent($0, id("a"), ":5484") }
        // And on another machine: Avahi changes the name and says so.
        let three = try lab.probe(on: 2, tag, "alpha", id("a"), "5484")
        let state = try three.wait(seconds: 15, for: "announcement") { $0.hasPrefix("state advertised") }
        #expect(state.contains("name=alpha (aaaaaaaa) #2"))
    }

    @Test func linkLocalIPv6AloneIsEnough() throws {
        let lab = try Lab(nodes: 2)
        for node in 1...2 { try lab.run("on \(node) ip addr del 10.77.0.\(node)/24 dev eth0") }
        let alpha = try lab.probe(on: 1, tag, "alpha", id("a"), "5484")
        let beta = try lab.probe(on: 2, tag, "beta", id("b"), "5484")
        let line = try alpha.wait(seconds: 15, for: "beta by IPv6") { isPresent($0, id("b"), "[fe80::") }
        #expect(line.contains("%eth0]:5484]"))
        _ = beta
    }

    @Test func anotherMachinesInsideIsNotOffered() throws {
        let lab = try Lab(nodes: 2)
        for node in 1...2 {
            try lab.run(
                "on \(node) ip link add docker0 type bridge && on \(node) ip addr add 172.17.0.1/16 dev docker0")
            try lab.run("on \(node) ip link add kdc\(node) type veth peer name kdp\(node)")
            try lab.run("on \(node) ip link set kdc\(node) master docker0 up && on \(node) ip link set kdp\(node) up")
            try lab.run("on \(node) ip link set docker0 up")
        }
        let alpha = try lab.probe(on: 1, tag, "alpha", id("a"), "5484")
        let beta = try lab.probe(on: 2, tag, "beta", id("b"), "5484")
        let line = try beta.wait(seconds: 15, for: "alpha") { isPresent($0, id("a"), "10.77.0.1:5484") }
        #expect(!line.contains("172.17.0.1"))
        alpha.send("resolve beta (bbbbbbbb)")
        let answer = try alpha.wait(seconds: 15, for: "answer") { $0.hasPrefix("resolved") }
        #expect(!answer.contains("172.17.0.1"))
    }

    /// Avahi 0.8 makes a reference in memory that it does not clear, and looks there for callbacks when the daemon goes:
    /// here the memory is full of what no callback is.
    @Test func avahiMayGoWhileAQuestionIsUnderWay() throws {
        let lab = try Lab(nodes: 1)
        // Which of the references hears of the end first is chance, and only a question can fail: so several times.
        for stop in ["lab_avahi_stop 1 KILL", "lab_bus_stop 1", "lab_avahi_stop 1 KILL", "lab_bus_stop 1"] {
            let probe = try lab.probe(
                on: 1, environment: ["GLIBC_TUNABLES=glibc.malloc.tcache_count=0", "MALLOC_PERTURB_=165"], tag)
            _ = try probe.wait(seconds: 15, for: "search") { $0.hasPrefix("state searching") }
            probe.send("resolve nobody")
            try lab.run(stop)
            _ = try probe.wait(seconds: 15, for: "an answer") { $0.hasPrefix("unresolved") }
            _ = try probe.wait(seconds: 15, for: "state") { $0.hasPrefix("state unavailable") }
            #expect(probe.end() == 0)
            try lab.run("lab_bus_answers 1 || lab_bus_start 1")
            try lab.run("lab_avahi_start 1 && lab_ready 1")
        }
    }

    @Test func manyServicesAtOnceAreToldOfTogether() throws {
        let lab = try Lab(nodes: 2)
        let alpha = try lab.probe(on: 1, tag, "alpha", id("a"), "5484")
        _ = try alpha.wait(seconds: 15, for: "announcement") { $0.hasPrefix("state advertised") }
        alpha.forget()
        try lab.run(
            "for i in {10..59}; do on 2 avahi-publish -s --subtype=_\(tag)._sub._kith._tcp many$i _kith._tcp 9 "
                + "id=$(printf \"$i%.0s\" {1..32}) v=1 g=\(tag) > /dev/null 2>&1 & done")
        _ = try alpha.wait(seconds: 60, for: "all 50 with their addresses") { $0 == "services 50 of 50" }
        let watch = Stopwatch()
        let beta = try lab.probe(on: 2, tag, "beta", id("b"), "5484")
        _ = try alpha.wait(seconds: 30, for: "beta among them") { isPresent($0, id("b"), "10.77.0.2:5484") }
        let seconds = watch.seconds
        print("measured on the LAN: a node among 50 others' announcements was known after \(seconds) s")
        // Each of them is resolved once, and what is learnt is told at most every 200 ms, however much it is.
        let told = alpha.lines.filter { $0.hasPrefix("services ") }.count
        #expect(told < 150, "told \(told) times")
        beta.end()
    }

    @Test func withoutABusTheMissingPieceIsNamed() throws {
        let probe = try Lab.lonelyProbe(tag, "alpha", id("a"), "5484")
        let state = try probe.wait(seconds: 15, for: "state") { $0.hasPrefix("state unavailable") }
        #expect(state.contains("no system bus at /run/dbus/system_bus_socket"))
    }

    @Test func aBusAndAnAvahiCanBeStartedForAWhileAndEnd() throws {
        let temporary = TemporaryDirectory()
        let folder = temporary.path
        let probe = try Lab.lonelyProbe("--local-avahi", folder, tag, "alpha", id("a"), "5484")
        _ = try probe.wait(seconds: 12, for: "start") { $0 == "local started dbus-daemon and avahi-daemon" }
        _ = try probe.wait(seconds: 15, for: "announcement") { $0.hasPrefix("state advertised") }
        #expect(AvahiProbe(busAddress: "unix:path=\(folder)/bus", avahiPath: "/nonexistent").find() == .answering)
        probe.send("quit")
        _ = try probe.wait(seconds: 15, for: "end") { $0 == "stopped" }
        #expect(!UnixSocket.accepts("\(folder)/bus"))
    }
}
