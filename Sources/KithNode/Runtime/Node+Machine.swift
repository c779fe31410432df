import Dispatch
import KithDiscovery
import KithDocument
import KithNetwork
import KithReplication
import KithStore
import KithSystem
import KithTransport

// A directory that finds itself on another machine: the node runs, but speaks to nobody until somebody has said whether it
// was moved or copied.

extension Node {
    /// Looks whether this is the machine that the directory was used on before; else the node is held.
    func checkMachine() throws(NodeError) {
        let (directory, file) = (configuration.directory.path, configuration.machineIDFile)
        let disk = configuration.machine.files
        switch try MachineIdentity.state(of: directory, file: file, on: disk) {
        case .same, .unknown: break
        case .unrecorded: try MachineIdentity.record(in: directory, file: file, on: disk)
        case .changed:
            #if KITH_MUTANTS
            if Mutant.isActive(.ignoresMachine) { return }
            #endif
            setHeld(true)
            log(
                .error, .node,
                "this directory was used on another machine before: nothing is replicated until you say whether it was moved "
                    + "(kith identity keep) or copied (kith stop, kith identity reset)", ["data": directory])
        }
    }

    /// The directory was moved here: this is its machine from now on. Calls back on the queue when that is on disk.
    package func keepMachine(then: @escaping @Sendable (NodeError?) -> Void) {
        let (directory, file) = (configuration.directory.path, configuration.machineIDFile)
        let disk = configuration.machine.files
        files.async {
            var failure: NodeError?
            do throws(NodeError) { try MachineIdentity.record(in: directory, file: file, on: disk) } catch {
                failure = error
            }
            self.queue.async { [failure] in
                if failure == nil { self.endHold() }
                then(failure)
            }
        }
    }

    private func endHold() {
        guard isHeld else { return }
        setHeld(false)
        log(.info, .node, "this machine is the node's from now on")
        startDiscovery()
        schedule.startOver()
        book.hurry(nil)
        evaluate()
    }

    /// What peers are told while the node is held.
    static let heldText = "it finds itself on another machine, and waits there for kith identity keep or reset"
}

// Two nodes with one identity.

extension Node {
    /// Draws the number of this process, and keeps those of earlier ones.
    func beginInstance() throws(NodeError) {
        let (directory, disk) = (configuration.directory.path, configuration.machine.files)
        let earlier = try SpareFile.instances.read(in: directory, on: disk).lines.compactMap { UInt64($0, radix: 16) }
            .suffix(NodeLimits.instances)
        twins = TwinBook(node: id, instance: instance, earlier: Array(earlier), startedAt: startedAt)
        let kept = (earlier + [instance]).suffix(NodeLimits.instances)
        let lines = kept.map { String($0, radix: 16) }
        do throws(NodeError) { try SpareFile.instances.write(lines, in: directory, on: disk) } catch {
            // A node starts on a full disk too, and tries again later. Until then its next start, should the clock be set back
            // meanwhile, may take what peers still say of this process for a twin's.
            log(.warning, .node, error.message)
            unkeptInstances = lines
        }
    }

    /// Writes which processes there were, where that failed at the start.
    func keepInstances() {
        guard unkeptInstances != nil else { return }
        keepSoon(.instances) {
            guard let lines = self.unkeptInstances else { return nil }
            return Writing(content: SpareFile.content(lines)) { failure in
                if failure == nil { self.unkeptInstances = nil }
            }
        }
    }

    /// A link that is not to be used.
    struct Greeting {
        /// The process of the peer that is known to have answered since the link was made; 0 for none.
        var beside: UInt64 = 0
        /// What was dialled.
        var address: Endpoint?
    }

    /// Hears of a link that is not to be used what process is at its other end.
    func greet(_ driver: LinkDriver, _ greeting: Greeting) {
        greetings[driver.id] = greeting
        driver.greet()
    }

    /// Something happened on a link that is not to be used.
    func heardGreeting(_ event: LinkEvent, from driver: LinkDriver) {
        guard let greeting = greetings[driver.id] else { return }
        switch event {
        case .opened(let description):
            if isOfTwin(driver, greeting, saying: description.instance) { return }
            greetings[driver.id] = nil
            let text =
                driver.peer.nodeID == id ? "a node needs no link with itself" : "another link to this node stays"
            driver.post(.stop(Goodbye(code: .replaced, text: text)))
        case .heartbeat:
            // Without an answer the hello may have been the last word of a process that is gone.
            greetings[driver.id] = nil
            turnAwayTwin(driver, at: greeting.address)
        default: break
        }
    }

    /// Whether the process at the other end is another one than the one that answers over the link in use, or is not this one.
    /// A second link to the same process is nothing: a node does not know whom it will reach at an address, nor always whether
    /// its link still lives.
    private func isOfTwin(_ driver: LinkDriver, _ greeting: Greeting, saying other: UInt64) -> Bool {
        #if KITH_MUTANTS
        if Mutant.isActive(.takesSecondLinksForTwins) { return true }
        #endif
        if driver.peer.nodeID == id { return !twins.isItself(over: driver.tieBreak) }
        return greeting.beside != 0 && other != 0 && other != greeting.beside
    }

    private func turnAwayTwin(_ driver: LinkDriver, at address: Endpoint?) {
        let (peer, now) = (driver.peer.nodeID, clock.now)
        twins.note(peer, now: now)
        if let address { book.reachedTwin(at: address, now: now.milliseconds) }
        let place = linkInUse(to: peer)?.connection.remote ?? "another address"
        counters.linksTurnedAway += 1
        log(
            .warning, .mesh, "turned a link away: another node runs with the same identity",
            ["peer": peer.short, "address": driver.connection.remote, "other": place])
        let text =
            "another node runs with this identity, at \(place): make the copy a new node with kith identity reset"
        driver.post(.stop(Goodbye(code: .duplicate, text: text)))
        evaluate()
    }

    /// A peer says that another node runs with this node's identity: it is not asked again all the time.
    func turnedAwayAsTwin(by peer: NodeID) {
        let now = clock.now
        twins.note(id, now: now)
        schedule.putOff(.node(peer), until: now.advanced(byMilliseconds: NodeLimits.twinDialMilliseconds))
    }

    /// Somebody announces this node's id. Anybody may: only who answers a dial with this node's key is a twin.
    func lookAtTwins(_ services: [DiscoveredService]) {
        let addresses = services.flatMap { $0.addresses.map { Endpoint.numeric($0.address) } }
            .prefix(NodeLimits.announcedAsSelf)
        guard Array(addresses) != announcedAsSelf else { return }
        announcedAsSelf = Array(addresses)
        for service in services {
            let places = service.addresses.map(\.address.description).joined(separator: ", ")
            log(.info, .discovery, "\(service.name) announces this node's own id at \(places)")
        }
        book.setStatic(staticPeers + announcedAsSelf)
    }

    /// Whether something shows that another node runs with this node's identity.
    func hasTwin(now: Instant) -> Bool { twins.all(now: now).contains(id) }
}
