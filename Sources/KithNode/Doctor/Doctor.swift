import Dispatch
import Glibc
import KithDiscovery
import KithDocument
import KithNetwork
import KithStore
import KithSystem
import KithTransport
import Synchronization

/// Finds out why a node sees no others: looks at everything between it and them, with a running node and without. Changes
/// nothing, and ends within 15 s.
package struct Doctor {
    let directory: NodeDirectory
    let status: JSONValue?
    private let nodeFailure: String?
    private let patterns: InterfacePatterns
    let statics: [Endpoint]

    /// - Parameters:
    ///   - status: what the running node says of itself (`kith.status/1`); nil where none answers, for the reason that
    ///     follows.
    ///   - interfaces: patterns of the interfaces that count; none for all.
    ///   - peers: addresses to try besides, `HOST:PORT`.
    ///   - configured: the same from a configuration; what is no address there is left out.
    /// - Throws: `NodeError` `usage` for a pattern or an address that is none.
    package init(
        directory: NodeDirectory, status: JSONValue?, nodeFailure: String?, interfaces: [String], peers: [String],
        configured: [String] = []
    ) throws(NodeError) {
        self.directory = directory
        self.status = status
        self.nodeFailure = nodeFailure
        do throws(AddressError) {
            patterns = try InterfacePatterns(interfaces)
            var statics: [Endpoint] = []
            for peer in peers { statics.append(try Endpoint(peer: peer, defaultPort: NodeConfiguration.defaultPort)) }
            for peer in configured {
                guard let endpoint = try? Endpoint(peer: peer, defaultPort: NodeConfiguration.defaultPort),
                    !statics.contains(endpoint), !Self.isOfConnected(peer: endpoint, status)
                else { continue }
                statics.append(endpoint)
            }
            self.statics = statics
        } catch { throw NodeError(code: "usage", message: error.message) }
    }

    /// Looks at everything. Blocks for about five seconds, at most 15.
    package func run() -> DoctorFacts {
        let start = SystemClock().monotonicMilliseconds
        let neighbours = NeighbourReading.arpNow
        var facts = DoctorFacts()
        facts.wallMilliseconds = SystemClock().wallMilliseconds
        facts.descriptorLimit = Self.descriptorLimit
        facts.node = status.map { DoctorFacts.RunningNode($0) }
        facts.nodeFailure = nodeFailure
        facts.usesDiscovery = status?["discovery"]?["state"]?.string != "off"
        if let pid = facts.node?.pid { facts.node?.openDescriptors = Self.openDescriptors(of: pid) }
        let identity = readDirectory(&facts)
        let local = Interface.all().filter { !$0.isLoopback }
        facts.interfaces = describe(local)
        let used = local.filter { skipped($0) == nil }
        facts.port = port
        facts.avahi = facts.usesDiscovery ? AvahiProbe().examine() : nil

        let heard = listen(facts, identity, used)
        facts.multicast = heard.multicast
        facts.ownPort = heard.ownPort?.ports ?? []
        facts.ownPortFailure = heard.ownPort?.failure
        facts.firewall = heard.firewall ?? .init()
        facts.unfinished = heard.unfinished
        facts.discoveryError = heard.discoveryError
        if let services = heard.services { take(services, identity, &facts) }
        facts.hasNearLink = facts.node?.connected.contains { isNear($0.address, used) } ?? false

        let own = OwnAddresses(port: facts.port, listens: listens, names: heard.names)
        facts.node?.notePlaces(own)
        if let identity {
            let left = DoctorLimits.totalMilliseconds - Int(SystemClock().monotonicMilliseconds - start)
            facts.places = dial(
                places(heard.services ?? [], identity), identity, used, own, milliseconds: max(1_000, left))
            noteMachines(&facts, neighbours)
            facts.portHolder = portHolder(facts, identity)
        }
        if let router = heard.router {
            facts.router = (router.host, NeighbourReading.arpNow[router.host] ?? false)
        }
        return facts
    }

    // MARK: This machine

    private func readDirectory(_ facts: inout DoctorFacts) -> Identity? {
        facts.directory.path = directory.path
        facts.directory.networkFileSystem = LocalFileSystem().networkName(of: directory.path)
        do throws(TransportError) {
            let identity = try IdentityStore(directory: directory.path).load()
            facts.directory.nodeName = identity.nodeName
            facts.directory.nodeID = identity.nodeID.description
            facts.directory.groupName = identity.groupName
            facts.directory.tag = identity.trust.tag
            return identity
        } catch {
            facts.directory.failure = error.message
            return nil
        }
    }

    /// Why an interface does not count; nil when it does.
    private func skipped(_ interface: Interface) -> String? {
        if !interface.isRunning { return "no carrier" }
        if let names = status?["discovery"]?["interfaces"]?.array, !names.contains(.string(interface.name)) {
            return "left out by the node's configuration"
        }
        if !patterns.allows(interface.name) { return "left out by --interface" }
        if interface.isPointToPoint { return "a tunnel, which Avahi leaves out" }
        return nil
    }

    private func describe(_ interfaces: [Interface]) -> [DoctorFacts.NetworkInterface] {
        var found: [DoctorFacts.NetworkInterface] = []
        for interface in interfaces {
            let address = NetworkAddress(ip: interface.ip, interface: interface.index, port: 1)?.host ?? "?"
            let text = "\(address)/\(interface.prefixLength)"
            if let index = found.firstIndex(where: { $0.name == interface.name }) {
                found[index].addresses.append(text)
            } else {
                var entry = DoctorFacts.NetworkInterface()
                entry.name = interface.name
                entry.addresses = [text]
                entry.isRunning = interface.isRunning
                entry.skipped = skipped(interface)
                found.append(entry)
            }
        }
        return found
    }

    /// Where the node listens, or would.
    private var port: UInt16 { listens.first?.port ?? NodeConfiguration.defaultPort }

    /// What it listens on, or did last.
    private var listens: [Endpoint] {
        let texts = status?["node"]?["listen"]?.array?.compactMap(\.string)
        let kept = try? SpareFile.listen.look(in: directory.path).lines.prefix(1)
        return (texts ?? kept.map(Array.init) ?? []).compactMap { try? Endpoint($0) }
    }

    private static var descriptorLimit: UInt64 {
        var limit = rlimit()
        return getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? UInt64(limit.rlim_cur) : 0
    }

    private static func openDescriptors(of process: Int32) -> Int? {
        guard let folder = opendir("/proc/\(process)/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return max(0, count - 2)
    }

    // MARK: Listening

    /// What was heard while all listened together.
    private struct Heard: Sendable {
        var multicast: MulticastProbe.Finding?
        var ownPort: OwnPortProbe.Finding?
        var firewall: DoctorFacts.Firewall?
        var services: [DiscoveredService]?
        var discoveryError: String?
        var router: NetworkAddress?
        /// The addresses of names that were given.
        var names: [Endpoint: [NetworkAddress]] = [:]
        var unfinished: [String] = []
    }

    private func listen(_ facts: DoctorFacts, _ identity: Identity?, _ used: [Interface]) -> Heard {
        let heard = Shared(Heard())
        let runner = ProbeRunner()
        let tag = identity?.trust.tag
        let (port, isListening) = (facts.port, status != nil)
        runner.begin("this node's port") {
            let finding = OwnPortProbe.run(port: port, isListening: isListening, interfaces: used)
            heard.value.withLock { $0.ownPort = finding }
        }
        let names = statics.filter { if case .name = $0 { true } else { false } }
        if !names.isEmpty {
            runner.begin("the names of peers") {
                for name in names {
                    let addresses = (try? Socket.resolve(name)) ?? []
                    heard.value.withLock { $0.names[name] = addresses }
                }
            }
        }
        let hasFirewallDaemon = facts.avahi?.hasFirewallDaemon ?? false
        runner.begin("the firewall") {
            let router = NeighbourReading.askRouter()
            let firewall = FirewallReading.read(
                port: port, isRoot: geteuid() == 0, hasFirewallDaemon: hasFirewallDaemon)
            heard.value.withLock {
                $0.firewall = firewall
                $0.router = router
            }
        }
        if facts.usesDiscovery {
            runner.begin("multicast") {
                let finding = MulticastProbe(interfaces: used, tag: tag).run(
                    milliseconds: DoctorLimits.listenMilliseconds)
                heard.value.withLock { $0.multicast = finding }
            }
        }
        if facts.avahi?.finding == .answering, let tag {
            let patterns = patterns
            runner.begin("announcements") {
                let (services, error) = Self.browse(tag: tag, patterns)
                heard.value.withLock {
                    $0.services = services
                    $0.discoveryError = error
                }
            }
        }
        let unfinished = runner.wait(milliseconds: DoctorLimits.listenMilliseconds * 2)
        return heard.value.withLock { heard in
            heard.unfinished = unfinished
            return heard
        }
    }

    /// The announcements of the group, this node's own with them. Blocks for the time of listening.
    private static func browse(tag: String, _ patterns: InterfacePatterns) -> ([DiscoveredService], String?) {
        let discovery = AvahiDiscovery(interfaces: patterns)
        let services = Shared([DiscoveredService]())
        do throws(DiscoveryError) {
            try discovery.start(
                tag: tag, advertising: nil, onServicesChanged: { new in services.value.withLock { $0 = new } },
                onStateChanged: { _ in })
        } catch { return ([], error.message) }
        usleep(useconds_t(DoctorLimits.listenMilliseconds * 1_000))
        let state = discovery.state
        let stopped = DispatchSemaphore(value: 0)
        discovery.stop { stopped.signal() }
        _ = stopped.wait(timeout: .now() + .seconds(1))
        return (services.value.withLock { $0 }, state.phase == .unavailable ? state.lastError : nil)
    }

    private func take(_ services: [DiscoveredService], _ identity: Identity?, _ facts: inout DoctorFacts) {
        let present = services.filter(\.isPresent)
        facts.seesItself = present.contains { $0.nodeID == identity?.nodeID }
        facts.announced = present.filter { $0.nodeID != identity?.nodeID }.map(\.name.description).sorted()
    }

    // MARK: Other nodes

    private func places(_ services: [DiscoveredService], _ identity: Identity) -> [DoctorPlace] {
        var places = status.map { DoctorPlace.places($0) } ?? remembered()
        let connected = Set(
            (status?["peers"]?.array ?? []).filter(\.isLinked).compactMap { $0["id"]?.string })
        for service in services where service.isPresent {
            guard let node = service.nodeID, node != identity.nodeID, !connected.contains(node.description) else {
                continue
            }
            for found in service.addresses {
                places.append(
                    DoctorPlace(
                        node: node, name: service.name.description, endpoint: .numeric(found.address),
                        source: "discovered"))
            }
        }
        places += statics.map { DoctorPlace(node: nil, name: nil, endpoint: $0, source: "static") }
        var seen: Set<String> = []
        return Array(
            places.filter { seen.insert("\($0.node?.description ?? "") \($0.endpoint)").inserted }.prefix(
                DoctorLimits.places))
    }

    /// Addresses that worked before, where no node runs that would tell of them.
    private func remembered() -> [DoctorPlace] {
        guard let lines = try? SpareFile.peers.look(in: directory.path).lines else { return [] }
        var book = CandidateBook()
        book.readRemembered(lines.joined(separator: "\n"))
        return book.nodes.flatMap { node in
            book.candidates(for: node, now: 0).map {
                DoctorPlace(node: node, name: nil, endpoint: $0.address, source: $0.source.rawValue)
            }
        }
    }

    private func dial(
        _ places: [DoctorPlace], _ identity: Identity, _ used: [Interface], _ own: OwnAddresses, milliseconds: Int
    ) -> [DoctorFacts.Place] {
        guard !places.isEmpty, let context = try? Self.context(identity, directory.path) else { return [] }
        // A node that is dialled with its own identity takes that for a copy of itself.
        let dialled = places.filter { !own.isNode($0.endpoint) }
        var outcomes = DialProbe.run(
            dialled.map { DialProbe.Target(node: $0.node, endpoint: $0.endpoint) }, as: identity.nodeID,
            context: context, milliseconds: milliseconds
        ).makeIterator()
        return places.map { place in
            let outcome: DoctorFacts.DialOutcome =
                own.isNode(place.endpoint) ? .itself : outcomes.next() ?? .noAnswer
            var found = DoctorFacts.Place()
            found.node = place.name ?? place.node?.short
            found.address = place.endpoint.description
            found.source = place.source
            found.isNear = isNear(found.address, used)
            found.isHere = own.isHere(place.endpoint)
            found.outcome = outcome
            return found
        }
    }

    /// Notes whether the machine at an address is there, whatever its ports do. What the kernel knew of it before tells
    /// nothing: it believes that for a while.
    private func noteMachines(_ facts: inout DoctorFacts, _ before: [String: Bool]) {
        let asked = facts.places.filter { $0.isNear && $0.outcome == .noAnswer }.compactMap {
            place -> NetworkAddress? in
            if let endpoint = try? Endpoint(place.address), case .numeric(let address) = endpoint {
                address
            } else {
                nil
            }
        }
        let echoes = asked.isEmpty ? [] : EchoProbe.run(asked, milliseconds: DoctorLimits.echoMilliseconds)
        let now = NeighbourReading.arpNow
        let heard = facts.multicast?.hearings.reduce(into: Set<String>()) { $0.formUnion($1.others) } ?? []
        for index in facts.places.indices {
            guard let endpoint = try? Endpoint(facts.places[index].address) else { continue }
            let host = endpoint.host
            if echoes.contains(host) || heard.contains(host) || (now[host] == true && before[host] != true) {
                facts.places[index].machineAnswers = true
            } else if now[host] == false {
                facts.places[index].machineAnswers = false
            }
        }
    }

    /// Whether an address is another machine's in a subnet that this one is in.
    private func isNear(_ address: String?, _ used: [Interface]) -> Bool {
        guard let address, let endpoint = try? Endpoint(address), case .numeric(let numeric) = endpoint else {
            return false
        }
        return !used.contains { $0.ip == numeric.ip }
            && (numeric.scope != 0 || used.contains { $0.sharesSubnet(with: numeric.ip) })
    }

    static func context(_ identity: Identity, _ directory: String) throws(NodeError) -> TLSContext {
        let membership = try IdentityStore(directory: directory).membership(of: identity)
        return try Node.transport { () throws(TransportError) in
            try TLSContext(.member(identity, membership: membership) { false })
        }
    }
}

/// A value that several threads work on.
final class Shared<Value: Sendable>: Sendable {
    let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }
}

/// Probes that run side by side, each on a thread of its own, and may be left behind when the time is up.
private final class ProbeRunner {
    private let group = DispatchGroup()
    private let running = Shared([String]())

    func begin(_ name: String, _ probe: @escaping @Sendable () -> Void) {
        running.value.withLock { $0.append(name) }
        group.enter()
        let (group, running) = (group, running)
        DispatchQueue(label: "kith.doctor").async {
            probe()
            running.value.withLock { $0.removeAll { $0 == name } }
            group.leave()
        }
    }

    /// - Returns: the names of those that have not ended.
    func wait(milliseconds: UInt64) -> [String] {
        _ = group.wait(timeout: .now() + .milliseconds(Int(milliseconds)))
        return running.value.withLock { $0 }
    }
}
