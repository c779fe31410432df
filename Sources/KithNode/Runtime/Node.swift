import Dispatch
import KithCrypto
import KithDiscovery
import KithDocument
import KithNetwork
import KithReplication
import KithStore
import KithSystem
import KithTransport
import Synchronization

/// A running node: its databases, the links to its peers, discovery, and the control socket.
///
/// The mesh is decided on the node's queue: who is known, whom to dial, which link stays, what is passed on. Links run on
/// their connections' queues and databases on theirs; what they report comes here as values.
package final class Node: @unchecked Sendable {
    // Sendable: what varies is touched on `queue` only.

    let machine: Machine
    var clock: any MachineClock { machine.clock }
    package let queue: any WorkQueue
    /// Writes the small files, one after the other. It may wait for `queue`; that never waits for it.
    let files: any WorkQueue
    /// Makes the databases that peers have: one waits for the disk, and for whoever drops another.
    let makings: any WorkQueue
    /// Opens databases again that could not be used: it waits as long as they are large.
    let retries: any WorkQueue
    /// Looks at the disk: it waits as long as the disk takes, and nothing else waits for it.
    let looks: any WorkQueue
    let configuration: NodeConfiguration
    let log: Log
    let lock: DirectoryLock
    let identities: IdentityStore
    let identity: Identity
    let membership: Membership
    let desk: JoinDesk
    package let catalog: DatabaseCatalog
    package let damage: DamageBook
    let startedAt: Int64
    var transport: (any Transport)?
    var listener: (any ChannelListener)?
    var discovery: (any DiscoveryService)?
    var networkWatch: (any Sendable)?
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
    var random: MachineRandom
    var attempts: [DialTarget: DialAttempt] = [:]
    var drivers: [UInt64: LinkDriver] = [:]
    var peers: [NodeID: PeerState] = [:]
    var firstFeeds = FirstFeeds()
    var pauses = PauseList()
    var replication = ReplicationBook()
    /// Who is told of single documents that come and go, by number.
    var documentWatchers: [UInt64: DocumentWatcher] = [:]
    /// Those under way, by their watcher.
    var synchronisations: [UInt64: Synchronisation] = [:]
    var refusals = RefusalBook()
    var presence: PresenceBook
    var exchange = PresenceExchange()
    var isOfferPlanned = false
    let linkNumbers = Atomic<UInt64>(0)
    /// Names this process among all that run with this identity, one after the other or, by mistake, at once.
    let instance: UInt64
    var twins: TwinBook
    /// The instances of this node, where they could not be written.
    var unkeptInstances: [String]?
    /// The links that are not to be used, and of which it is asked what process is at the other end.
    var greetings: [UInt64: Greeting] = [:]
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
    var timer: (any WorkTimer)?
    var isStopping = false
    private var isClosing = false
    var stopped: [@Sendable () -> Void] = []
    var watchers: [UInt64: Watcher] = [:]
    /// Those who wait for a condition, by their watcher.
    var waiters: [UInt64: Waiter] = [:]
    var lastWatcher: UInt64 = 0
    var isNewsQueued = false
    var healthLedger = HealthLedger()
    /// Small files that were damaged and are kept aside.
    var setAside: [(name: String, aside: String, loss: String)] = []
    /// Why the root's key in the directory can't be used, as found at the start; nil where it can, or is kept elsewhere.
    var rootProblem: String?
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
    /// Who waits until it stands at a count.
    var membershipWaiters: [(count: UInt64, completion: @Sendable (Bool) -> Void)] = []
    /// Small files whose turn is still to come and that will be written as they stand then.
    var waitingFiles: Set<String> = []
    /// Databases that are being made because a peer has them.
    var making: Set<DatabaseName> = []
    /// Those whose disk has failed, and which may not have taken what nobody else tries again.
    var databasesInArrears: Set<DatabaseName> = []
    /// Those that could not be made, and the peer that told of each last.
    var unmade: [DatabaseName: NodeID] = [:]
    /// The disk as it was last looked at, and who waits for another look.
    var disk = DiskLook()
    var isLooking = false
    var waitingLooks: Set<UInt64> = []
    var maintainedAt: Instant?
    var healthAt: Instant?
    var storageTendedAt: Instant?
    var isRetryingUnusable = false
    /// Since when nodes are announced to which there is no link.
    var announcedSince: [NodeID: Instant] = [:]
    /// When a node was last announced that was not before.
    var announcedAt: Instant?
    let begunAt: Instant
    var isEvaluationPlanned = false
    /// The addresses that this node was given, and those at which somebody announces this node's own id.
    var staticPeers: [Endpoint] = []
    var announcedAsSelf: [Endpoint] = []

    // Its configuration, and the service manager.
    var usesDiscovery: Bool
    var configured = ConfigurationState()
    let reloads: any WorkQueue
    /// Told of reloads and of stopping. Set before `start`.
    package var supervisor: Supervisor?
    /// The database that was read last as a proof of life.
    var proofs = 0

    /// Takes the directory's lock, reads the identity and opens the databases. Nothing is sent or received before `start`.
    /// - Throws: `NodeError` with what is wrong and what to do.
    package init(_ configuration: NodeConfiguration) throws(NodeError) {
        self.configuration = configuration
        let machine = configuration.machine
        self.machine = machine
        queue = machine.queue("kith.node")
        files = machine.queue("kith.files")
        makings = machine.queue("kith.makings")
        retries = machine.queue("kith.retries")
        looks = machine.queue("kith.looks")
        reloads = machine.queue("kith.reload")
        startedAt = machine.clock.wallMilliseconds
        begunAt = machine.clock.now
        random = MachineRandom(machine)
        instance = machine.random()
        log = configuration.log
        usesDiscovery = configuration.usesDiscovery
        let directory = configuration.directory.path
        let disk = configuration.machine.files
        let identities = IdentityStore(directory: directory, on: disk)
        // Looked at first: a directory that holds no node is not made one by starting.
        let identity = try Self.transport { () throws(TransportError) in try identities.load() }
        self.identities = identities
        self.identity = identity
        lock = try DirectoryLock(directory: directory, on: disk)
        membership = try identities.membership(of: identity)
        damage = try DamageBook(nodeDirectory: directory, on: disk)
        catalog = try DatabaseCatalog(
            nodeDirectory: directory, on: machine, resolvers: configuration.resolvers)
        desk = try identities.desk(of: identity, membership)
        selection = MeshSelection(
            node: identity.nodeID, isReader: membership.standing(of: identity.peer)?.role ?? identity.role == .reader)
        arbiter = LinkArbiter(node: identity.nodeID)
        schedule = DialSchedule(random: machine.random)
        presence = PresenceBook(node: identity.nodeID)
        twins = TwinBook(node: identity.nodeID, instance: instance, earlier: [], startedAt: startedAt)
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
        try readPauses()
        try readReplication()
        try readMutes()
        staticPeers = try Self.endpoints(configuration.peers)
        book.setStatic(staticPeers)
        try ConfigurationKey.advertise.require(configuration.advertise)
        advertised = try Self.endpoints(configuration.advertise).map(\.description)
        do throws(AddressError) { interfaces = try InterfacePatterns(configuration.interfaces) } catch {
            throw NodeError(code: "usage", message: error.message)
        }
        let remembered = try SpareFile.peers.read(in: directory, on: configuration.machine.files).lines
        rememberedText = remembered.map { $0 + "\n" }.joined()
        book.readRemembered(rememberedText)
        for node in book.nodes where node != id { peers[node] = PeerState(node, now: startedAt) }
        readPeerNames(remembered)
        let place = try ListeningPlace(configuration)
        findSetAside()
        // From here on somebody may be let in: what varies is touched on the queue alone.
        try listen(at: place)
        if configuration.servesControl { try serveControl() }
        queue.async {
            self.applyPolicies(self.catalog.databases.map(\.name.string))
            for database in self.catalog.databases { self.watch(database) }
            self.reportUnusable()
            self.startDiscovery()
            self.networkWatch = self.configuration.network.watch { [weak self] in
                guard let self else { return }
                self.queue.async { self.networkGained() }
            }
            self.evaluate()
        }
        log(
            .info, .node, "started",
            [
                "node": identity.nodeName, "id": id.short, "group": identity.groupName, "version": KithVersion.text,
                "listen": listening.joined(separator: " "), "data": directory,
            ])
    }

    private func serveControl() throws(NodeError) {
        let control: ControlServer
        do throws(ControlError) {
            control = try ControlServer(NodeService(self), directory: configuration.directory)
        } catch {
            throw NodeError(code: error.code.rawValue, message: error.message)
        }
        queue.sync { self.control = control }
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

    private func listen(at place: ListeningPlace) throws(NodeError) {
        let transport = try Self.transport { () throws(TransportError) in
            try configuration.transport(.member(identity, membership: membership) { [desk] in desk.answersJoins })
        }
        self.transport = transport
        let listener: any ChannelListener
        do throws(TransportError) {
            listener = try transport.listen(
                place.endpoint, orNextPort: !place.isAsked
            ) { [weak self, log] address, error in
                log(
                    .debug, .link, "closed a link that was not authenticated",
                    ["address": address.description, "reason": error.message])
                guard let self else { return }
                self.queue.async { self.noteStranger(address, error) }
            } opened: { [weak self] connection, peer in
                self?.accepted(connection, peer)
            }
        } catch { throw ListeningPlace.failure(error.message) }
        queue.sync { self.listener = listener }
        do throws(NodeError) { try place.keep(listener.port) } catch {
            // A node starts on a full disk too.
            log(.warning, .node, "the next start may choose another port: \(error.message)")
        }
    }

    /// Says goodbye to the peers, finishes what is under way, and closes. The completion runs once all is on disk.
    package func stop(completion: @escaping @Sendable () -> Void) {
        supervisor?.stopping()
        queue.async {
            self.stopped.append(completion)
            guard !self.isStopping else { return }
            self.isStopping = true
            self.log(.info, .node, "stopping")
            // One that could not start has nobody to say goodbye to.
            guard self.listener != nil else { return self.close() }
            self.listener?.stop()
            self.timer?.cancel()
            for target in self.attempts.keys.sorted() { self.attempts[target]?.cancel() }
            self.endWaits()
            self.endSynchronisations()
            self.endDocumentWatches()
            for number in self.arbiter.waiting { self.discard(number) }
            for number in self.drivers.keys.sorted() {
                self.drivers[number]?.post(.stop(Goodbye(code: .closing, text: "the node stops")))
            }
            self.queue.async(afterMilliseconds: NodeLimits.stopMilliseconds) { self.finishStop() }
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
        for number in drivers.keys.sorted() { drivers[number]?.connection.close() }
        let discovery = discovery
        self.discovery = nil
        networkWatch = nil
        #if KITH_MUTANTS
        if Mutant.isActive(.staysAnnounced) { return close() }
        #endif
        guard let discovery else { return close() }
        discovery.stop { self.queue.async { self.close() } }
        // Avahi may not answer.
        queue.async(afterMilliseconds: NodeLimits.withdrawalMilliseconds) { self.close() }
    }

    /// The end of all that is on disk.
    private func close() {
        guard !isClosing else { return }
        isClosing = true
        // Blocks for the databases' last commits, and the control socket's last answers: off the queue.
        machine.queue("kith.closing").async {
            // What was last learnt; it waits for the queue, so not on it.
            self.files.sync {}
            // Before the databases: a copy or a check that is under way would hold them up.
            self.control?.stop()
            self.catalog.close()
            self.lock.release()
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
        queue.async(afterMilliseconds: 50) {
            self.isNewsQueued = false
            self.tellWatchers()
        }
    }

    /// One status does for all who want it.
    private func tellWatchers() {
        var status: ControlStatus?
        for number in watchers.keys.sorted() {
            switch watchers[number] {
            case .news(let tell)?: tell()
            case .status(let tell)?:
                let current = status ?? self.status()
                status = current
                tell(current)
            case nil: break
            }
        }
    }

    /// Who is told of changes, on the node's queue.
    enum Watcher {
        case news(@Sendable () -> Void)
        /// With the status after the change.
        case status(@Sendable (ControlStatus) -> Void)
    }

    /// Calls the watcher after changes, until it is removed.
    func addWatcher(_ watcher: Watcher) -> UInt64 {
        lastWatcher += 1
        watchers[lastWatcher] = watcher
        return lastWatcher
    }
}
