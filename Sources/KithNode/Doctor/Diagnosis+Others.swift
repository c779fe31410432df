import KithDiscovery

/// What is said of other machines.
extension Diagnosis {
    static func words(_ outcome: DoctorFacts.DialOutcome) -> String {
        switch outcome {
        case .answered: "answers"
        case .refused: "refused: the machine is there, and nothing listens at this port"
        case .noAnswer: "no answer in time"
        case .unreachable: "unreachable: no machine answers at this address"
        case .wrongNode(let id): "another node of the group answers there (\(id))"
        case .itself: "this node itself"
        case .sameIdentity: "a node with this node's own identity answers there"
        case .otherGroup: "who answers there is not in this group"
        case .refusedThere(let reason): reason
        case .failed(let reason): reason
        }
    }

    /// Tags of other groups whose nodes were heard, with the first of them.
    private static func foreign(_ facts: DoctorFacts) -> [(tag: String, instance: String)] {
        var found: [(tag: String, instance: String)] = []
        let sightings = (facts.multicast?.sightings ?? []).sorted {
            ($0.tag ?? "", $0.instance) < ($1.tag ?? "", $1.instance)
        }
        for sighting in sightings {
            guard let tag = sighting.tag, tag != facts.directory.tag, !found.contains(where: { $0.tag == tag }) else {
                continue
            }
            found.append((tag, sighting.instance))
        }
        return found
    }

    private static func hearsOwnGroup(_ facts: DoctorFacts) -> Bool {
        !facts.announced.isEmpty || facts.multicast?.sightings.contains { $0.tag == facts.directory.tag } == true
            || facts.places.contains { $0.outcome == .answered } || facts.node?.connected.isEmpty == false
    }

    /// A group whose nodes are all that is here.
    static func group(_ facts: DoctorFacts) -> DoctorReport.Check {
        let foreign = foreign(facts)
        let strangers = facts.places.filter { $0.outcome == .otherGroup }
        guard let first = foreign.first else {
            if let place = strangers.first, !hearsOwnGroup(facts) {
                return .init(
                    "group", .failed, "\(place.address) is a node of another group than \(facts.directory.groupName)",
                    action: "join its group with a code of kith invite there (kith leave first), or correct the address"
                )
            }
            return .init("group", .ok, "no other group is heard here")
        }
        let details = foreign.map { "tag \($0.tag): \($0.instance)" }
        guard !hearsOwnGroup(facts) else {
            return .init(
                "group", .ok, "\(count(foreign.count, "other group is", "other groups are")) here too, and left alone",
                details: details)
        }
        return .init(
            "group", .failed,
            "a Kith group is here but it is another group (tag \(first.tag), node \(first.instance)): no node of group \(facts.directory.groupName) is heard",
            action: "to join that one: kith leave here, kith invite there, kith join CODE here", details: details)
    }

    /// What came of each address where a node may be.
    static func peers(_ found: DoctorFacts) -> DoctorReport.Check {
        var facts = found
        facts.places.removeAll { $0.outcome == .itself || $0.outcome == .sameIdentity }
        let connected = facts.node?.connected ?? []
        var details = connected.map { peer in
            "\(peer.name ?? String(peer.id.prefix(8))): connected, \(peer.isDialled ? "dialled" : "accepted") \(peer.address ?? "")\(peer.isHere ? ", on this machine" : "")"
        }
        details += facts.places.map(line)
        let answering = Set(facts.places.filter { $0.outcome == .answered }.compactMap(\.node))
        let missing = Set(facts.places.compactMap(\.node)).subtracting(answering).sorted()
        if missing.isEmpty {
            if connected.isEmpty, facts.places.allSatisfy({ $0.outcome != .answered }), !facts.places.isEmpty {
                return unreached(facts, facts.places.map(\.address), details)
            }
            let text =
                connected.isEmpty && answering.isEmpty
                ? "no address of another node is known"
                : "\(count(connected.count + answering.count, "node", "nodes")) of the group reached"
            return .init("peers", .ok, text, details: details)
        }
        if let peer = facts.node?.peers.first(where: { $0.refusal != nil }), let refusal = peer.refusal {
            return .init(
                "peers", .failed,
                "\(peer.name ?? String(peer.id.prefix(8))) and this node do not accept each other: \(refusal)",
                action: "see kith status", details: details)
        }
        return unreached(facts, missing, details)
    }

    /// Says why nodes that are known do not answer, as far as one machine can tell.
    private static func unreached(_ facts: DoctorFacts, _ missing: [String], _ details: [String]) -> DoctorReport.Check
    {
        let who = list(missing)
        let lost = facts.places.filter { $0.outcome != .answered }
        let isDeaf = facts.multicast.map { $0.failure == nil && $0.hearings.allSatisfy(\.others.isEmpty) } ?? false
        let isAlone = facts.node?.connected.isEmpty ?? true
        let near = lost.filter(\.isNear)
        let isCutOff =
            !near.isEmpty
            && near.allSatisfy {
                $0.outcome == .unreachable || ($0.outcome == .noAnswer && $0.machineAnswers != true)
            }
        if isDeaf, isAlone, isCutOff, !facts.places.contains(where: { $0.outcome == .answered }) {
            let router = facts.router.map {
                $0.answers
                    ? "the router \($0.address) answers and no other machine does"
                    : "not even the router \($0.address) answers"
            }
            return .init(
                "peers", .failed,
                "no other machine of this network is heard or reached, \(who) neither\(router.map { " (\($0))" } ?? ""): the network keeps its machines apart (an isolated switch port, client isolation of a wireless network), or the others are off",
                action:
                    "turn isolation off on the switch or access point, or connect the machines to one network; see that the others run",
                details: details)
        }
        if let place = near.first(where: { $0.outcome == .noAnswer && $0.machineAnswers == true }) {
            return .init(
                "peers", .failed,
                "\(place.node ?? place.address) does not answer at \(place.address), though its machine is there: a firewall there drops connections",
                action: "let the node's TCP port in on that machine", details: details)
        }
        if let place = lost.first(where: { $0.outcome == .refused }), lost.allSatisfy({ $0.outcome == .refused }) {
            return .init(
                "peers", .failed, "\(who) does not run: its machine refuses connections at \(place.address)",
                action: "start the node there: kith start", details: details)
        }
        if let place = lost.first(where: { if case .refusedThere = $0.outcome { true } else { false } }) {
            return .init(
                "peers", .failed, "\(place.node ?? place.address) refuses this node: \(words(place.outcome))",
                action: "if it was revoked, join anew: kith invite there, kith join here", details: details)
        }
        return .init(
            "peers", isAlone ? .failed : .warning,
            "\(who) \(missing.count == 1 ? "is" : "are") not reached: \(lost.first.map { words($0.outcome) } ?? "no address answers")",
            action: "see that the node runs there, and on the same network", details: details)
    }

    /// Whether others are heard by multicast.
    static func multicastOthers(_ facts: DoctorFacts) -> DoctorReport.Check {
        let name = "others"
        guard facts.usesDiscovery else { return .init(name, .skipped, "discovery is not wanted (--no-discovery)") }
        guard let multicast = facts.multicast, multicast.failure == nil,
            multicast.hearings.contains(where: { $0.heardOwn || !$0.others.isEmpty })
        else { return .init(name, .skipped, "others can't be heard where one's own multicast is not") }
        let hosts = multicast.hearings.flatMap { hearing in
            hearing.others.sorted().map { "\($0) on \(hearing.interface)" }
        }
        if hosts.isEmpty, isAllHere(facts) {
            return .init(name, .ok, "no other machine is heard, and the nodes that are known are all on this one")
        }
        if hosts.isEmpty {
            let reaches = facts.places.contains { $0.isNear && $0.outcome == .answered } || facts.hasNearLink
            return reaches
                ? .init(
                    name, .failed,
                    "multicast is lost between the machines, though they reach each other: nothing of others is heard",
                    action:
                        "let UDP 5353 through the firewalls of the others; look at IGMP snooping without a querier on the switch, and at client isolation"
                )
                : .init(
                    name, .warning, "no other machine is heard by multicast DNS",
                    action:
                        "see that another machine runs Avahi or a node on this network; a switch with IGMP snooping or a wireless network with client isolation may keep it away"
                )
        }
        let nodes = Set(multicast.sightings.filter { $0.tag == facts.directory.tag }.map(\.instance)).sorted()
        let text = "\(count(Set(hosts).count, "other address is", "other addresses are")) heard"
        return .init(
            name, .ok,
            nodes.isEmpty ? "\(text), none with a node of this group" : "\(text); of this group \(list(nodes))",
            details: hosts)
    }

    static func firewall(_ facts: DoctorFacts) -> DoctorReport.Check {
        let firewall = facts.firewall
        let details = firewall.hints.map { "\($0.tool): \($0.text)" } + firewall.unread
        if !firewall.hints.isEmpty {
            return .init(
                "firewall", .warning,
                "\(count(firewall.hints.count, "rule", "rules")) may be in the way: \(firewall.hints[0].tool): \(firewall.hints[0].text)",
                action: "let TCP port \(facts.port) and UDP port 5353 in", details: details)
        }
        if firewall.read.isEmpty {
            return .init(
                "firewall", .skipped,
                "no rules could be read\(firewall.unread.isEmpty ? "" : ": \(list(firewall.unread))")",
                details: details)
        }
        return .init("firewall", .ok, "nothing in the way in \(list(firewall.read, atMost: 6))", details: details)
    }
}
