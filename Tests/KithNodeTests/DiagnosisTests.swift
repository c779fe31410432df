import KithDiscovery
import KithDocument
import KithNetwork
import KithNode
import KithTestSupport
import Testing

/// What `kith doctor` concludes from what it found.
@Suite struct DiagnosisTests {
    /// A machine where all is well: the node runs, hears others and has a peer.
    private func well() -> DoctorFacts {
        var facts = DoctorFacts()
        facts.wallMilliseconds = 1_800_000_000_000
        facts.descriptorLimit = 1_024
        facts.port = 5_484
        facts.directory.path = "/data"
        facts.directory.nodeName = "alpha"
        facts.directory.nodeID = String(repeating: "a", count: 64)
        facts.directory.groupName = "home"
        facts.directory.tag = "beef"
        var interface = DoctorFacts.NetworkInterface()
        interface.name = "eth0"
        interface.addresses = ["10.0.0.1/24"]
        interface.isRunning = true
        facts.interfaces = [interface]
        facts.avahi = AvahiProbe.Examination(finding: .answering, version: "avahi 0.8", hostName: "a.local", state: 2)
        facts.seesItself = true
        facts.announced = ["beta"]
        facts.multicast = multicast(others: ["10.0.0.2"], sightings: [("beta", "beef")])
        var port = DoctorFacts.OwnPort()
        port.address = "10.0.0.1:5484"
        port.interface = "eth0"
        port.outcome = .answered
        facts.ownPort = [port]
        facts.firewall.read = ["iptables"]
        var node = DoctorFacts.RunningNode()
        node.pid = 7
        node.discoveryState = "advertised"
        var peer = DoctorFacts.RunningNode.Peer()
        peer.id = String(repeating: "b", count: 64)
        peer.name = "beta"
        peer.isConnected = true
        peer.address = "10.0.0.2:5484"
        node.peers = [peer]
        facts.node = node
        facts.hasNearLink = true
        return facts
    }

    private func multicast(
        heardOwn: Bool = true, others: Set<String>, sightings: [(String, String)] = []
    ) -> MulticastProbe.Finding {
        var finding = MulticastProbe.Finding()
        finding.hearings = [
            MulticastProbe.Hearing(interface: "eth0", isSent: true, heardOwn: heardOwn, others: others)
        ]
        finding.sightings = Set(
            sightings.map { MulticastProbe.Sighting(instance: $0.0, tag: $0.1, address: "10.0.0.2") })
        return finding
    }

    /// The same machine cut off: its one peer is known, and not connected.
    private func alone(_ outcome: DoctorFacts.DialOutcome, neighbour: Bool?, others: Set<String> = []) -> DoctorFacts {
        var facts = well()
        facts.node?.peers[0].isConnected = false
        facts.hasNearLink = false
        facts.announced = []
        facts.multicast = multicast(others: others)
        var place = DoctorFacts.Place()
        place.node = "beta"
        place.address = "10.0.0.2:5484"
        place.source = "discovered"
        place.isNear = true
        place.machineAnswers = neighbour
        place.outcome = outcome
        facts.places = [place]
        return facts
    }

    private func expect(
        _ facts: DoctorFacts, _ check: String, _ words: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let report = Diagnosis.report(facts)
        let first = report.checks.first { $0.verdict == .failed }
        #expect(first?.name == check, "\(report.cause)", sourceLocation: sourceLocation)
        for word in words { #expect(report.cause.contains(word), "\(report.cause)", sourceLocation: sourceLocation) }
    }

    @Test func whereAllIsWellItSaysSo() {
        let report = Diagnosis.report(well())
        #expect(!report.isTrouble)
        #expect(report.cause == "nothing is wrong: 1 peer is connected")
        #expect(report.checks.allSatisfy { $0.verdict == .ok })
    }

    @Test func aMissingPieceOfDiscoveryIsNamed() {
        let pieces: [(AvahiProbe.Finding, String, String)] = [
            (.noBus(path: "/run/bus"), "bus", "no system bus at /run/bus"),
            (.busSilent(path: "/run/bus"), "bus", "does not answer"),
            (.noAvahi, "avahi", "avahi-daemon does not run"), (.notOnBus, "avahi", "not on the system bus"),
            (.avahiSilent, "avahi", "does not answer"),
        ]
        for (finding, check, words) in pieces {
            var facts = well()
            facts.avahi = AvahiProbe.Examination(finding: finding)
            facts.seesItself = nil
            expect(facts, check, words)
        }
        var facts = well()
        facts.avahi = AvahiProbe.Examination(finding: .noAvahi)
        facts.usesDiscovery = false
        #expect(!Diagnosis.report(facts).isTrouble, "who wants no discovery lacks nothing")
    }

    @Test func aNetworkThatIsNotThereIsNamedBeforeAllElse() {
        var facts = alone(.unreachable, neighbour: nil)
        facts.interfaces[0].skipped = "no carrier"
        facts.avahi = AvahiProbe.Examination(finding: .noAvahi)
        expect(facts, "network", "no network interface")
    }

    @Test func aFirewallOfThisMachineIsNamedByWhatItDrops() {
        var facts = well()
        facts.multicast = multicast(heardOwn: false, others: [])
        facts.firewall.hints = [FirewallHint(tool: "iptables", concern: .multicast, text: "-A INPUT -j DROP")]
        expect(facts, "multicast", "firewall", "UDP 5353")
        #expect(
            Diagnosis.report(facts).checks.first { $0.name == "multicast" }?.details == ["iptables: -A INPUT -j DROP"])

        facts = well()
        facts.ownPort[0].outcome = .noAnswer
        expect(facts, "listener", "firewall", "5484")

        facts = well()
        facts.multicast?.hearings[0] = MulticastProbe.Hearing(interface: "eth0", sendError: 1)
        expect(facts, "multicast", "going out on eth0")
    }

    @Test func aNodeThatDoesNotRunOrIsNotAnnouncedIsNamed() {
        var facts = well()
        facts.node = nil
        expect(facts, "node", "does not run", "kith start")
        facts.directory.failure = "/data holds no node"
        expect(facts, "directory", "/data holds no node")
        facts = well()
        facts.seesItself = false
        facts.node?.discoveryError = "refused by Avahi"
        expect(facts, "announcement", "refused by Avahi")
    }

    @Test func theWrongGroupIsNamedWithItsTagAndANode() {
        var facts = alone(.noAnswer, neighbour: nil)
        facts.places = []
        facts.node?.peers = []
        facts.multicast = multicast(others: ["10.0.0.2"], sightings: [("gamma", "cafe")])
        expect(facts, "group", "another group", "cafe", "gamma", "home")

        facts = well()
        facts.multicast?.sightings.insert(MulticastProbe.Sighting(instance: "gamma", tag: "cafe", address: "10.0.0.3"))
        #expect(!Diagnosis.report(facts).isTrouble, "other groups beside one's own are no trouble")

        facts = alone(.otherGroup, neighbour: true)
        facts.places[0].node = nil
        expect(facts, "group", "10.0.0.2:5484", "another group")
    }

    @Test func machinesKeptApartAreToldFromAFirewallOnTheOther() {
        expect(alone(.unreachable, neighbour: false), "peers", "keeps its machines apart", "beta")
        expect(alone(.noAnswer, neighbour: true), "peers", "beta", "firewall there")
        var facts = alone(.unreachable, neighbour: false)
        facts.router = ("10.0.0.254", true)
        expect(facts, "peers", "the router 10.0.0.254 answers and no other machine does")
        // Others are heard: it is that one machine.
        expect(alone(.unreachable, neighbour: false, others: ["10.0.0.9"]), "peers", "beta is not reached")
    }

    @Test func whatCameOfADialIsSaid() {
        expect(alone(.refused, neighbour: true, others: ["10.0.0.2"]), "peers", "beta does not run")
        expect(alone(.refusedThere("it was revoked"), neighbour: true, others: ["10.0.0.2"]), "peers", "revoked")
        expect(alone(.wrongNode("cccccccc"), neighbour: true, others: ["10.0.0.2"]), "peers", "cccccccc")
    }

    @Test func multicastThatIsLostBetweenMachinesIsNamed() {
        var facts = well()
        facts.multicast = multicast(others: [])
        facts.announced = []
        expect(facts, "others", "multicast is lost", "IGMP")
    }

    private func check(_ name: String, _ facts: DoctorFacts) -> DoctorReport.Check? {
        Diagnosis.report(facts).checks.first { $0.name == name }
    }

    @Test func aCopyOfTheNodeIsNamedBeforeAllElse() {
        for code in ["IDENTITY_DUPLICATE", "MACHINE_CHANGED"] {
            var facts = alone(.unreachable, neighbour: false)
            facts.avahi = AvahiProbe.Examination(finding: .noAvahi)
            var other = DoctorFacts.RunningNode.Check()
            other.code = "DISCOVERY_DOWN"
            other.summary = "others can't be found"
            var copy = other
            copy.code = code
            copy.summary = "one is a copy"
            copy.action = "kith identity reset"
            facts.node?.checks = [other, copy]
            expect(facts, "health", "one is a copy (\(code)); kith identity reset")
            #expect(Diagnosis.report(facts).checks.first?.name == "health")
            #expect(check("health", facts)?.details.first == "DISCOVERY_DOWN: others can't be found")
        }
    }

    @Test func theHealthOfARunningNodeIsRepeated() {
        var facts = well()
        var finding = DoctorFacts.RunningNode.Check()
        finding.code = "CONFLICTS"
        finding.summary = "2 documents have conflicts"
        facts.node?.checks = [finding]
        #expect(!Diagnosis.report(facts).isTrouble)
        #expect(Diagnosis.report(facts).cause == "2 documents have conflicts (CONFLICTS)")
        finding.code = "STORAGE_FULL"
        finding.isCritical = true
        facts.node?.checks.append(finding)
        expect(facts, "health", "(STORAGE_FULL)")
        facts.node = nil
        #expect(check("health", facts)?.verdict == .skipped)
    }

    @Test func itsOwnAddressGivenAsAPeerIsNamed() {
        var facts = well()
        var place = DoctorFacts.Place()
        place.address = "10.0.0.1:5484"
        place.source = "static"
        place.outcome = .itself
        facts.places = [place]
        #expect(!Diagnosis.report(facts).isTrouble)
        #expect(
            Diagnosis.report(facts).cause.hasPrefix("10.0.0.1:5484, given as a peer's address, is this node itself"))
        #expect(check("peers", facts)?.verdict == .ok, "it is nobody who is missing")
        facts.places[0].outcome = .sameIdentity
        expect(facts, "addresses", "10.0.0.1:5484", "own identity", "kith identity reset")
    }

    @Test func anAnnouncementThatLeadsNowhereOrToAnotherIsNamed() {
        let outcomes: [(DoctorFacts.DialOutcome, Bool?, String?)] = [
            (.unreachable, false, "beta is stale"), (.noAnswer, nil, "beta is stale"),
            (.refused, true, "beta is stale"),
            (.wrongNode("cccc"), true, "beta leads to another"), (.otherGroup, true, "beta leads to another"),
            (.itself, true, "beta leads to another: at 10.0.0.2:5484 this node itself"),
            (.failed("TLS failed"), true, "beta leads to another"),
            // A firewall, and a node that refuses this one: it is there.
            (.noAnswer, true, nil), (.refusedThere("it was revoked"), true, nil), (.answered, true, nil),
        ]
        for (outcome, machine, words) in outcomes {
            var facts = well()
            facts.places = alone(outcome, neighbour: machine).places
            let records = check("records", facts)
            #expect(records?.verdict == (words == nil ? .ok : .warning), "\(outcome)")
            #expect(records?.summary.contains(words ?? "") ?? false, "\(records?.summary ?? "")")
            #expect(check("addresses", facts)?.verdict == .ok, "\(outcome): nobody gave it")
            // At another address it answers: one that is old among several is no matter.
            var second = facts.places[0]
            second.address = "10.0.0.3:5484"
            second.outcome = .answered
            facts.places.insert(second, at: 0)
            #expect(check("records", facts)?.verdict == .ok)
        }
    }

    @Test func anotherNodeOnThisMachineIsRecognisedAndNoAlarm() {
        var facts = well()
        facts.multicast = multicast(others: [])
        facts.hasNearLink = false
        facts.node?.peers[0].address = "10.0.0.1:5485"
        facts.node?.peers[0].isHere = true
        let report = Diagnosis.report(facts)
        #expect(report.checks.allSatisfy { $0.verdict == .ok }, "\(report.cause)")
        #expect(check("peers", facts)?.details.first?.contains("on this machine") == true)
        // This one does not run, and the other has its port.
        facts.node = nil
        facts.ownPort = []
        facts.ownPortFailure = "port 5484 is taken by another program"
        #expect(check("listener", facts)?.verdict == .warning)
        facts.portHolder = .answered
        #expect(check("listener", facts)?.verdict == .ok)
        #expect(check("listener", facts)?.summary.contains("another node of the group on this machine") == true)
    }

    @Test func aClockADiskAndDescriptorsAreLookedAt() {
        var facts = well()
        facts.node?.peers[0].clockOffsetMilliseconds = -3_600_000
        #expect(Diagnosis.report(facts).cause.contains("3600 s behind"))
        facts = well()
        facts.directory.networkFileSystem = "NFS"
        expect(facts, "storage", "NFS")
        facts = well()
        facts.node?.openDescriptors = 1_000
        #expect(Diagnosis.report(facts).cause.contains("1000 of 1024"))
    }

    @Test func theReportIsOneObjectOfJSON() throws {
        let json = try JSONValue(parsing: Diagnosis.report(well()).json)
        #expect(json["schema"] == "kith.doctor/1")
        #expect(json["trouble"] == false)
        #expect(json["checks"]?.array?.compactMap { $0["check"]?.string }.first == "network")
    }
}

/// Reading what the tools and the kernel print.
@Suite struct FirewallReadingTests {
    @Test func rulesThatDropWhatIsKithsAreFoundAlsoInChainsThatInputGoesTo() {
        let text = """
            -P INPUT DROP
            -P FORWARD DROP
            -N ufw-before-input
            -A INPUT -i lo -j ACCEPT
            -A INPUT -j ufw-before-input
            -A INPUT -m conntrack --ctstate INVALID -j DROP
            -A INPUT -p tcp -m tcp --dport 22 -j DROP
            -A INPUT -p udp -m udp --dport 5353 -j DROP
            -A ufw-before-input -p tcp -m multiport --dports 80,5000:5500 -j REJECT --reject-with tcp-reset
            -A other -p udp --dport 5353 -j DROP
            """
        let hints = FirewallReading.iptables(text, tool: "iptables", port: 5_484)
        #expect(hints.map(\.concern) == [.everything, .multicast, .port])
        #expect(hints.first?.text == "-P INPUT DROP")
        #expect(FirewallReading.iptables("-P INPUT ACCEPT\n", tool: "iptables", port: 5_484).isEmpty)
    }

    @Test func nftablesIsReadByItsInputChains() {
        let text = """
            table inet filter {
            \tchain input {
            \t\ttype filter hook input priority filter; policy drop;
            \t\tct state invalid drop
            \t\tudp dport 5353 drop
            \t}
            \tchain forward {
            \t\ttype filter hook forward priority filter; policy drop;
            \t\tdrop
            \t}
            }
            """
        let hints = FirewallReading.nftables(text, port: 5_484)
        #expect(hints.map(\.concern) == [.everything, .multicast])
        #expect(hints.first?.text == "table inet filter: policy drop on input")
    }

    @Test func theKernelsListsAreRead() {
        let arp = NeighbourReading.arp(
            """
            IP address       HW type     Flags       HW address            Mask     Device
            10.0.0.2         0x1         0x2         02:00:00:00:00:02     *        eth0
            10.0.0.3         0x1         0x0         00:00:00:00:00:00     *        eth0
            """)
        #expect(arp == ["10.0.0.2": true, "10.0.0.3": false])
        let router = NeighbourReading.router(
            "Iface\tDestination\tGateway\tFlags\nlo\t0000007F\t00000000\t0001\neth0\t00000000\tFE00000A\t0003\n")
        #expect(router?.host == "10.0.0.254")
        #expect(NeighbourReading.router("") == nil)
    }

    @Test func whateverIsPrintedIsReadWithoutATrap() {
        let seed: UInt64 = 20261130
        var random = SeededGenerator(seed: seed)
        let words = [
            "-A", "INPUT", "-j", "DROP", "--dport", "5353", "chain", "table", "hook", "input", "policy", "\n", "0x",
            "\t", ":",
        ]
        for _ in 0..<5_000 {
            let text = (0..<random.below(20)).map { _ in words[random.below(words.count)] }.joined(separator: " ")
            _ = FirewallReading.iptables(text, tool: "iptables", port: 1)
            _ = FirewallReading.nftables(text, port: 1)
            _ = NeighbourReading.arp(text)
            _ = NeighbourReading.router(text)
        }
    }
}
