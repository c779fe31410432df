import Glibc
import KithDocument
import KithTestSupport
import Testing

/// `kith doctor` on machines with something wrong: its first line names it.
@Suite(.serialized, .enabled(if: Lab.skipReason == nil, "there can be no LAN here"), .timeLimit(.minutes(20)))
struct DoctorLANTests {
    init() { LANReport.count() }

    /// Runs the doctor on a node's machine.
    /// - Returns: the first line, everything, and the exit status.
    private func ask(_ node: LANNode, _ options: String...) throws -> (first: String, text: String, status: Int32?) {
        let watch = Stopwatch()
        let answer = try node.command(["doctor"] + options)
        #expect(watch.seconds < 30, "the doctor ends within 15 s on an idle machine")
        return (answer.lines.first ?? "", answer.lines.joined(separator: "\n"), answer.status)
    }

    @Test func theFirstLineNamesTheCause() throws {
        let lan = try LAN(machines: 3)
        let nodes = try lan.runGroup("home", ["alpha", "beta"], on: [1, 2])
        let alpha = nodes[0]
        var answer = try ask(alpha)
        #expect(answer.first == "nothing is wrong: 1 peer is connected", "\(answer.text)")
        #expect(answer.status == 0)

        // A firewall: connections dropped, then multicast.
        try lan.lab.run("lab_wall 1 -A INPUT -p tcp --syn -j DROP")
        answer = try ask(alpha)
        #expect(
            answer.first.hasPrefix("a firewall of this machine drops connections to its port 5484"), "\(answer.text)")
        #expect(answer.text.contains("iptables: -A INPUT -p tcp"), "the rule is shown")
        #expect(answer.status == 1)
        try lan.lab.run("lab_unwall 1")
        try lan.lab.run("lab_wall 1 -A INPUT -p udp --dport 5353 -j DROP")
        answer = try ask(alpha)
        #expect(answer.first.hasPrefix("a firewall of this machine drops multicast DNS (UDP 5353)"), "\(answer.text)")
        try lan.lab.run("lab_unwall 1")

        // A switch or an access point that keeps its machines apart.
        for machine in 1...2 { try lan.lab.run("lab_isolate \(machine)") }
        try until(40, "the link is known to be dead", logs: nodes) { try alpha.status().state(of: "beta") == "unknown" }
        answer = try ask(alpha)
        #expect(answer.first.hasPrefix("no other machine of this network is heard or reached"), "\(answer.text)")
        #expect(answer.first.contains("keeps its machines apart") && answer.first.contains("beta"), "\(answer.text)")
        #expect(answer.status == 1)
        for node in nodes { try node.put(node.name, ["isolated": true]) }
        for machine in 1...2 { try lan.lab.run("lab_unisolate \(machine)") }
        try LAN.settle(nodes, within: 60, "all is there")

        // No node, and the wrong group: machine 3 has one of another group.
        try nodes[1].stop()
        let gamma = try lan.makeGroup("work", ["gamma"], on: [3])[0]
        answer = try ask(gamma)
        #expect(answer.first.hasPrefix("a Kith group is here but it is another group (tag "), "\(answer.text)")
        #expect(answer.first.contains("alpha") && answer.first.contains("group work"), "\(answer.text)")

        // A bus that hangs holds up neither the node nor the doctor.
        try lan.lab.run("kill -STOP $(cat $LAB_DIR/buspid1)")
        answer = try ask(alpha)
        #expect(
            answer.first.hasPrefix("the system bus at /run/dbus/system_bus_socket does not answer"), "\(answer.text)")
        try lan.lab.run("kill -CONT $(cat $LAB_DIR/buspid1)")

        // Neither Avahi nor, then, a bus; and the node does not even run.
        try alpha.stop()
        answer = try ask(alpha)
        #expect(answer.first.hasPrefix("the node does not run here"), "\(answer.text)")
        try lan.lab.run("lab_avahi_stop 1")
        answer = try ask(alpha)
        #expect(answer.first.hasPrefix("avahi-daemon does not run"), "\(answer.text)")
        try lan.lab.run("lab_avahi_start 1 && lab_ready 1 && lab_bus_stop 1")
        let json = try JSONValue(parsing: Array(ask(alpha, "--json").first.utf8))
        #expect(json["cause"]?.string?.hasPrefix("no system bus at /run/dbus/system_bus_socket") == true)
        #expect(json["trouble"] == true)
    }
}
