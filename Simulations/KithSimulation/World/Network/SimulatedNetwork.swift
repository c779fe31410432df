import KithNetwork
import KithTestSupport

/// The network between machines, in which everything takes time: streams in order, delays with jitter, splits anywhere,
/// cuts that hold bytes back as TCP does, connections that end cleanly, with a reset, in mid-frame, or without a word.
///
/// It holds the kernels' side of every connection; `SimulatedChannel` is the process's side.
final class SimulatedNetwork: @unchecked Sendable {
    // Sendable: a run has one thread.

    /// How a direction carries bytes.
    struct Pace {
        /// Microseconds, least and most.
        var delay: ClosedRange<Int>
        /// Bytes of one segment at most.
        var segment: Int
        /// Bytes a second; 0 for no bound.
        var rate = 0

        static let usual = Pace(delay: 200...400, segment: 65_536)
    }

    private struct Direction: Hashable {
        let from: Int
        let to: Int
    }

    let world: World
    var partitions = Partitions()
    /// Directions in which what is on open connections waits; dials and multicast get through.
    var clogs = Partitions()
    /// Where multicast does not get through though connections do.
    var multicastPartitions = Partitions()
    /// Dials that never get through, as pairs of machines.
    var blockedDials: Set<[Int]> = []
    /// Of directions that have none of their own.
    var usualPace = Pace.usual
    private var paces: [Direction: Pace] = [:]
    private var random: SeededGenerator
    private var machines: [NetworkAddress: SimulatedMachine] = [:]
    private var connections: [Int: [SimulatedConnection]] = [:]
    /// Connections that were begun.
    private(set) var made = 0
    /// Bytes given to the network so far, by direction.
    private var sent: [Direction: UInt64] = [:]
    private(set) var totalBytes: UInt64 = 0
    private(set) var totalSegments: UInt64 = 0
    /// When a direction with a rate is free again.
    private var freeAt: [Direction: UInt64] = [:]

    init(_ world: World) {
        self.world = world
        random = world.generator("network")
    }

    // MARK: Machines

    /// A machine has an address from now on, which nobody else has then.
    func assign(_ address: NetworkAddress, to machine: SimulatedMachine) {
        let key = address.withoutPort
        for (other, owner) in machines where owner === machine { machines[other] = nil }
        machines[key] = machine
    }

    /// Who has an address now.
    func owner(of address: NetworkAddress) -> SimulatedMachine? { machines[address.withoutPort] }

    // MARK: Paths

    func setPace(from: Int, to: Int, _ change: (inout Pace) -> Void) {
        let before = pace(from: from, to: to).rate
        change(&paces[Direction(from: from, to: to), default: usualPace])
        if pace(from: from, to: to).rate != before { changeRate(from: from, to: to) }
    }

    /// What a slow direction had not carried yet does not wait for as long as it would have.
    private func changeRate(from: Int, to: Int) {
        freeAt[Direction(from: from, to: to)] = nil
        for connection in connections(between: from, and: to) {
            for end in 0...1 where connection.ends[end].machine?.index == from { connection.changeRate(from: end) }
        }
    }

    func pace(from: Int, to: Int) -> Pace {
        paces.isEmpty ? usualPace : paces[Direction(from: from, to: to)] ?? usualPace
    }

    func delay(from: Int, to: Int) -> UInt64 { UInt64(random.within(pace(from: from, to: to).delay)) }

    func isCut(from: Int, to: Int) -> Bool { partitions.isCut(from: from, to: to, at: world.now) }

    /// Whether what is on an open connection waits.
    func holds(from: Int, to: Int) -> Bool {
        isCut(from: from, to: to) || clogs.isCut(from: from, to: to, at: world.now)
    }

    /// The next time at which one that waits may go on; nil where none does.
    func nextOpening(from: Int, to: Int) -> UInt64? {
        [partitions, clogs].compactMap { $0.nextOpening(from: from, to: to, after: world.now) }.min()
    }

    /// How many of so many bytes go into the next segment.
    func segment(of bytes: Int, from: Int, to: Int) -> Int {
        let most = min(bytes, pace(from: from, to: to).segment)
        // Whole messages mostly, and now and then a split anywhere.
        guard most == bytes else { return random.within(1...most) }
        return random.chance(1, in: 8) ? random.within(1...most) : most
    }

    /// Takes note of a segment that is sent.
    func count(_ bytes: Int, from: Int, to: Int) {
        sent[Direction(from: from, to: to), default: 0] += UInt64(bytes)
        totalBytes += UInt64(bytes)
        totalSegments += 1
    }

    /// Until when a direction is busy with so many bytes more.
    func transmission(of bytes: Int, from: Int, to: Int) -> UInt64 {
        let rate = pace(from: from, to: to).rate
        guard rate > 0 else { return world.now }
        let direction = Direction(from: from, to: to)
        let start = max(world.now, freeAt[direction] ?? 0)
        freeAt[direction] = start + UInt64(bytes) * 1_000_000 / UInt64(rate)
        return freeAt[direction] ?? start
    }

    /// Whether a slow direction still carries what was sent before.
    func isBusy(from: Int, to: Int) -> Bool { (freeAt[Direction(from: from, to: to)] ?? 0) > world.now }

    func bytesSent(from: Int, to: Int) -> UInt64 { sent[Direction(from: from, to: to)] ?? 0 }

    /// All that was wrong with it is over.
    func heal() {
        partitions.heal()
        clogs.heal()
        let slow = paces.filter { $0.value.rate > 0 }.keys.sorted { ($0.from, $0.to) < ($1.from, $1.to) }
        paces = [:]
        usualPace = .usual
        for direction in slow { changeRate(from: direction.from, to: direction.to) }
        for index in connections.keys.sorted() {
            for connection in connections[index] ?? [] { for end in 0...1 { connection.reopened(end) } }
        }
    }

    // MARK: Connections

    /// Begins to connect.
    func connect(_ channel: SimulatedChannel, from machine: SimulatedMachine, to address: NetworkAddress) {
        made += 1
        let connection = SimulatedConnection(made, self, dialler: machine, channel, to: address)
        channel.connection = connection
        keep(connection, of: machine)
        connection.request()
    }

    func keep(_ connection: SimulatedConnection, of machine: SimulatedMachine) {
        connections[machine.index, default: []].append(connection)
    }

    func forget(_ connection: SimulatedConnection) {
        for end in connection.ends {
            guard let machine = end.machine else { continue }
            connections[machine.index]?.removeAll { $0 === connection }
        }
    }

    /// The connections of a machine that are not gone, in the order in which they were made.
    func connections(of machine: Int) -> [SimulatedConnection] { connections[machine] ?? [] }

    func connections(between one: Int, and other: Int) -> [SimulatedConnection] {
        connections(of: one).filter { connection in connection.ends.contains { $0.machine?.index == other } }
    }

    /// A number for something that only the ends of a connection know.
    func draw() -> UInt64 { random.next() }

    func draw(within range: ClosedRange<Int>) -> Int { random.within(range) }
}

extension NetworkAddress {
    /// The address with port 0.
    var withoutPort: NetworkAddress { port == 0 ? self : NetworkAddress(ip: ip, interface: scope, port: 0) ?? self }
}
