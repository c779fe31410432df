/// What is said of the node itself, of copies of it, of other nodes on its machine, and of announcements that lead nowhere.
extension Diagnosis {
    /// Checks of the node's own health that keep it from replicating whatever the network does.
    private static let identityCodes = ["MACHINE_CHANGED", "IDENTITY_DUPLICATE"]

    /// Whether the node says that it, or another, runs twice, or may: that is the cause, before anything of the network.
    static func isIdentityWrong(_ facts: DoctorFacts) -> Bool {
        facts.node?.checks.contains { identityCodes.contains($0.code) } ?? false
    }

    /// What the running node says of its own health.
    static func health(_ facts: DoctorFacts) -> DoctorReport.Check {
        guard let node = facts.node else { return .init("health", .skipped, "no node runs that could tell of it") }
        let identity = identityCodes.lazy.compactMap { code in node.checks.first { $0.code == code } }.first
        guard let first = identity ?? node.checks.first(where: \.isCritical) ?? node.checks.first else {
            return .init("health", .ok, "the node finds nothing wrong with itself")
        }
        let details = node.checks.map { check in
            "\(check.code): \(check.summary)\(check.action.map { "; \($0)" } ?? "")"
        }
        return .init(
            "health", identity != nil || first.isCritical ? .failed : .warning, "\(first.summary) (\(first.code))",
            action: first.action, details: details)
    }

    /// Addresses that were given for a peer and lead to this node, or to one with its identity.
    static func addresses(_ facts: DoctorFacts) -> DoctorReport.Check {
        let name = "addresses"
        let given = facts.places.filter { $0.source != "discovered" }
        let copies = facts.places.filter { $0.outcome == .sameIdentity }
        let own = given.filter { $0.outcome == .itself }
        if let first = copies.first {
            return .init(
                name, .failed,
                "at \(first.address) a node with this node's own identity answers: one is a copy of the other, or the address leads back here",
                action:
                    "if it is a copy: on it kith stop, then kith identity reset, then kith join; else take the address out",
                details: (copies + own).map(line))
        }
        guard let first = own.first else { return .init(name, .ok, "no address of a peer is this node's own") }
        return .init(
            name, .warning, "\(first.address), given as a peer's address, is this node itself",
            action: "give the address of another node (--peer, or peer = in the configuration), or take it out",
            details: own.map(line))
    }

    /// An address that was tried, for a list.
    static func line(_ place: DoctorFacts.Place) -> String {
        "\(place.node.map { "\($0) " } ?? "")\(place.address) (\(place.source)\(place.isHere ? ", this machine" : "")): \(words(place.outcome))"
    }

    /// Announcements that do not lead to the node they name.
    static func records(_ facts: DoctorFacts) -> DoctorReport.Check {
        let name = "records"
        guard facts.usesDiscovery else { return .init(name, .skipped, "discovery is not wanted (--no-discovery)") }
        let tried = facts.places.filter { $0.source == "discovered" }
        let wrong = Set(tried.compactMap(\.node)).sorted().compactMap { node in
            wrongRecord(node, tried.filter { $0.node == node })
        }
        guard let first = wrong.first else {
            return .init(
                name, .ok,
                tried.isEmpty
                    ? "no announcement of a node that is not connected" : "announcements lead to the nodes they name")
        }
        return .init(name, .warning, first.text, action: first.action, details: wrong.flatMap { $0.places.map(line) })
    }

    private struct WrongRecord {
        let text: String
        let action: String
        let places: [DoctorFacts.Place]
    }

    /// - Returns: what is wrong with the announcement of a node that answers at none of its addresses; nil where it answers,
    ///   or where its machine is there and a firewall or the node is the matter.
    private static func wrongRecord(_ node: String, _ places: [DoctorFacts.Place]) -> WrongRecord? {
        for place in places {
            switch place.outcome {
            case .answered, .refusedThere: return nil
            case .wrongNode, .itself, .sameIdentity, .otherGroup, .failed:
                return WrongRecord(
                    text: "the announcement of \(node) leads to another: at \(place.address) \(words(place.outcome))",
                    action:
                        "nothing has to be done: who answers is told by certificates; if \(node) is missing, see that it runs",
                    places: places)
            case .refused, .noAnswer, .unreachable: continue
            }
        }
        guard let first = places.first,
            !places.contains(where: { $0.outcome == .noAnswer && $0.machineAnswers == true })
        else { return nil }
        return WrongRecord(
            text: "the announcement of \(node) is stale: no node answers at \(first.address) (\(words(first.outcome)))",
            action:
                "it goes by itself, within 75 minutes where a machine went without a word; if \(node) is to be there, start it",
            places: places)
    }

    /// Whether other nodes are known, and all of them are on this machine.
    static func isAllHere(_ facts: DoctorFacts) -> Bool {
        let connected = facts.node?.connected ?? []
        let others = facts.places.filter { $0.outcome != .itself }
        return connected.allSatisfy(\.isHere) && others.allSatisfy(\.isHere)
            && (!connected.isEmpty || others.contains { $0.outcome == .answered })
    }
}
