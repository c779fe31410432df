import KithDiscovery
import KithDocument
import KithNetwork
import KithTestSupport

/// Multicast DNS among the machines: who is announced, and who hears of it.
final class Multicast: @unchecked Sendable {
    // Sendable: a run has one thread.

    /// One service instance that some machine's daemon announces.
    struct Record {
        var name: String
        let text: ServiceText
        let tag: String
        let machine: SimulatedMachine
        let port: UInt16
        /// Where it points when that is not at its own machine.
        var falseAddress: NetworkAddress?
        /// When others forget it though nobody took it back; nil while its daemon runs.
        var expiresAt: UInt64?
        /// Lost on its way until then.
        var unheardUntil: UInt64 = 0

        var address: NetworkAddress { (falseAddress ?? machine.address).withPort(port) }

        var addresses: [FoundAddress] { [FoundAddress(address: address, interface: 1, sharesSubnet: true)] }
    }

    let world: World
    let network: SimulatedNetwork
    private(set) var records: [Int: Record] = [:]
    /// The records as they are heard, by number, with the address that they have: made once for all who hear them.
    private var services: [Int: (address: NetworkAddress, service: DiscoveredService)] = [:]
    private var order: [Int] = []
    private var lastNumber = 0
    private var browsers: [ObjectIdentifier: SimulatedDiscovery] = [:]
    private var browserOrder: [ObjectIdentifier] = []
    var random: SeededGenerator

    init(_ network: SimulatedNetwork) {
        self.network = network
        world = network.world
        random = world.generator("multicast")
    }

    /// A record of a node that does not exist, at an address where nobody is.
    func strangerRecord(_ number: Int, tag: String, on machine: SimulatedMachine) -> Record {
        let id = NodeID(bytes: (0..<32).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        return Record(
            name: "nobody \(number)", text: ServiceText(nodeID: id, protocolVersion: 1, tag: tag), tag: tag,
            machine: machine, port: 5_484,
            falseAddress: NetworkAddress(
                ip: [10, 9, UInt8(number >> 8 & 0xff), UInt8(number & 0xff)], interface: 0, port: 0))
    }

    func add(_ record: Record) -> Int {
        lastNumber += 1
        records[lastNumber] = record
        order.append(lastNumber)
        changed()
        return lastNumber
    }

    func change(_ number: Int, _ change: (inout Record) -> Void) {
        guard var record = records[number] else { return }
        change(&record)
        records[number] = record
        services[number] = nil
        changed()
    }

    func remove(_ number: Int) {
        guard records.removeValue(forKey: number) != nil else { return }
        services[number] = nil
        order.removeAll { $0 == number }
        changed()
    }

    /// The numbers of the records of a machine, as they were made.
    func numbers(of machine: SimulatedMachine) -> [Int] { order.filter { records[$0]?.machine === machine } }

    /// The machine is gone without a word: what it announced is believed for a while.
    func vanished(_ machine: SimulatedMachine) {
        for number in numbers(of: machine) {
            records[number]?.expiresAt = world.now + SimulationLimits.recordLife
            world.after(SimulationLimits.recordLife) {
                if let record = self.records[number], let at = record.expiresAt, at <= self.world.now {
                    self.remove(number)
                }
            }
        }
    }

    func browse(_ browser: SimulatedDiscovery) {
        browsers[ObjectIdentifier(browser)] = browser
        browserOrder.append(ObjectIdentifier(browser))
        browser.lookSoon()
    }

    func stopBrowsing(_ browser: SimulatedDiscovery) {
        browsers[ObjectIdentifier(browser)] = nil
        browserOrder.removeAll { $0 == ObjectIdentifier(browser) }
    }

    /// All that was wrong with it is over.
    func heal() {
        for number in order { records[number]?.unheardUntil = 0 }
        for key in browserOrder { browsers[key]?.findDaemon() }
        changed()
    }

    /// Everybody looks anew, each a little later.
    func changed() { for key in browserOrder { browsers[key]?.lookSoon() } }

    /// Whether a machine hears what another one's daemon says.
    func hears(_ listener: SimulatedMachine, _ speaker: SimulatedMachine) -> Bool {
        if listener === speaker { return true }
        return !network.isCut(from: speaker.index, to: listener.index)
            && !network.multicastPartitions.isCut(from: speaker.index, to: listener.index, at: world.now)
    }

    /// A record as whoever hears it shows it.
    func service(_ number: Int, _ record: Record) -> DiscoveredService {
        let address = record.address
        if let known = services[number], known.address == address { return known.service }
        let service = DiscoveredService(
            name: InstanceName(record.name), isPresent: true, interfaces: [1], text: record.text,
            addresses: record.addresses)
        services[number] = (address, service)
        return service
    }

    /// What a machine hears of at the moment, in the order in which it was announced.
    func heard(by machine: SimulatedMachine, tag: String) -> [(number: Int, record: Record)] {
        order.compactMap { number in hear(number, by: machine, tag: tag).map { (number, $0) } }
    }

    /// The first record of a name that a machine hears of.
    func find(_ name: InstanceName, by machine: SimulatedMachine, tag: String) -> Record? {
        let number = order.first { number in
            records[number].map { service(number, $0).name } == name && hear(number, by: machine, tag: tag) != nil
        }
        return number.flatMap { records[$0] }
    }

    private func hear(_ number: Int, by machine: SimulatedMachine, tag: String) -> Record? {
        guard let record = records[number], record.tag == tag, record.unheardUntil <= world.now else { return nil }
        // What was heard once is believed until it expires.
        return record.expiresAt != nil || hears(machine, record.machine) ? record : nil
    }
}

/// Discovery of one process, by the daemon of its machine.
final class SimulatedDiscovery: DiscoveryService, @unchecked Sendable {
    // Sendable: a run has one thread.

    private let process: SimulatedProcess
    private let multicast: Multicast
    private let queue: SimulatedQueue
    private var tag = ""
    private var advertisement: Advertisement?
    private var servicesChanged: (@Sendable ([DiscoveredService]) -> Void)?
    private var stateChanged: (@Sendable (DiscoveryState) -> Void)?
    private var record: Int?
    private var known: [InstanceName: DiscoveredService] = [:]
    private var last: [DiscoveredService] = []
    private var isLookPlanned = false
    private var isDown = false
    private(set) var state: DiscoveryState

    init(_ process: SimulatedProcess, _ multicast: Multicast) {
        self.process = process
        self.multicast = multicast
        queue = process.makeQueue("discovery")
        state = DiscoveryState(phase: .off, since: 0, lastError: nil, foreignGroups: 0, instanceName: nil)
    }

    func start(
        tag: String, advertising: Advertisement?,
        onServicesChanged: @escaping @Sendable ([DiscoveredService]) -> Void,
        onStateChanged: @escaping @Sendable (DiscoveryState) -> Void
    ) throws(DiscoveryError) {
        self.tag = tag
        advertisement = advertising
        servicesChanged = onServicesChanged
        stateChanged = onStateChanged
        process.machine.discoveries.append(self)
        set(.searching)
        queue.async(afterMilliseconds: multicast.random.within(200...1_500)) { self.announce() }
        multicast.browse(self)
        lookFromTimeToTime()
    }

    private func announce() {
        guard let advertisement, process.isAlive, !isDown, record == nil else { return }
        let record = Multicast.Record(
            name: advertisement.instanceName(),
            text: ServiceText(nodeID: advertisement.nodeID, protocolVersion: advertisement.protocolVersion, tag: tag),
            tag: tag, machine: process.machine, port: advertisement.port)
        self.record = multicast.add(record)
        set(.advertised)
    }

    /// The daemon gives its instance another name, as after a collision, and says so.
    func rename() {
        guard let record else { return }
        multicast.change(record) { $0.name += " #2" }
        set(.advertised)
    }

    private func set(_ phase: DiscoveryState.Phase, _ error: String? = nil) {
        state = DiscoveryState(
            phase: phase, since: UInt64(max(0, process.machine.clock.wallMilliseconds)), lastError: error,
            foreignGroups: 0, instanceName: record.flatMap { multicast.records[$0]?.name })
        let state = state
        queue.async { self.stateChanged?(state) }
    }

    func stop(completion: @escaping @Sendable () -> Void) {
        queue.async {
            self.end()
            self.set(.off)
            completion()
        }
    }

    /// The machine is gone without a word.
    func vanish() {
        multicast.stopBrowsing(self)
        if record != nil { multicast.vanished(process.machine) }
        record = nil
        servicesChanged = nil
    }

    /// Nobody hears of the process any more, and it of nobody.
    func end() {
        multicast.stopBrowsing(self)
        if let record { multicast.remove(record) }
        record = nil
        servicesChanged = nil
        process.machine.discoveries.removeAll { $0 === self }
    }

    func resolve(
        _ name: InstanceName, completion: @escaping @Sendable (Result<Resolution, DiscoveryError>) -> Void
    ) {
        guard !isDown, let record = multicast.find(name, by: process.machine, tag: tag), record.machine.isOn,
            multicast.hears(process.machine, record.machine)
        else {
            return queue.async(afterMilliseconds: 5_000) { completion(.failure(.unresolved("\(name)"))) }
        }
        queue.async(afterMilliseconds: multicast.random.within(1...30)) {
            completion(.success(Resolution(text: record.text, addresses: record.addresses)))
        }
    }

    func refresh() { lookSoon() }

    /// The daemon of the machine is gone for a while.
    func loseDaemon(forMilliseconds milliseconds: Int) {
        guard !isDown else { return }
        isDown = true
        if let record { multicast.remove(record) }
        record = nil
        set(.unavailable, "the daemon is gone")
        look()
        queue.async(afterMilliseconds: milliseconds) { self.findDaemon() }
    }

    /// The daemon of the machine is there again.
    func findDaemon() {
        guard isDown, servicesChanged != nil else { return }
        isDown = false
        set(.searching)
        announce()
        lookSoon()
    }

    // MARK: Looking

    func lookSoon() {
        guard !isLookPlanned, servicesChanged != nil else { return }
        isLookPlanned = true
        queue.async(afterMilliseconds: multicast.random.within(200...600)) {
            self.isLookPlanned = false
            self.look()
        }
    }

    private func lookFromTimeToTime() {
        queue.async(afterMilliseconds: multicast.random.within(20_000...60_000)) {
            guard self.servicesChanged != nil else { return }
            self.lookSoon()
            self.lookFromTimeToTime()
        }
    }

    /// Of what is gone only so much is remembered, as by a daemon.
    private func forgetOldest() {
        let gone = known.values.filter { !$0.isPresent }
        guard gone.count > SimulationLimits.goneServices else { return }
        for service in gone.sorted(by: { $0.name < $1.name }).dropFirst(SimulationLimits.goneServices) {
            known[service.name] = nil
        }
    }

    private func look() {
        let heard =
            isDown || process.machine.deafUntil > multicast.world.now
            ? [] : multicast.heard(by: process.machine, tag: tag)
        var present: Set<InstanceName> = []
        // Its own is not news; what others say under its name is.
        for (number, record) in heard where number != self.record {
            let service = multicast.service(number, record)
            present.insert(service.name)
            known[service.name] = service
        }
        for (name, service) in known where service.isPresent && !present.contains(name) {
            known[name] = DiscoveredService(
                name: name, isPresent: false, interfaces: [1], text: service.text, addresses: service.addresses)
        }
        forgetOldest()
        let services = known.values.sorted { $0.name < $1.name }
        guard services != last else { return }
        last = services
        servicesChanged?(services)
    }
}

/// The one network that a simulated machine is on.
struct SimulatedNetworkView: NetworkView {
    let process: SimulatedProcess

    func interfaces() -> [Interface] {
        [
            Interface(
                index: 1, name: "eth0", isLoopback: false, ip: process.machine.address.ip, prefixLength: 8)
        ]
    }

    func watch(onGain: @escaping @Sendable () -> Void) -> any Sendable {
        let process = process
        let queue = process.makeQueue("network")
        process.machine.watchers.append {
            if process.isAlive { queue.async(onGain) }
        }
        return 0
    }
}
