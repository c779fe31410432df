import KithTestSupport

/// A network in which everything takes time: streams in order, delays with jitter, splits anywhere, cuts that hold bytes
/// back as TCP does, connections that end cleanly, with a reset, in mid-frame, or without a word.
///
/// It holds the kernels' side of every connection. What happens at a process is a `Delivery`, carried out by the run.
struct VirtualNetwork {
    /// How a directed link carries bytes.
    struct Pace {
        /// Microseconds, least and most.
        var delay: ClosedRange<Int>
        /// Bytes of one segment at most.
        var segment: Int
    }

    /// What is to happen later.
    enum Event {
        /// The first segment of a direction arrives.
        case arrival(connection: UInt64, end: Int)
        /// The dialler's request arrives at the acceptor.
        case request(connection: UInt64)
        /// The answer arrives at the dialler.
        case answer(connection: UInt64, isAccepted: Bool)
        case resetArrives(connection: UInt64, end: Int)
        /// Something that was cut may be open.
        case reopening
    }

    /// What a process hears.
    enum Delivery {
        case connected(UInt64)
        case refused(UInt64)
        /// A peer has connected and shown who it is.
        case accepted(UInt64)
        case received(UInt64, end: Int, [UInt8])
        /// The stream ended or was reset.
        case ended(UInt64, end: Int)
        /// The kernel has taken more of what the process gave.
        case drained(UInt64, end: Int, remaining: Int)
    }

    private var paces: [Pace]
    private let nodes: Int
    private(set) var connections: [VirtualConnection] = []
    var partitions = Partitions()
    private var random: SeededGenerator
    /// Events to be added to the run's queue.
    private(set) var upcoming: [(time: UInt64, event: Event)] = []
    private(set) var deliveries: [Delivery] = []

    init(nodes: Int, random: SeededGenerator) {
        self.nodes = nodes
        self.random = random
        paces = Array(repeating: Pace(delay: 200...400, segment: 1_460), count: nodes * nodes)
    }

    mutating func takeUpcoming() -> [(time: UInt64, event: Event)] {
        defer { upcoming = [] }
        return upcoming
    }

    mutating func takeDeliveries() -> [Delivery] {
        defer { deliveries = [] }
        return deliveries
    }

    mutating func setPace(_ pace: Pace, from: Int, to: Int) { paces[from * nodes + to] = pace }

    /// Numbers of the connections between two nodes that are not gone, ascending.
    func connections(between one: Int, and other: Int) -> [UInt64] {
        connections.filter { !$0.isGone && Set([$0.dialler, $0.acceptor]) == Set([one, other]) }.map(\.id)
    }

    /// What a process may count on having given away: bytes that wait in its kernel.
    func outboxBytes(_ connection: UInt64, end: Int) -> Int { self[connection].ends[end].outbox.count }

    /// Bytes sent from one node to another so far, over all connections.
    func bytesSent(from: Int, to: Int) -> UInt64 {
        connections.reduce(0) { sum, connection in
            if connection.dialler == from, connection.acceptor == to { return sum + connection.ends[0].sent }
            if connection.acceptor == from, connection.dialler == to { return sum + connection.ends[1].sent }
            return sum
        }
    }

    // What processes do.

    mutating func dial(from: Int, to: Int, now: UInt64) -> UInt64 {
        let id = UInt64(connections.count)
        connections.append(VirtualConnection(id: id, ends: [.init(node: from, isOpen: true), .init(node: to)]))
        // What is cut hangs until the dialler gives up.
        if !partitions.isCut(from: from, to: to, at: now) {
            upcoming.append((now + delay(from, to), .request(connection: id)))
        }
        return id
    }

    mutating func send(_ bytes: [UInt8], _ connection: UInt64, end: Int, now: UInt64) {
        guard self[connection].ends[end].isOpen else { return }
        self[connection].ends[end].outbox.append(contentsOf: bytes)
        pump(connection, end, now)
    }

    /// The process is done with it: the stream ends after what it gave.
    mutating func close(_ connection: UInt64, end: Int, now: UInt64) {
        guard self[connection].ends[end].isOpen else { return }
        self[connection].ends[end].isOpen = false
        self[connection].ends[end].endsAfterOutbox = true
        pump(connection, end, now)
        settle(connection)
    }

    /// The process is gone and its kernel answers with a reset, if it is there to answer.
    mutating func abort(_ connection: UInt64, end: Int, tellsPeer: Bool, now: UInt64) {
        let wasOpen = self[connection].ends[end].isOpen
        self[connection].ends[end].isOpen = false
        self[connection].ends[end].outbox = []
        if tellsPeer, wasOpen { reset(connection, end: 1 - end, now: now) }
        settle(connection)
    }

    // Faults.

    /// Both ends lose the connection, each when it hears of it.
    mutating func reset(_ connection: UInt64, now: UInt64) {
        for end in 0...1 { reset(connection, end: end, now: now) }
    }

    /// Drops some of what is under way from an end, and ends the stream there.
    mutating func truncate(_ connection: UInt64, end: Int, now: UInt64) {
        let count = self[connection].ends[end].outbox.count
        if count > 0 {
            self[connection].ends[end].outbox.removeLast(random.within(1...count))
        } else if case .bytes(let bytes)? = self[connection].ends[end].inFlight.last, bytes.count > 1 {
            let kept = random.within(1...(bytes.count - 1))
            self[connection].ends[end].inFlight[self[connection].ends[end].inFlight.count - 1] = .bytes(
                Array(bytes.prefix(kept)))
        }
        self[connection].ends[end].endsAfterOutbox = true
        pump(connection, end, now)
    }

    // What happens.

    /// - Parameter isListening: whether a process at a node takes connections.
    /// - Parameter isPowered: whether the machine answers at all.
    mutating func handle(
        _ event: Event, now: UInt64, isListening: (Int) -> Bool, isPowered: (Int) -> Bool
    ) {
        switch event {
        case .request(let id):
            let connection = self[id]
            guard isPowered(connection.acceptor), connection.ends[0].isOpen else { return }
            let isAccepted = isListening(connection.acceptor)
            guard !partitions.isCut(from: connection.acceptor, to: connection.dialler, at: now) else { return }
            if isAccepted { self[id].ends[1].isOpen = true }
            upcoming.append(
                (now + delay(connection.acceptor, connection.dialler), .answer(connection: id, isAccepted: isAccepted)))
        case .answer(let id, let isAccepted):
            guard self[id].ends[0].isOpen else {
                if isAccepted, isPowered(self[id].dialler) { reset(id, end: 1, now: now) }
                return
            }
            if !isAccepted {
                self[id].ends[0].isOpen = false
                self[id].isGone = true
                deliveries.append(.refused(id))
                return
            }
            self[id].isEstablished = true
            append(.handshake, to: id, end: 0, now)
            deliveries.append(.connected(id))
        case .arrival(let id, let end): arrive(id, end, now: now, isPowered: isPowered)
        case .resetArrives(let id, let end):
            if self[id].ends[end].isOpen {
                self[id].ends[end].isOpen = false
                self[id].ends[end].outbox = []
                deliveries.append(.ended(id, end: end))
            }
            settle(id)
        case .reopening: reopen(now: now)
        }
    }

    private mutating func arrive(_ id: UInt64, _ end: Int, now: UInt64, isPowered: (Int) -> Bool) {
        guard !self[id].ends[end].inFlight.isEmpty else { return }
        let (from, to) = (self[id].ends[end].node, self[id].ends[1 - end].node)
        if partitions.isCut(from: from, to: to, at: now) {
            self[id].ends[end].stalled += 1
            return
        }
        let segment = self[id].ends[end].inFlight.removeFirst()
        guard self[id].ends[1 - end].isOpen else {
            // Nobody has this connection: a kernel that is there says so.
            if isPowered(to) { reset(id, end: end, now: now) }
            return
        }
        switch segment {
        case .handshake: deliveries.append(.accepted(id))
        case .end:
            self[id].ends[1 - end].isOpen = false
            deliveries.append(.ended(id, end: 1 - end))
            settle(id)
        case .bytes(let bytes):
            if partitions.isCut(from: to, to: from, at: now) {
                self[id].ends[end].arrivedUnconfirmed += bytes.count
            } else {
                self[id].ends[end].unconfirmed -= bytes.count
            }
            deliveries.append(.received(id, end: 1 - end, bytes))
            pump(id, end, now)
        }
    }

    /// Lets go on what waited for a cut to open.
    mutating func reopen(now: UInt64) {
        partitions.forgetEnded(at: now)
        for index in connections.indices where !connections[index].isGone {
            for end in 0...1 {
                let (from, to) = (connections[index].ends[end].node, connections[index].ends[1 - end].node)
                if !partitions.isCut(from: from, to: to, at: now), connections[index].ends[end].stalled > 0 {
                    // What was lost on the way is sent again.
                    var time = now
                    for _ in 0..<connections[index].ends[end].stalled {
                        time += delay(from, to)
                        upcoming.append((time, .arrival(connection: UInt64(index), end: end)))
                    }
                    connections[index].ends[end].lastArrival = max(connections[index].ends[end].lastArrival, time)
                    connections[index].ends[end].stalled = 0
                }
                if !partitions.isCut(from: to, to: from, at: now), connections[index].ends[end].arrivedUnconfirmed > 0 {
                    connections[index].ends[end].unconfirmed -= connections[index].ends[end].arrivedUnconfirmed
                    connections[index].ends[end].arrivedUnconfirmed = 0
                    pump(UInt64(index), end, now)
                }
            }
        }
        if let next = partitions.nextOpening(after: now) { upcoming.append((next, .reopening)) }
    }

    // The kernel's work.

    /// Sends what the window allows.
    private mutating func pump(_ id: UInt64, _ end: Int, _ now: UInt64) {
        guard self[id].isEstablished else { return }
        let pace = paces[self[id].ends[end].node * nodes + self[id].ends[1 - end].node]
        let before = self[id].ends[end].outbox.count
        var taken = 0
        while taken < before, self[id].ends[end].unconfirmed < SimulationLimits.windowBytes {
            let size = random.within(1...min(pace.segment, before - taken))
            append(.bytes(Array(self[id].ends[end].outbox[taken..<(taken + size)])), to: id, end: end, now)
            taken += size
            self[id].ends[end].unconfirmed += size
            self[id].ends[end].sent += UInt64(size)
        }
        self[id].ends[end].outbox.removeFirst(taken)
        let remaining = self[id].ends[end].outbox.count
        if taken > 0, self[id].ends[end].isOpen { deliveries.append(.drained(id, end: end, remaining: remaining)) }
        if remaining == 0, self[id].ends[end].endsAfterOutbox, !self[id].ends[end].hasEnded {
            self[id].ends[end].hasEnded = true
            append(.end, to: id, end: end, now)
        }
    }

    private mutating func append(_ segment: VirtualConnection.Segment, to id: UInt64, end: Int, _ now: UInt64) {
        let arrival = max(
            self[id].ends[end].lastArrival, now + delay(self[id].ends[end].node, self[id].ends[1 - end].node))
        self[id].ends[end].lastArrival = arrival
        self[id].ends[end].inFlight.append(segment)
        upcoming.append((arrival, .arrival(connection: id, end: end)))
    }

    private mutating func reset(_ id: UInt64, end: Int, now: UInt64) {
        let (from, to) = (self[id].ends[1 - end].node, self[id].ends[end].node)
        guard !partitions.isCut(from: from, to: to, at: now) else { return }
        upcoming.append((now + delay(from, to), .resetArrives(connection: id, end: end)))
    }

    private mutating func settle(_ id: UInt64) {
        if !self[id].ends[0].isOpen, !self[id].ends[1].isOpen, self[id].ends.allSatisfy({ $0.inFlight.isEmpty }) {
            self[id].isGone = true
        }
    }

    private mutating func delay(_ from: Int, _ to: Int) -> UInt64 {
        UInt64(random.within(paces[from * nodes + to].delay))
    }

    private subscript(id: UInt64) -> VirtualConnection {
        get { connections[Int(id)] }
        _modify { yield &connections[Int(id)] }
    }
}

extension VirtualNetwork {
    /// Whose process hears of something.
    func node(of delivery: Delivery) -> Int {
        switch delivery {
        case .connected(let id), .refused(let id): connections[Int(id)].dialler
        case .accepted(let id): connections[Int(id)].acceptor
        case .received(let id, let end, _), .ended(let id, let end), .drained(let id, let end, _):
            connections[Int(id)].ends[end].node
        }
    }
}
