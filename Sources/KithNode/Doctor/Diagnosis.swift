import KithDiscovery
import KithSystem

/// The judgement of `kith doctor`: a pure function of what was found. The checks stand in the order in which one thing is
/// the cause of another, so that the first that failed is the cause to name.
package enum Diagnosis {
    /// - Returns: every check in order.
    package static func report(_ facts: DoctorFacts) -> DoctorReport {
        var checks = isIdentityWrong(facts) ? [health(facts)] : []
        checks += [network(facts), bus(facts), avahi(facts), multicastHere(facts), listener(facts)]
        checks += [directory(facts), node(facts)]
        if !isIdentityWrong(facts) { checks.append(health(facts)) }
        checks += [addresses(facts), ownService(facts), group(facts), peers(facts), records(facts)]
        checks += [multicastOthers(facts), firewall(facts)]
        checks += [clock(facts), storage(facts), descriptors(facts)]
        if !facts.unfinished.isEmpty {
            checks.append(
                .init(
                    "time", .warning, "not all could be looked at in time: \(facts.unfinished.joined(separator: ", "))",
                    action: "run kith doctor again"))
        }
        return DoctorReport(generatedAt: facts.wallMilliseconds, checks: checks, calm: calm(facts))
    }

    private static func calm(_ facts: DoctorFacts) -> String {
        let connected = facts.node?.connected.count ?? 0
        if connected > 0 { return "nothing is wrong: \(count(connected, "peer is", "peers are")) connected" }
        let answering = Set(facts.places.filter { $0.outcome == .answered }.compactMap(\.node)).count
        return answering > 0
            ? "nothing is wrong: \(count(answering, "node", "nodes")) of the group answered"
            : "nothing is wrong here, and no other node of the group was met yet; kith invite makes a code for one"
    }

    static func count(_ number: Int, _ one: String, _ many: String) -> String {
        "\(number) \(number == 1 ? one : many)"
    }

    /// Names in a sentence, the first few.
    static func list(_ names: [String], atMost limit: Int = 3) -> String {
        let shown = names.prefix(limit).joined(separator: ", ")
        return names.count > limit ? "\(shown) and \(names.count - limit) more" : shown
    }

    // MARK: This machine

    private static func directory(_ facts: DoctorFacts) -> DoctorReport.Check {
        let directory = facts.directory
        if let failure = directory.failure {
            return .init("directory", .failed, failure)
        }
        return .init(
            "directory", .ok,
            "\(directory.path) is node \(directory.nodeName) (\(directory.nodeID.prefix(8))) of group \(directory.groupName)"
        )
    }

    private static func network(_ facts: DoctorFacts) -> DoctorReport.Check {
        let details = facts.interfaces.map { interface in
            "\(interface.name): \(interface.addresses.joined(separator: ", "))\(interface.skipped.map { "; skipped, \($0)" } ?? "")"
        }
        let used = facts.interfaces.filter { $0.skipped == nil }
        if used.isEmpty {
            return .init(
                "network", .failed, "this machine has no network interface that is up and has an address",
                action: "plug in the cable or join the network, and look at: ip address", details: details)
        }
        return .init("network", .ok, "on \(list(used.map(\.name), atMost: 6))", details: details)
    }

    private static func bus(_ facts: DoctorFacts) -> DoctorReport.Check {
        guard facts.usesDiscovery else { return .init("bus", .skipped, "discovery is not wanted (--no-discovery)") }
        guard let finding = facts.avahi?.finding else { return .init("bus", .skipped, "the system bus was not asked") }
        switch finding {
        case .noBus, .busSilent:
            return .init(
                "bus", .failed, finding.piece,
                action: "\(finding.action); without it name the peers: kith start --peer HOST:PORT")
        default: return .init("bus", .ok, "the system bus answers")
        }
    }

    private static func avahi(_ facts: DoctorFacts) -> DoctorReport.Check {
        guard facts.usesDiscovery else { return .init("avahi", .skipped, "discovery is not wanted (--no-discovery)") }
        guard let avahi = facts.avahi else { return .init("avahi", .skipped, "Avahi was not asked") }
        switch avahi.finding {
        case .noBus, .busSilent: return .init("avahi", .skipped, "Avahi can't be asked without the bus")
        case .noAvahi, .notOnBus, .avahiSilent:
            return .init(
                "avahi", .failed, avahi.finding.piece,
                action: "\(avahi.finding.action); without it name the peers: kith start --peer HOST:PORT")
        case .answering: break
        }
        let name = avahi.hostName.map { ", this machine is \($0)" } ?? ""
        switch avahi.state {
        case 1:
            return .init(
                "avahi", .failed, "avahi-daemon runs and has not finished announcing this machine's name\(name)",
                action: "wait a few seconds; if it stays so, restart avahi-daemon")
        case 3:
            return .init(
                "avahi", .warning, "avahi-daemon found this machine's name taken and looks for another\(name)",
                action: "give the machines different names, or wait a few seconds")
        case 4:
            return .init("avahi", .failed, "avahi-daemon has failed", action: "restart it, and look into its log")
        default:
            if let error = facts.discoveryError {
                return .init(
                    "avahi", .failed, "avahi-daemon runs, and asking it failed: \(error)", action: "restart it")
            }
            return .init("avahi", .ok, "\(avahi.version ?? "avahi-daemon") answers\(name)")
        }
    }

    private static func multicastHere(_ facts: DoctorFacts) -> DoctorReport.Check {
        let name = "multicast"
        guard facts.usesDiscovery else { return .init(name, .skipped, "discovery is not wanted (--no-discovery)") }
        guard let multicast = facts.multicast else { return .init(name, .skipped, "multicast was not tried") }
        if let failure = multicast.failure {
            return .init(name, .warning, failure, action: "see what holds it: ss -ulpn")
        }
        let hints = hints(facts, [.multicast, .everything])
        let barred = multicast.hearings.filter { !$0.isSent && [1, 13].contains($0.sendError ?? 0) }
        if let first = barred.first {
            return .init(
                name, .failed,
                "a firewall of this machine keeps multicast DNS (UDP 5353) from going out on \(first.interface)",
                action: "let UDP port 5353 out", details: hints)
        }
        let deaf = multicast.hearings.filter { $0.isSent && !$0.heardOwn && $0.others.isEmpty }
        if !deaf.isEmpty, deaf.count == multicast.hearings.filter(\.isSent).count {
            return .init(
                name, .failed, "a firewall of this machine drops multicast DNS (UDP 5353): not even its own comes back",
                action: "let UDP port 5353 in (ufw allow 5353/udp, or firewall-cmd --add-service=mdns)", details: hints)
        }
        if let first = deaf.first {
            return .init(
                name, .warning, "multicast DNS does not come back on \(first.interface)",
                action: "let UDP port 5353 in on it, if nodes are there", details: hints)
        }
        let silent = multicast.hearings.allSatisfy { !$0.isSent }
        return silent
            ? .init(name, .warning, "multicast DNS could not be sent", action: "look at: ip route, ip address")
            : .init(
                name, .ok,
                "multicast DNS goes out and comes back on \(list(multicast.hearings.filter(\.heardOwn).map(\.interface)))"
            )
    }

    static func hints(_ facts: DoctorFacts, _ concerns: [FirewallHint.Concern]) -> [String] {
        facts.firewall.hints.filter { concerns.contains($0.concern) }.map { "\($0.tool): \($0.text)" }
            + facts.firewall.unread
    }

    private static func listener(_ facts: DoctorFacts) -> DoctorReport.Check {
        if let failure = facts.ownPortFailure {
            guard facts.portHolder == .answered else { return .init("listener", .warning, failure) }
            return .init(
                "listener", .ok,
                "port \(facts.port) is in use by another node of the group on this machine; this one takes the next free one"
            )
        }
        guard !facts.ownPort.isEmpty else { return .init("listener", .skipped, "this node's port was not tried") }
        let details = facts.ownPort.map { "\($0.address) on \($0.interface): \(words($0.outcome))" }
        let lost = facts.ownPort.filter { $0.outcome != .answered }
        guard let first = lost.first else {
            return .init(
                "listener", .ok, "port \(facts.port) answers at each address of this machine", details: details)
        }
        if lost.contains(where: { $0.outcome == .noAnswer }) {
            return .init(
                "listener", .failed,
                "a firewall of this machine drops connections to its port \(facts.port): \(first.address) gets no answer",
                action:
                    "let TCP port \(facts.port) in (ufw allow \(facts.port)/tcp, or firewall-cmd --add-port=\(facts.port)/tcp)",
                details: details + hints(facts, [.port, .everything]))
        }
        return .init(
            "listener", .warning, "port \(facts.port) does not answer at \(first.address): \(words(first.outcome))",
            action: "see where the node listens: kith status", details: details)
    }

    private static func node(_ facts: DoctorFacts) -> DoctorReport.Check {
        if facts.directory.failure != nil { return .init("node", .skipped, "there is no node to run") }
        guard let node = facts.node else {
            let failure = facts.nodeFailure ?? ""
            return failure.hasPrefix("kith is not running") || failure.isEmpty
                ? .init("node", .failed, "the node does not run here", action: "start it: kith start")
                : .init("node", .failed, "the node was not asked: \(failure)")
        }
        return .init("node", .ok, "the node runs, process \(node.pid)")
    }

    private static func ownService(_ facts: DoctorFacts) -> DoctorReport.Check {
        guard facts.usesDiscovery else {
            return .init("announcement", .skipped, "discovery is not wanted (--no-discovery)")
        }
        guard facts.node != nil, facts.avahi?.finding == .answering else {
            return .init("announcement", .skipped, "an announcement needs a running node and Avahi")
        }
        switch facts.seesItself {
        case .some(true): return .init("announcement", .ok, "this node's announcement is seen here")
        case .some(false):
            let reason = facts.node?.discoveryError.map { ": \($0)" } ?? ""
            return .init(
                "announcement", .failed, "this node is not announced\(reason)",
                action:
                    "look into avahi-daemon's log, and at disable-publishing in avahi-daemon.conf; restart avahi-daemon"
            )
        case nil: return .init("announcement", .skipped, "the announcement was not looked for")
        }
    }

    private static func clock(_ facts: DoctorFacts) -> DoctorReport.Check {
        if facts.wallMilliseconds < DoctorLimits.plausibleMilliseconds {
            return .init(
                "clock", .warning, "this machine's clock stands before 2025", action: "set it by a time service")
        }
        let skewed = facts.node?.connected.first {
            ($0.clockOffsetMilliseconds?.magnitude ?? 0) > NodeLimits.clockSkewMilliseconds
        }
        guard let skewed, let offset = skewed.clockOffsetMilliseconds else {
            return .init(
                "clock", .ok,
                facts.node?.connected.isEmpty == false ? "as the peers' clocks" : "there is no peer to compare it with")
        }
        return .init(
            "clock", .warning,
            "the clock of \(skewed.name ?? skewed.id) is \(offset.magnitude / 1_000) s \(offset > 0 ? "ahead of" : "behind") this one",
            action: "set both by a time service")
    }

    private static func storage(_ facts: DoctorFacts) -> DoctorReport.Check {
        if let name = facts.directory.networkFileSystem {
            return .init(
                "storage", .failed, "\(facts.directory.path) is on a network file system (\(name))",
                action: "move the node's directory to a local disk")
        }
        return .init("storage", .ok, "the directory is on a local disk")
    }

    private static func descriptors(_ facts: DoctorFacts) -> DoctorReport.Check {
        let limit = facts.descriptorLimit
        if let open = facts.node?.openDescriptors, limit > 0, UInt64(open) * 5 > limit * 4 {
            return .init(
                "descriptors", .warning, "the node has \(open) of \(limit) file descriptors open",
                action: "raise the limit: ulimit -n, or LimitNOFILE= of the service")
        }
        if limit > 0, limit < DoctorLimits.fewDescriptors {
            return .init(
                "descriptors", .warning, "a process may have only \(limit) files open",
                action: "raise the limit: ulimit -n, or LimitNOFILE= of the service")
        }
        return .init("descriptors", .ok, "a process may have \(limit) files open")
    }
}
