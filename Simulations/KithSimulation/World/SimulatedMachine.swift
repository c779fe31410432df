import KithNetwork
import KithTestSupport
import KithVirtualDisk

/// A machine of the simulated network: its disk, its clocks, its address, and what its kernel holds for processes.
final class SimulatedMachine: @unchecked Sendable {
    // Sendable: a run has one thread.

    let index: Int
    let world: World
    let network: SimulatedNetwork
    let clock: SimulatedClock
    let disk = VirtualDisk()
    let trouble: DiskTrouble
    /// What stands in /etc/machine-id.
    private(set) var machineID: String
    private(set) var address: NetworkAddress
    var listeners: [UInt16: SimulatedListener] = [:]
    /// Its kernel answers.
    private(set) var isPowered = true
    private(set) var sleepsUntil: UInt64 = 0
    /// Connections that it is asked for are not answered before this time.
    var hangsUntil: UInt64 = 0
    /// It hears no announcements before this time.
    var deafUntil: UInt64 = 0
    /// The processes on it that look for others.
    var discoveries: [SimulatedDiscovery] = []
    /// Called when it gets another address.
    var watchers: [() -> Void] = []
    private var random: SeededGenerator

    init(_ index: Int, _ world: World, _ network: SimulatedNetwork) {
        self.index = index
        self.world = world
        self.network = network
        random = world.generator("machine", index)
        trouble = DiskTrouble(world.generator("disk", index))
        clock = SimulatedClock(world, startedBefore: UInt64(random.within(1...1_000_000)) * 1_000)
        machineID = Self.drawID(&random)
        address = NetworkAddress(ip: [10, 0, UInt8(index >> 8), UInt8(index & 0xff)], interface: 0, port: 0)!
        network.assign(address, to: self)
        let trouble = trouble
        disk.plan = { trouble.outcome(of: $0) }
        disk.tossCoins(world.generator("failed synchronisations", index))
    }

    /// Whether its disk does what it says.
    var hasGoodDisk: Bool { trouble.isWell && !disk.isReadOnly && disk.capacity == nil }

    /// Whether its kernel takes and sends packets now.
    var isOn: Bool { isPowered && world.now >= sleepsUntil }

    func setPower(_ isOn: Bool) {
        isPowered = isOn
        if !isOn { listeners = [:] }
    }

    /// It sleeps until then: nothing runs and nobody answers.
    func sleep(until time: UInt64) {
        sleepsUntil = max(sleepsUntil, time)
        clock.sleep(until: time)
    }

    /// All that was wrong with it is over.
    func mend() {
        trouble.mend()
        disk.capacity = nil
        disk.isReadOnly = false
        hangsUntil = 0
        deafUntil = 0
        sleepsUntil = min(sleepsUntil, world.now)
        clock.wake()
        setPower(true)
    }

    /// It is another machine from now on, with the same disk.
    func renew() { machineID = Self.drawID(&random) }

    private static func drawID(_ random: inout SeededGenerator) -> String {
        String((0..<32).map { _ in Array("0123456789abcdef")[random.within(1...15)] })
    }

    /// It has another address from now on.
    func move(to address: NetworkAddress) {
        self.address = address
        network.assign(address, to: self)
        for watcher in watchers { watcher() }
    }

    func listener(atPort port: UInt16) -> SimulatedListener? {
        guard let listener = listeners[port], listener.isListening else { return nil }
        return listener
    }

    /// How long the calls of the disk took since the last time, in microseconds.
    func takeDiskTime() -> UInt64 { UInt64(disk.takeElapsed()) }
}
