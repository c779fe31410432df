import Dispatch
import KithDocument
import KithReplication
import KithStore
import KithSystem
import KithTransport
import Synchronization

/// What a link tells the node, on the link's queue.
enum LinkNews: Sendable {
    case event(LinkEvent)
    /// The peer's statements are to be judged, those that are new after they were verified; the answer is why the peer is not
    /// trusted any more, or nil.
    case judge(Membership.News, answer: @Sendable (String?) -> Void)
    /// The link knows of the database here up to this sequence.
    case told(database: String, sequence: UInt64)
    /// The end: what was said, or what the connection died of.
    case ended(LinkEnd?, Connection.Ending)
}

/// One link on its connection: carries out what the state machine wants and tells it what happens.
///
/// A driver is made for an authenticated connection and waits until `start`; it ends once and is never used again.
/// Everything happens on the connection's queue; `post` and what is constant may be used from any thread.
final class LinkDriver: @unchecked Sendable {
    // Sendable: what varies is touched on `queue` only, is atomic or locked.

    let id: UInt64
    let peer: PeerIdentity
    let connection: any Channel
    /// Whether this node was no reader when the link was made.
    let isSource: Bool
    /// What was known of the group when the hello was made: `Membership.changeCount`.
    let knownStatements: UInt64
    var isDialled: Bool { connection.direction == .dialled }
    /// A number that both ends know.
    let tieBreak: UInt64

    private let membership: Membership
    private let catalog: DatabaseCatalog
    private let clock: any MachineClock
    private let log: Log
    private let news: @Sendable (LinkDriver, LinkNews) -> Void
    private let heardAt: Atomic<UInt64>
    private let movedAt: Atomic<UInt64>
    /// Commits that the link was not told of yet, by database: only the latest of each counts.
    private let commits = Mutex<[String: ReplicaSummary]>([:])

    // On `queue` only.
    private var link: Link
    private var state = State.waiting
    private var observed: [String: DatabaseExecutor] = [:]
    private var timer: (any WorkTimer)?
    private var isDrainQueued = false
    private var end: LinkEnd?
    private var carriesNothing = false
    private var early: [UInt8] = []

    private enum State { case waiting, running, ended }

    init(
        id: UInt64, peer: PeerIdentity, connection: any Channel, tieBreak: UInt64, configuration: LinkConfiguration,
        membership: Membership, catalog: DatabaseCatalog, knownStatements: UInt64 = 0, clock: any MachineClock,
        log: Log,
        news: @escaping @Sendable (LinkDriver, LinkNews) -> Void
    ) {
        self.id = id
        self.peer = peer
        self.connection = connection
        self.tieBreak = tieBreak
        self.membership = membership
        self.catalog = catalog
        self.knownStatements = knownStatements
        isSource = configuration.localIsSource
        self.clock = clock
        self.log = log
        self.news = news
        link = Link(configuration)
        let now = clock.now.milliseconds
        heardAt = Atomic(now)
        movedAt = Atomic(now)
    }

    private var queue: any WorkQueue { connection.workQueue }

    /// When a byte of the peer was last received; at first when the connection was authenticated.
    var lastHeard: Instant { Instant(milliseconds: heardAt.load(ordering: .relaxed)) }

    /// When a byte was last received, or was last seen to have reached the peer's machine.
    var lastMoved: Instant { Instant(milliseconds: movedAt.load(ordering: .relaxed)) }

    /// Begins to speak.
    /// - Parameters:
    ///   - held: the databases that wait for another link to fill them first.
    ///   - directions: which ways the documents of a database may pass.
    func start(held: Set<String>, directions: @escaping @Sendable (String) -> FeedDirections) {
        queue.async {
            self.begin {
                self.catalog.databases.map { database in
                    let name = database.name.string
                    return self.observed(database, isHeld: held.contains(name), directions(name))
                }
            }
        }
    }

    /// Says hello to hear the peer's, and carries no database: the link is not to be used.
    func greet() {
        queue.async {
            self.carriesNothing = true
            self.begin { [] }
        }
    }

    private func begin(_ databases: () -> [CarriedDatabase]) {
        guard state == .waiting else { return }
        state = .running
        handle(.wallClock(clock.wallMilliseconds))
        handle(.start(databases: databases()))
    }

    /// Tells the link something, from any thread.
    func post(_ input: LinkInput) { queue.async { self.handle(input) } }

    /// Runs the body on the link's queue once what was posted before is done.
    func afterwards(_ body: @escaping @Sendable () -> Void) { queue.async(body) }

    /// Carries one more database.
    func carry(_ database: DatabaseExecutor, isHeld: Bool, directions: FeedDirections) {
        queue.async {
            guard self.state == .running, !self.carriesNothing else { return }
            let name = database.name.string
            if let old = self.observed[name], old !== database {
                // Another file under the name: what a session knows of the one before does not hold for it.
                old.stopObserving(self.id)
                self.observed[name] = nil
                self.handle(.drop(database: name))
            }
            self.handle(.carry(self.observed(database, isHeld: isHeld, directions)))
        }
    }

    /// Carries a database no longer.
    func drop(_ name: String) {
        queue.async {
            self.observed.removeValue(forKey: name)?.stopObserving(self.id)
            self.handle(.drop(database: name))
        }
    }

    /// What happens on the connection; given to it as its handler.
    func handle(_ event: Connection.Event) {
        switch event {
        case .opened: break
        case .received(let bytes):
            let now = clock.now.milliseconds
            #if KITH_MUTANTS
            if Mutant.isActive(.logsBytes) { log(.debug, .link, String(decoding: bytes, as: UTF8.self)) }
            #endif
            heardAt.store(now, ordering: .relaxed)
            movedAt.store(now, ordering: .relaxed)
            if state == .waiting { keepEarly(bytes) } else { handle(.received(Array(bytes))) }
        case .drained: handle(.sendBufferDrained(remaining: connection.bufferedBytes))
        case .acknowledged(let total):
            movedAt.store(clock.now.milliseconds, ordering: .relaxed)
            handle(.arrived(total: total))
        case .finished:
            handle(.disconnected)
            state = .ended
            endConnection()
        case .closed(let ending): close(ending)
        }
    }

    /// What comes before it is decided that this link is used. Once there is more than a hello, the rest waits in the
    /// socket.
    private func keepEarly(_ bytes: UnsafeRawBufferPointer) {
        early += Array(bytes)
        if early.count > NodeLimits.earlyBytes { connection.setReading(false) }
    }

    private func handle(_ input: LinkInput) {
        guard state == .running else {
            // One that waits has said nothing yet, and goes without a word.
            if state == .waiting, case .stop = input { connection.close() }
            return
        }
        carryOut(link.handle(input, now: clock.now))
        if case .start = input, !early.isEmpty {
            let bytes = early
            early = []
            connection.setReading(true)
            handle(.received(bytes))
        }
        if state == .running { setTimer() }
    }

    private func carryOut(_ directives: [LinkDirective]) {
        for directive in directives {
            switch directive {
            case .send(let bytes):
                connection.send(bytes)
                queueDrainReport()
            case .close(let end): finish(end)
            case .store(let ticket, let database, let request): ask(database, request, ticket)
            case .judge(let statements):
                // Here, where only this peer waits for it.
                news(
                    self,
                    .judge(membership.verify(statements)) { refusal in self.post(.statementsJudged(refusal: refusal)) })
            case .claim(let ticket, let database, let wants, let lookedAt):
                let now = clock.now
                let answer = observed[database]?.withWants { $0.claim(wants, lookedAt: lookedAt, by: id, now: now) }
                post(.claimed(ticket, answer ?? WantRegistry.Answer(granted: wants)))
            case .releaseClaims(let database, let documents):
                let now = clock.now
                observed[database]?.withWants { $0.release(documents, by: id, now: now) }
            case .releaseAllClaims(let database): observed[database]?.withWants { $0.releaseAll(by: id) }
            case .keepClaims(let database):
                let now = clock.now
                observed[database]?.withWants { $0.keep(by: id, now: now) }
            case .report(let event): news(self, .event(event))
            }
        }
    }

    private func ask(_ name: String, _ request: StoreRequest, _ ticket: Ticket) {
        // Not the catalog's: one that was dropped and made again under its name is another, and what a link asks, a checkpoint
        // above all, holds for the one that it was told of.
        guard let database = observed[name] else {
            let gone = ReplicaError(
                code: "not_found", message: "database \(name) is not here any more", isTransient: false)
            return post(.storeDone(ticket, .failed(gone)))
        }
        database.perform(request) { result in self.post(.storeDone(ticket, result)) }
    }

    // MARK: What the link is told

    /// Follows a database; what is committed from here on is told.
    private func observed(
        _ database: DatabaseExecutor, isHeld: Bool, _ directions: FeedDirections
    ) -> CarriedDatabase {
        let name = database.name.string
        observed[name] = database
        database.observe(id) { [weak self] summary in self?.committed(name, summary) }
        let summary = ReplicaSummary(database.summary)
        news(self, .told(database: name, sequence: summary.position.sequence))
        return CarriedDatabase(name: name, summary: summary, isHeld: isHeld, directions: directions)
    }

    /// A commit, on the database's queue. Many commits while the link is busy are told as one.
    private func committed(_ name: String, _ summary: ReplicaSummary) {
        let isFirst = commits.withLock { commits in
            commits[name] = summary
            return commits.count == 1
        }
        guard isFirst else { return }
        queue.async {
            let all = self.commits.withLock { commits in
                defer { commits = [:] }
                return commits
            }
            // A link that has ended tells its peer nothing more, while its connection may be open for a moment.
            #if KITH_MUTANTS
            guard self.state == .running || Mutant.isActive(.tellsEndedLinks) else { return }
            #else
            guard self.state == .running else { return }
            #endif
            for name in all.keys.sorted() {
                guard let summary = all[name] else { continue }
                self.handle(.localCommit(database: name, summary))
                self.news(self, .told(database: name, sequence: summary.position.sequence))
            }
        }
    }

    /// How much still waits to be sent is told once the directives at hand are carried out; while much waits, the
    /// connection says when it has drained.
    private func queueDrainReport() {
        guard !isDrainQueued else { return }
        isDrainQueued = true
        queue.async {
            self.isDrainQueued = false
            let buffered = self.connection.bufferedBytes
            if buffered <= TransportLimits.drainedBytes { self.handle(.sendBufferDrained(remaining: buffered)) }
        }
    }

    private func setTimer() {
        guard let deadline = link.nextDeadline else { return }
        let timer = timer ?? makeTimer()
        let wait = deadline.milliseconds(since: clock.now)
        timer.schedule(milliseconds: Int(clamping: wait), leewayMilliseconds: 5)
    }

    private func makeTimer() -> any WorkTimer {
        let timer = queue.timer { [weak self] in
            guard let self else { return }
            self.handle(.wallClock(self.clock.wallMilliseconds))
            self.handle(.deadline)
        }
        self.timer = timer
        return timer
    }

    // MARK: The end

    private func finish(_ end: LinkEnd) {
        self.end = end
        state = .ended
        endConnection()
    }

    /// Sends what waits and closes. Who does not read our last words is not waited for.
    private func endConnection() {
        connection.finish()
        queue.async(afterMilliseconds: NodeLimits.goodbyeMilliseconds) { self.connection.close() }
    }

    private func close(_ ending: Connection.Ending) {
        if state == .running { carryOut(link.handle(.disconnected, now: clock.now)) }
        state = .ended
        timer?.cancel()
        timer = nil
        for database in observed.values {
            database.stopObserving(id)
            database.withWants { $0.releaseAll(by: id) }
        }
        observed = [:]
        news(self, .ended(end, ending))
    }
}
