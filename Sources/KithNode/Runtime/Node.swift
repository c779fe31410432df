import Dispatch
import KithCrypto
import KithDiscovery
import KithDocument
import KithNetwork
import KithReplication
import KithStore
import KithTransport
import Synchronization

/// A running node: its databases, the links to its peers, discovery, and the control socket.
///
/// The mesh is decided on the node's queue: who is known, whom to dial, which link stays, what is passed on. Links run on
/// their connections' queues and databases on theirs; what they report comes here as values.
package final class Node: @unchecked Sendable {
    // Sendable: what varies is touched on `queue` only.

    let queue = DispatchQueue(label: "kith.node")
    let configuration: NodeConfiguration
    let log: Log
    let lock: DirectoryLock
    let identities: IdentityStore
    let identity: Identity
    let membership: Membership
    let desk: JoinDesk
    let catalog: DatabaseCatalog
    let damage: DamageBook
    let startedAt = SystemClock.wallMilliseconds
    var tls: TLSContext?
    var listener: Listener?
    var discovery: AvahiDiscovery?
    var networkWatch: NetworkWatch?
    /// Which interfaces count; read from the configuration by `start`.
    var interfaces = InterfacePatterns.all
    /// What this node tells of where it can be reached.
    var advertised: [String] = []
    /// Addresses that proved to be this node's own and were told of in the log.
    var ownAddressesTold: Set<String> = []
    /// Since when neighbours say that they are announced, and are not heard.
    var unheardSince: [NodeID: Instant] = [:]
    /// When attempts under way were last given up for another network.
    var networkGainedAt: Instant?
    var control: ControlServer?

    // The mesh.
    var selection: MeshSelection
    var arbiter: LinkArbiter
    var schedule: DialSchedule<DialTarget>
    var book = CandidateBook()
    var random = SystemRandomNumberGenerator()
    var attempts: [DialTarget: DialAttempt] = [:]
    var drivers: [UInt64: LinkDriver] = [:]
    var peers: [NodeID: PeerState] = [:]
    var firstFeeds = FirstFeeds()
    var pauses = PauseList()
    var refusals = RefusalBook()
    var presence: PresenceBook
    let linkNumbers = Atomic<UInt64>(0)
    /// Names this process among all that run with this identity, one after the other or, by mistake, at once.
    let instance = SecureRandom.number()
    var twins: TwinBook
    /// The directory was used on another machine before: nothing is replicated until somebody has said why.
    var isHeld: Bool { held.load(ordering: .relaxed) }
    private let held = Atomic(false)
    var freshenings: [UInt64: Freshening] = [:]
    var paths = PathBook<DialTarget>(sizes: TransportLimits.smallSegments)
    var wakeWatch = WakeWatch(longestPauseMilliseconds: NodeLimits.evaluationMilliseconds)
    /// When a peer last reached this node by itself, in milliseconds since 1970; nil for not since the start.
    var inboundAt: Int64?
    /// `Listener.Counters.outOfResources` as last seen, and when it grew.
    var descriptorsShort: (count: UInt64, at: Int64) = (0, .min)

    /// Called when the node is asked to stop over the control socket.
    package var stopRequested: (@Sendable () -> Void)?

    // The life of the node.
    var timer: (any DispatchSourceTimer)?
    var isStopping = false
    var stopped: [@Sendable () -> Void] = []
    var watchers: [UInt64: @Sendable () -> Void] = [:]
    /// Those who wait for a condition, by their watcher.
    var waiters: [UInt64: Waiter] = [:]
    var lastWatcher: UInt64 = 0
    var isNewsQueued = false
    var healthLedger = HealthLedger()
    var mutes = MuteList()
    /// The mutes as they stand on disk.
    var keptMutes = MuteList()
    var counters = NodeCounters()
    /// By database when it was last found to have been put back.
    var rollbacks: [String: RollbackRecord] = [:]
    var rememberedText = ""
    var peerNames = PeerNames()
    /// `Membership.changeCount` as it stands on disk.
    var keptMembership: UInt64 = 0
    var maintainedAt: Instant?
    var healthAt: Instant?
    var storageTendedAt: Instant?
    var isRetryingUnusable = false
    /// Since when nodes are announced to which there is no link.
    var announcedSince: [NodeID: Instant] = [:]
    /// The addresses that this node was given, and those at which somebody announces this node's own id.
    var staticPeers: [Endpoint] = []
    var announcedAsSelf: [Endpoint] = []

    // Its configuration, and the service manager.
    var usesDiscovery: Bool
    var configured = ConfigurationState()
    let reloads = DispatchQueue(label: "kith.reload")
    /// Told of reloads and of stopping. Set before `start`.
    package var supervisor: Supervisor?
    /// The database that was read last as a proof of life.
    var proofs = 0

    /// Takes the directory's lock, reads the identity and opens the databases. Nothing is sent or received before `start`.
    /// - Throws: `NodeError` with what is wrong and what to do.
    package init(_ configuration: NodeConfiguration) throws(NodeError) {
        self.configuration = configuration
        log = configuration.log
        usesDiscovery = configuration.usesDiscovery
        let directory = configuration.directory.path
        let identities = IdentityStore(directory: directory)
        // Looked at first: a directory that holds no node is not made one by starting.
        let identity = try Self.transport { () throws(TransportError) in try identities.load() }
        self.identities = identities
        self.identity = identity
        lock = try DirectoryLock(directory: directory)
        membership = try Self.readMembership(identities, identity.trust)
        damage = try DamageBook(nodeDirectory: directory)
        catalog = try DatabaseCatalog(nodeDirectory: directory) {
            StoreEnvironment(now: { SystemClock.wallMilliseconds }, random: { SecureRandom.number() })
        }
        desk = try Self.makeDesk(identities, identity, membership)
        selection = MeshSelection(
            node: identity.nodeID, isReader: membership.standing(of: identity.peer)?.role ?? identity.role == .reader)
        arbiter = LinkArbiter(node: identity.nodeID)
        schedule = DialSchedule { SecureRandom.number() }
        presence = PresenceBook(node: identity.nodeID)
        twins = TwinBook(node: identity.nodeID, instance: instance, earlier: [], now: SystemClock.now)
    }

    private static func readMembership(
        _ identities: IdentityStore, _ trust: GroupTrust
    ) throws(NodeError) -> Membership {
        try transport { () throws(TransportError) in
            guard let bytes = try identities.read(IdentityStore.membershipName, atMost: TransportLimits.membershipBytes)
            else {
                return Membership(trust: trust)
            }
            do throws(TransportError) { return try Membership(trust: trust, encoded: bytes) } catch {
                throw .identity(
                    "\(identities.directory)/\(IdentityStore.membershipName) can't be read: \(error.message); move it away, and "
                        + "what it held, revocations too, comes back with the first peer")
            }
        }
    }

    private static func makeDesk(
        _ identities: IdentityStore, _ identity: Identity, _ membership: Membership
    ) throws(NodeError) -> JoinDesk {
        try transport { () throws(TransportError) in
            let bytes = try identities.read(IdentityStore.invitesName, atMost: NodeLimits.invitesFileBytes)
            let book = try bytes.map { bytes throws(TransportError) in try InviteBook(encoded: bytes) } ?? InviteBook()
            let clock = SteadyClock()
            return JoinDesk(
                identity: identity, membership: membership, book: book, now: clock.read
            ) { bytes throws(TransportError) in try identities.write(bytes, to: IdentityStore.invitesName) }
        }
    }

    /// The node's id.
    package var id: NodeID { identity.nodeID }

    /// The addresses that are listened on, once started.
    package var listening: [String] { listener.map { [$0.address.description] } ?? [] }

    /// Listens, announces itself, looks for peers and serves the control socket.
    /// - Throws: `NodeError`: an address that is taken, a peer's address that is none.
    package func start() throws(NodeError) {
        let directory = configuration.directory.path
        try checkMachine()
        try beginInstance()
        pauses = PauseList(lines: try SmallFile.lines(of: directory + "/paused"))
        try readMutes()
        staticPeers = try Self.endpoints(configuration.peers)
        book.setStatic(staticPeers)
        advertised = try Self.endpoints(configuration.advertise).map(\.description)
        guard advertised.count <= NodeLimits.presenceAddresses else {
            throw NodeError(
                code: "usage", message: "a node can advertise \(NodeLimits.presenceAddresses) addresses at most")
        }
        do throws(AddressError) { interfaces = try InterfacePatterns(configuration.interfaces) } catch {
            throw NodeError(code: "usage", message: error.message)
        }
        let remembered = try SmallFile.lines(of: directory + "/peers")
        rememberedText = remembered.map { $0 + "\n" }.joined()
        book.readRemembered(rememberedText)
        for node in book.nodes where node != id { peers[node] = PeerState(node, now: startedAt) }
        readPeerNames(remembered)
        try listen()
        do throws(ControlError) {
            control = try ControlServer(NodeService(self), directory: configuration.directory)
        } catch {
            throw NodeError(code: error.code.rawValue, message: error.message)
        }
        queue.async {
            self.applyPolicies(self.catalog.databases.map(\.name.string))
            for database in self.catalog.databases { self.watch(database) }
            self.reportUnusable()
            self.startDiscovery()
            self.networkWatch = NetworkWatch(on: self.queue) { [weak self] in self?.networkGained() }
            self.evaluate()
        }
        log(
            .info, .node, "started",
            [
                "node": identity.nodeName, "id": id.short, "group": identity.groupName, "version": KithVersion.text,
                "listen": listening.joined(separator: " "), "data": directory,
            ])
    }

    static func endpoints(_ texts: [String]) throws(NodeError) -> [Endpoint] {
        var endpoints: [Endpoint] = []
        for text in texts {
            do throws(AddressError) {
                endpoints.append(try Endpoint(peer: text, defaultPort: NodeConfiguration.defaultPort))
            } catch {
                throw NodeError(code: "usage", message: error.message)
            }
        }
        return endpoints
    }

    private func listen() throws(NodeError) {
        let context = try Self.transport { () throws(TransportError) in
            try TLSContext(.member(identity, membership: membership) { [desk] in desk.answersJoins })
        }
        tls = context
        // Where a node listens is kept for the next start.
        let kept = configuration.directory.path + "/listen"
        let last = try SmallFile.lines(of: kept).first
        let asked = configuration.listen ?? last ?? "[::]:\(NodeConfiguration.defaultPort)"
        let endpoint: Endpoint
        do throws(AddressError) {
            endpoint = try Endpoint(asked, defaultPort: NodeConfiguration.defaultPort)
        } catch { throw Self.cannotListen(error.message) }
        do throws(TransportError) {
            let listener = try Listener(
                endpoint, orNextPort: configuration.listen == nil, context: context
            ) { [weak self, log] address, error in
                log(
                    .debug, .link, "closed a link that was not authenticated",
                    ["address": address.description, "reason": error.message])
                guard let self else { return }
                self.queue.async { self.noteStranger(address, error) }
            } opened: { [weak self] connection, peer in
                self?.accepted(connection, peer)
            }
            self.listener = listener
        } catch { throw Self.cannotListen(error.message) }
        guard let listener else { return }
        // Not written without need: a node starts on a full disk too.
        let now = Endpoint(host: endpoint.host, port: listener.port).description
        if now != last { try SmallFile.write([now], to: kept) }
    }

    private static func cannotListen(_ reason: String) -> NodeError {
        NodeError(code: "address", message: "can't listen: \(reason); choose another with --listen HOST:PORT")
    }

    /// Says goodbye to the peers, finishes what is under way, and closes. The completion runs once all is on disk.
    package func stop(completion: @escaping @Sendable () -> Void) {
        supervisor?.stopping()
        queue.async {
            self.stopped.append(completion)
            guard !self.isStopping else { return }
            self.isStopping = true
            self.log(.info, .node, "stopping")
            self.listener?.stop()
            self.timer?.cancel()
            for attempt in self.attempts.values { attempt.cancel() }
            self.endWaits()
            for number in self.arbiter.waiting { self.discard(number) }
            for number in self.drivers.keys.sorted() {
                self.drivers[number]?.post(.stop(Goodbye(code: .closing, text: "the node stops")))
            }
            self.queue.asyncAfter(deadline: .now() + .milliseconds(NodeLimits.stopMilliseconds)) { self.finishStop() }
            self.finishStopIfIdle()
        }
    }

    /// Ends as soon as the last link has.
    func finishStopIfIdle() { if isStopping, drivers.isEmpty { finishStop() } }

    private func finishStop() {
        guard let listener else { return }
        self.listener = nil
        rememberAddresses()
        withExtendedLifetime(listener) {}
        for driver in drivers.values { driver.connection.close() }
        let discovery = discovery
        self.discovery = nil
        networkWatch = nil
        // Blocks for the databases' last commits, and the control socket's last answers: off the queue.
        DispatchQueue.global().async {
            if let discovery {
                let withdrawn = DispatchSemaphore(value: 0)
                discovery.stop { withdrawn.signal() }
                _ = withdrawn.wait(timeout: .now() + .seconds(2))
            }
            // Before the databases: a copy or a check that is under way would hold them up.
            self.control?.stop()
            self.catalog.close()
            self.queue.async {
                self.log(.info, .node, "stopped")
                self.log.flush(all: true)
                for completion in self.stopped { completion() }
                self.stopped = []
            }
        }
    }

    /// Runs a closure with a transport's error as the node's.
    static func transport<Value>(_ body: () throws(TransportError) -> Value) throws(NodeError) -> Value {
        do throws(TransportError) { return try body() } catch {
            throw NodeError(code: "identity", message: error.message)
        }
    }

    /// Somebody asked over the control socket that the node stop: whoever runs it does that.
    func requestStop() { queue.async { self.stopRequested?() } }

    func setHeld(_ isHeld: Bool) { held.store(isHeld, ordering: .relaxed) }

    // MARK: Watching

    /// Something that status shows may have changed: watchers are called, at most every 50 ms.
    func changed() {
        guard !isNewsQueued, !watchers.isEmpty else { return }
        isNewsQueued = true
        queue.asyncAfter(deadline: .now() + .milliseconds(50)) {
            self.isNewsQueued = false
            for number in self.watchers.keys.sorted() { self.watchers[number]?() }
        }
    }

    /// Calls the watcher on the node's queue after changes, until it is removed.
    func addWatcher(_ watcher: @escaping @Sendable () -> Void) -> UInt64 {
        lastWatcher += 1
        watchers[lastWatcher] = watcher
        return lastWatcher
    }
}
