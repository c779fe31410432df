import KithCrypto
import KithNetwork
import KithTransport

/// One TCP connection as its two kernels see it. End 0 dialled, end 1 accepted.
final class SimulatedConnection: @unchecked Sendable {
    // Sendable: a run has one thread.

    /// What is on its way from one end to the other, in order.
    enum Segment {
        /// A flight of the handshake: who the sender is and whom it speaks to.
        case flight([Certificate], LinkProtocol?)
        /// The sender refuses the other, and why.
        case alert(Int)
        case bytes(ArraySlice<UInt8>, isCorrupt: Bool)
        /// The end of the stream; without the encryption's closing message it was cut.
        case end(isClean: Bool)

        /// How many bytes it takes.
        var bytes: Int {
            switch self {
            case .flight, .alert: 1_200
            case .bytes(let bytes, _): bytes.count
            case .end: 0
            }
        }
    }

    final class End {
        var machine: SimulatedMachine?
        /// The address that the machine had when the connection was made.
        var address: NetworkAddress
        /// The process's side; nil where no process has it.
        var channel: SimulatedChannel?
        var isOpen = false
        /// What the process gave and the kernel has not sent.
        var outbox: [[UInt8]] = []
        /// Bytes of the first chunk that were sent.
        var offset = 0
        var waiting = 0
        var endsAfterOutbox = false
        var endsCleanly = true
        var hasEnded = false
        var inFlight: [Segment] = []
        var firstInFlight = 0
        /// Bytes sent that the other side has not taken: no more than a window.
        var unconfirmed = 0
        var confirmed: UInt64 = 0
        var lastArrival: UInt64 = 0
        /// Grows when what is under way gets other times than it had: who arrives by an older one does not.
        var timing = 0
        /// Arrivals that wait for a cut to open.
        var stalled = 0
        var sent: UInt64 = 0
        var received: UInt64 = 0
        /// A bit of the next bytes flips on the way.
        var corruptsNext = false

        init(
            machine: SimulatedMachine? = nil, address: NetworkAddress, channel: SimulatedChannel? = nil,
            isOpen: Bool = false
        ) {
            self.machine = machine
            self.address = address
            self.channel = channel
            self.isOpen = isOpen
        }
    }

    let number: Int
    /// What both ends know and nobody else.
    let secret: UInt64
    private let network: SimulatedNetwork
    private var world: World { network.world }
    let ends: [End]
    private var isEstablished = false
    /// A box on the way has forgotten it: nothing arrives any more, and nobody is told.
    var isForgotten = false
    private var isGone = false

    init(
        _ number: Int, _ network: SimulatedNetwork, dialler: SimulatedMachine, _ channel: SimulatedChannel,
        to address: NetworkAddress
    ) {
        self.number = number
        self.network = network
        secret = network.draw()
        ends = [
            End(machine: dialler, address: dialler.address, channel: channel, isOpen: true), End(address: address),
        ]
    }

    private func index(_ end: Int) -> Int { ends[end].machine?.index ?? -1 }

    /// Whether what is sent from one end now does not get to the other.
    private func isHeld(from end: Int) -> Bool {
        guard let from = ends[end].machine, let to = ends[1 - end].machine else { return true }
        return network.holds(from: from.index, to: to.index)
    }

    /// Whether the machine still has the address that it had.
    private func hasItsAddress(_ end: Int) -> Bool {
        guard let machine = ends[end].machine else { return false }
        return network.owner(of: ends[end].address) === machine
    }

    // MARK: Beginning

    /// The dialler's request goes out.
    func request() {
        guard let dialler = ends[0].machine else { return }
        // What is cut, or where nobody is, hangs until the dialler gives up.
        guard let target = network.owner(of: ends[1].address), target !== dialler else { return refuseSelf(dialler) }
        guard !network.isCut(from: dialler.index, to: target.index), dialler.isOn,
            network.blockedDials.isEmpty || !network.blockedDials.contains([dialler.index, target.index])
        else { return }
        world.after(network.delay(from: dialler.index, to: target.index)) { self.requestArrives(at: target) }
    }

    /// A machine that dials itself reaches its own listener.
    private func refuseSelf(_ dialler: SimulatedMachine) {
        guard network.owner(of: ends[1].address) === dialler else { return }
        world.after(20) { self.requestArrives(at: dialler) }
    }

    private func requestArrives(at target: SimulatedMachine) {
        guard target.isOn, ends[0].isOpen, network.owner(of: ends[1].address) === target, let dialler = ends[0].machine,
            world.now >= target.hangsUntil
        else { return }
        guard !network.isCut(from: target.index, to: dialler.index) else { return }
        ends[1].machine = target
        let listener = target.listener(atPort: ends[1].address.port)
        if let listener {
            ends[1].isOpen = true
            ends[1].channel = listener.accept(self)
            if target !== dialler { network.keep(self, of: target) }
        }
        let delay = target === dialler ? 20 : network.delay(from: target.index, to: dialler.index)
        world.after(delay) { self.answerArrives(isAccepted: listener != nil) }
    }

    private func answerArrives(isAccepted: Bool) {
        guard ends[0].isOpen, let channel = ends[0].channel else {
            if isAccepted { reset(1) }
            return
        }
        guard isAccepted else {
            ends[0].isOpen = false
            settle()
            return channel.refused()
        }
        isEstablished = true
        channel.connected()
    }

    // MARK: What processes do

    /// Sends a part of the handshake.
    func send(_ segment: Segment, from end: Int) {
        guard ends[end].isOpen else { return }
        append(segment, from: end)
    }

    func send(_ bytes: [UInt8], from end: Int) {
        guard ends[end].isOpen, !bytes.isEmpty else { return }
        ends[end].outbox.append(bytes)
        ends[end].waiting += bytes.count
        pump(end)
    }

    /// The stream ends after what was given.
    func finish(_ end: Int) {
        guard ends[end].isOpen else { return }
        ends[end].endsAfterOutbox = true
        pump(end)
    }

    /// The process is done with it, and what waits is thrown away.
    func close(_ end: Int) {
        guard ends[end].isOpen else { return }
        ends[end].outbox = []
        ends[end].offset = 0
        ends[end].waiting = 0
        ends[end].endsAfterOutbox = true
        pump(end)
        ends[end].isOpen = false
        ends[end].channel = nil
        settle()
    }

    /// The process has died. Its kernel says so, if it is there to say it.
    func abort(_ end: Int, tellsPeer: Bool) {
        guard ends[end].isOpen else { return }
        ends[end].isOpen = false
        ends[end].channel = nil
        ends[end].outbox = []
        ends[end].waiting = 0
        if tellsPeer { reset(1 - end) }
        settle()
    }

    /// The process has taken bytes that were kept for it.
    func took(_ bytes: Int, at end: Int) {
        ends[1 - end].unconfirmed -= bytes
        ends[1 - end].confirmed += UInt64(bytes)
        pump(1 - end)
    }

    func end(of machine: SimulatedMachine) -> Int? { ends.firstIndex { $0.machine === machine } }

    // MARK: Faults

    /// Both ends lose it, each when it hears of it.
    func resetBoth() {
        reset(0)
        reset(1)
    }

    /// Drops some of what is under way from an end, and ends the stream there.
    func truncate(_ end: Int) {
        guard ends[end].isOpen, isEstablished else { return }
        if ends[end].waiting > 0 {
            ends[end].outbox = []
            ends[end].offset = 0
            ends[end].waiting = 0
        } else if case .bytes(let bytes, let isCorrupt)? = ends[end].inFlight.last, bytes.count > 1 {
            let kept = network.draw(within: 1...(bytes.count - 1))
            ends[end].inFlight[ends[end].inFlight.count - 1] = .bytes(bytes.prefix(kept), isCorrupt: isCorrupt)
        }
        ends[end].endsAfterOutbox = true
        ends[end].endsCleanly = false
        pump(end)
    }

    /// A bit of what goes next from an end flips.
    func corrupt(_ end: Int) { ends[end].corruptsNext = true }

    // MARK: The kernels' work

    /// Sends what the window allows.
    private func pump(_ end: Int) {
        guard isEstablished || ends[end].channel?.mayStream == true else { return }
        let before = ends[end].waiting
        while let chunk = ends[end].outbox.first, ends[end].unconfirmed < SimulationLimits.windowBytes {
            let rest = chunk.count - ends[end].offset
            let size = network.segment(of: rest, from: index(end), to: index(1 - end))
            let bytes = chunk[ends[end].offset..<(ends[end].offset + size)]
            ends[end].offset += size
            ends[end].waiting -= size
            if ends[end].offset == chunk.count {
                ends[end].outbox.removeFirst()
                ends[end].offset = 0
            }
            ends[end].unconfirmed += size
            let isCorrupt = ends[end].corruptsNext
            ends[end].corruptsNext = false
            append(.bytes(bytes, isCorrupt: isCorrupt), from: end)
        }
        if ends[end].waiting < before { ends[end].channel?.drained(to: ends[end].waiting) }
        if ends[end].waiting == 0, ends[end].endsAfterOutbox, !ends[end].hasEnded {
            ends[end].hasEnded = true
            append(.end(isClean: ends[end].endsCleanly), from: end)
        }
    }

    private func append(_ segment: Segment, from end: Int) {
        let (from, to) = (index(end), index(1 - end))
        ends[end].sent += UInt64(segment.bytes)
        network.count(segment.bytes, from: from, to: to)
        let sent = network.transmission(of: segment.bytes, from: from, to: to)
        let delay = from == to ? 20 : network.delay(from: from, to: to)
        let arrival = max(ends[end].lastArrival, sent + delay)
        ends[end].lastArrival = arrival
        ends[end].inFlight.append(segment)
        world.add(.arrival(self, end: end, timing: ends[end].timing), at: arrival)
    }

    /// The direction has another rate: what is under way goes on at that one.
    func changeRate(from end: Int) {
        let moving = ends[end].inFlight.count - ends[end].firstInFlight - ends[end].stalled
        guard moving > 0, !isGone, !isForgotten else { return }
        let (from, to) = (index(end), index(1 - end))
        ends[end].timing += 1
        ends[end].lastArrival = world.now
        for segment in ends[end].inFlight.suffix(moving) {
            let sent = network.transmission(of: segment.bytes, from: from, to: to)
            ends[end].lastArrival = max(ends[end].lastArrival, sent + network.delay(from: from, to: to))
            world.add(.arrival(self, end: end, timing: ends[end].timing), at: ends[end].lastArrival)
        }
    }

    /// The first of what is under way from an end arrives at the other.
    func arrive(from end: Int, _ timing: Int) {
        guard timing == ends[end].timing, ends[end].firstInFlight < ends[end].inFlight.count, !isForgotten else {
            return
        }
        if isHeld(from: end) || ends[1 - end].machine?.isOn == false {
            ends[end].stalled += 1
            if ends[end].stalled == 1 { awaitOpening(end) }
            return
        }
        // What was under way when an address moved is lost.
        guard hasItsAddress(end), hasItsAddress(1 - end) else { return lost(end) }
        let segment = ends[end].inFlight[ends[end].firstInFlight]
        ends[end].firstInFlight += 1
        if ends[end].firstInFlight == ends[end].inFlight.count {
            ends[end].inFlight.removeAll(keepingCapacity: true)
            ends[end].firstInFlight = 0
        }
        guard ends[1 - end].isOpen, let channel = ends[1 - end].channel else {
            // Nobody has this connection: a kernel that is there says so.
            if case .end = segment { return settle() }
            return reset(end)
        }
        if case .bytes(let bytes, _) = segment { ends[1 - end].received += UInt64(bytes.count) }
        channel.take(segment)
    }

    /// An address has moved: its new owner knows nothing of the connection.
    private func lost(_ end: Int) {
        if let owner = network.owner(of: ends[1 - end].address), owner !== ends[1 - end].machine, owner.isOn {
            return reset(end)
        }
        isForgotten = true
    }

    private func awaitOpening(_ end: Int) {
        let (from, to) = (index(end), index(1 - end))
        let opening = isHeld(from: end) ? network.nextOpening(from: from, to: to) : nil
        // Who sleeps, or has no power, is sent to again now and then.
        world.add(.act { self.reopened(end) }, at: opening ?? world.now + SimulationLimits.resendTime)
    }

    /// What waited for a cut to open goes on: what was lost on the way is sent again.
    func reopened(_ end: Int) {
        guard ends[end].stalled > 0, !isGone, !isForgotten else { return }
        if isHeld(from: end) || ends[1 - end].machine?.isOn == false { return awaitOpening(end) }
        var time = world.now
        for _ in 0..<ends[end].stalled {
            time += network.delay(from: index(end), to: index(1 - end)) / 4
            world.add(.arrival(self, end: end, timing: ends[end].timing), at: time)
        }
        ends[end].lastArrival = max(ends[end].lastArrival, time)
        ends[end].stalled = 0
    }

    /// Tells an end that the connection is no more.
    private func reset(_ end: Int) {
        guard let machine = ends[end].machine, let other = ends[1 - end].machine else { return }
        guard !network.isCut(from: other.index, to: machine.index), !isForgotten else { return }
        let delay = machine === other ? 20 : network.delay(from: other.index, to: machine.index)
        world.after(delay) {
            guard self.ends[end].isOpen, self.ends[end].machine?.isOn == true else { return }
            let channel = self.ends[end].channel
            self.ends[end].isOpen = false
            self.ends[end].channel = nil
            self.settle()
            channel?.lost()
        }
    }

    private func settle() {
        guard !isGone, !ends[0].isOpen, !ends[1].isOpen else { return }
        isGone = true
        network.forget(self)
    }
}
