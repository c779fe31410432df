import Glibc
import KithDocument
import KithTestSupport
import Testing

/// A group of nodes, one on each machine of a LAN, that know of each other by DNS-SD alone.
///
/// All nodes are asked throughout what they say of each other, and at its end no node may have called another in sync whose
/// digest differed for longer than a second. What they acknowledge is remembered, and looked for by `settle`.
final class LAN {
    let lab: Lab
    private(set) var nodes: [LANNode] = []
    private let truth = TruthPoller([])
    private let ledger = Ledger()

    /// Machines with an Avahi each, and no nodes yet.
    init(machines: Int) throws { lab = try Lab(nodes: machines) }

    deinit {
        truth.stop()
        for node in nodes { node.kill() }
        let said = truth.record
        if !said.lies.isEmpty { Issue.record("\(said)") }
    }

    /// Makes a group of which the first node is the admin and is started; the others are joined, by DNS-SD, and not
    /// started.
    /// - Parameter machines: by node the machine it is on.
    func makeGroup(_ group: String, _ names: [String], on machines: [Int]) throws -> [LANNode] {
        let made = zip(names, machines).map { LANNode($0, on: $1, of: lab) }
        nodes += made
        for node in made { node.watch(truth, ledger) }
        try made[0].mustRun("init", "--group", group, "--name", names[0])
        try made[0].start()
        for node in made.dropFirst() {
            let code = try made[0].mustRun("invite").last ?? ""
            try node.mustRun("join", code, "--name", node.name)
        }
        return made
    }

    /// A node that joins by an address instead of DNS-SD; not started.
    func join(_ name: String, on machine: Int, invitedBy inviter: LANNode, at address: String) throws -> LANNode {
        let node = LANNode(name, on: machine, of: lab)
        nodes.append(node)
        let code = try inviter.mustRun("invite").last ?? ""
        try node.mustRun("join", code, "--name", name, "--peer", address)
        return node
    }

    /// A group with all its nodes running and connected, and the database `t` on each of them.
    func runGroup(_ group: String, _ names: [String], on machines: [Int]) throws -> [LANNode] {
        let made = try makeGroup(group, names, on: machines)
        for node in made.dropFirst() { try node.start() }
        try until(60, "\(group) meets", logs: made) {
            try made.allSatisfy { try $0.status().connected == made.count - 1 }
        }
        try made[0].createDatabase("t")
        try Self.settle(made, within: 60, "\(group) in sync")
        return made
    }

    /// Who asks all nodes of a LAN all the time what they say of each other: for tests that look at when something was said.
    static func truth(_ nodes: [LANNode]) -> TruthPoller {
        nodes[0].truth ?? TruthPoller(nodes.map { ($0.name, $0.socket) })
    }

    /// Runs a shell command inside a machine, which must succeed.
    func on(_ machine: Int, _ command: String) throws { try lab.run("on \(machine) \(command)") }

    /// Why a tool can't be used inside the machines; nil where it can.
    func lacks(_ command: String) -> String? {
        do {
            try lab.run("on 1 \(command)")
            return nil
        } catch { return "\(error)" }
    }

    /// The public tag of a node's group, as its doctor tells others of it.
    func tag(of node: LANNode) throws -> String {
        let names = try lab.run(
            "on \(node.machine) timeout 10 avahi-browse -rpt _kith._tcp | grep -o '\"g=[^\"]*' | head -1")
        return names.first.map { String($0.dropFirst(3)) } ?? ""
    }

    /// Waits until nodes say that `t` is in sync on all, have one digest of it, and show every document that one of them
    /// acknowledged (`Ledger`).
    /// - Returns: the seconds until they said so.
    @discardableResult
    static func settle(_ nodes: [LANNode], within seconds: Double, _ what: String) throws -> Double {
        let took = try until(seconds, what, logs: nodes) { try isInSync(nodes) }
        // What is said is true at once; the time is for the reading.
        try agree(nodes, within: 10, what)
        return took
    }

    /// The same of nodes that are not all linked, whatever they say.
    static func agree(_ nodes: [LANNode], within seconds: Double, _ what: String) throws {
        do {
            try nodes[0].ledger?.settle("t", on: nodes.map(\.name), within: seconds)
        } catch { throw Failure("\(what): \(error)\n" + nodes.map(\.log).joined(separator: "\n")) }
    }

    /// Whether `t` is the same on all and every one of them knows it.
    static func isInSync(_ nodes: [LANNode]) throws -> Bool {
        let statuses = try nodes.map { try $0.status() }
        return Set(statuses.map { $0.digest(of: "t") }).count == 1
            && statuses.allSatisfy { $0.isInSync("t", with: nodes.count - 1) }
    }
}

/// Asks every few milliseconds until it holds.
/// - Parameter logs: nodes whose last words go into the message when it does not hold in time.
/// - Returns: the seconds it took.
@discardableResult
func until(_ seconds: Double, _ what: String, logs: [LANNode], _ holds: () throws -> Bool) throws -> Double {
    let watch = Stopwatch()
    while try !holds() {
        if watch.seconds > seconds {
            throw Failure("not within \(seconds) s: \(what)\n" + logs.map(\.log).joined(separator: "\n"))
        }
        usleep(10_000)
    }
    return watch.seconds
}

/// A time for people who read the output of the tests.
func measured(_ what: String, _ seconds: Double) {
    print("measured on the LAN: \(what) \(Double(Int(seconds * 1_000)) / 1_000) s")
}
