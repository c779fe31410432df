import KithNode
import KithSystem
import KithTestSupport
import KithVirtualDisk

// What goes wrong. Each kind of fault is one case here or in the files beside this one, one in `Fault.Kind`, and one in the
// generator.

extension SimulationRun {
    func carryOut(_ fault: Fault) throws {
        if fault.kind != .pace { line(nil, "fault", PlanItem(time: 0, action: .fault(fault)).text) }
        // Nil: counted when it strikes.
        let isDone: Bool? =
            switch fault.kind.area {
            case .network: strikeNetwork(fault)
            case .discovery: strikeDiscovery(fault)
            case .node: strikeProcess(fault)
            case .disk: strikeDisk(fault)
            case .identity: try strikeIdentity(fault)
            case .membership: try strikeMembership(fault)
            case .clock: strikeClock(fault)
            case .peer: try strikePeer(fault)
            }
        switch isDone {
        case true?: carriedOut.add(fault.kind.rawValue)
        case false?: line(nil, "no-fault", fault.kind.rawValue)
        case nil: break
        }
    }

    /// The time at which something that lasts is over.
    func end(of fault: Fault) -> UInt64 { now + UInt64(max(0, fault.milliseconds)) * 1_000 }

    func node(_ index: Int) -> SimulatedNode? { nodes.indices.contains(index) ? nodes[index] : nil }

    // MARK: Network

    private func strikeNetwork(_ fault: Fault) -> Bool {
        let until = end(of: fault)
        switch fault.kind {
        case .pace:
            for (from, to) in links(fault) {
                network.setPace(from: from, to: to) { pace in
                    pace.delay = fault.low...max(fault.low, fault.high)
                    pace.segment = max(1, fault.size)
                }
            }
        case .rate: for (from, to) in links(fault) { network.setPace(from: from, to: to) { $0.rate = fault.size } }
        case .isolate: separate(until: until) { ($0 == fault.node) != ($1 == fault.node) }
        case .halves: separate(until: until) { fault.nodes.contains($0) != fault.nodes.contains($1) }
        case .bridge:
            separate(until: until) { one, other in
                one != fault.node && other != fault.node && fault.nodes.contains(one) != fault.nodes.contains(other)
            }
        case .majorities:
            let count = machines.count
            // Each sees those nearest to it in the ring, itself among the majority.
            let reach = (count / 2 + 1) / 2
            separate(until: until) { one, other in
                let distance = abs(one - other)
                return min(distance, count - distance) > reach
            }
        case .star: separate(until: until) { $0 != fault.node && $1 != fault.node }
        case .oneway:
            for (from, to) in links(fault) { network.partitions.cut(from: from, to: to, since: now, until: until) }
        case .clog:
            for (from, to) in links(fault) { network.clogs.cut(from: from, to: to, since: now, until: until) }
        case .flap:
            let period = UInt64(max(1, fault.size)) * 1_000
            for (from, to) in [(fault.node, fault.other), (fault.other, fault.node)] {
                network.partitions.cut(from: from, to: to, since: now, until: until, period: period)
            }
        case .swizzle: swizzle(fault)
        case .reset: return strike(connections(fault)) { $0.resetBoth() }
        case .halfopen: return strike(connections(fault)) { $0.isForgotten = true }
        case .truncate, .corrupt:
            return strike(connections(fault)) { connection in
                guard let end = connection.ends.firstIndex(where: { $0.machine?.index == fault.node }) else { return }
                if fault.kind == .truncate { connection.truncate(end) } else { connection.corrupt(end) }
            }
        case .dial:
            guard let one = node(fault.node)?.node, let other = node(fault.other)?.node else { return false }
            let (oneID, otherID) = (nodes[fault.node].id, nodes[fault.other].id)
            one.queue.async { one.dialNow(otherID) }
            other.queue.async { other.dialNow(oneID) }
        case .hang: machines[fault.node].hangsUntil = until
        case .readdress: machines[fault.node].move(to: newAddress())
        case .takeover:
            let address = machines[fault.node].address
            machines[fault.node].move(to: newAddress())
            machines[fault.other].move(to: address)
        default: return false
        }
        return true
    }

    /// - Returns: whether there was any.
    private func strike<Struck>(_ all: [Struck], _ body: (Struck) -> Void) -> Bool {
        for one in all { body(one) }
        return !all.isEmpty
    }

    private func links(_ fault: Fault) -> [(from: Int, to: Int)] {
        fault.links(nodes: machines.count).filter {
            machines.indices.contains($0.from) && machines.indices.contains($0.to)
        }
    }

    private func connections(_ fault: Fault) -> [SimulatedConnection] {
        links(fault).flatMap { network.connections(between: $0.from, and: $0.to) }
    }

    private func separate(until time: UInt64, where isApart: (Int, Int) -> Bool) {
        network.partitions.separate(machines: machines.indices, since: now, until: time, where: isApart)
        multicast.changed()
        world.add(.act { self.multicast.changed() }, at: time + 1)
    }

    /// Cuts the nodes one by one in the first half of the time, and joins them in another order in the second.
    private func swizzle(_ fault: Fault) {
        let chosen = fault.nodes.isEmpty ? Array(nodes.indices) : fault.nodes.members
        let half = UInt64(max(2, fault.milliseconds)) * 500
        let (leaving, returning) = (swizzles.shuffle(chosen), swizzles.shuffle(chosen))
        for (place, index) in leaving.enumerated() {
            let since = now + half * UInt64(place) / UInt64(max(1, chosen.count))
            let back = returning.firstIndex(of: index) ?? 0
            let until = now + half + half * UInt64(back + 1) / UInt64(max(1, chosen.count))
            for other in machines.indices where other != index {
                network.partitions.cut(from: index, to: other, since: since, until: until)
                network.partitions.cut(from: other, to: index, since: since, until: until)
            }
        }
    }

    // MARK: Discovery

    private func strikeDiscovery(_ fault: Fault) -> Bool {
        let until = end(of: fault)
        switch fault.kind {
        case .unheard:
            world.add(.act { self.multicast.changed() }, at: until + 1)
            return strike(multicast.numbers(of: machines[fault.node])) { number in
                multicast.change(number) { $0.unheardUntil = until }
            }
        case .deaf:
            machines[fault.node].deafUntil = until
            for discovery in machines[fault.node].discoveries { discovery.lookSoon() }
            world.add(
                .act { for discovery in self.machines[fault.node].discoveries { discovery.lookSoon() } }, at: until + 1)
        case .duplicate:
            guard let number = multicast.numbers(of: machines[fault.node]).first, var record = multicast.records[number]
            else { return false }
            record.name += " (once more)"
            let made = multicast.add(record)
            world.after(30_000_000) { self.multicast.remove(made) }
        case .goodbye:
            world.after(3_000_001) { self.multicast.changed() }
            return strike(multicast.numbers(of: machines[fault.node])) { number in
                multicast.change(number) { $0.unheardUntil = self.now + 3_000_000 }
            }
        case .rename:
            return strike(machines[fault.node].discoveries) { $0.rename() }
        case .daemon:
            return strike(machines[fault.node].discoveries) {
                $0.loseDaemon(forMilliseconds: max(1, fault.milliseconds))
            }
        case .impostor:
            guard let number = multicast.numbers(of: machines[fault.node]).first, var record = multicast.records[number]
            else { return false }
            record.name += " (again)"
            record.falseAddress = machines[fault.other].address
            let made = multicast.add(record)
            world.add(.act { self.multicast.remove(made) }, at: max(until, now + 30_000_000))
        case .flood:
            let tag = group.tag
            let made = (0..<max(1, fault.count)).map { number in
                multicast.add(multicast.strangerRecord(number, tag: tag, on: machines[0]))
            }
            world.add(.act { for number in made { self.multicast.remove(number) } }, at: max(until, now + 30_000_000))
        case .split:
            network.multicastPartitions.separate(machines: machines.indices, since: now, until: until) { one, other in
                fault.nodes.contains(one) != fault.nodes.contains(other)
            }
            multicast.changed()
            world.add(.act { self.multicast.changed() }, at: until + 1)
        default: return false
        }
        return true
    }

    // MARK: Processes

    private func strikeProcess(_ fault: Fault) -> Bool {
        guard let node = node(fault.node), !node.isAbsent else { return false }
        let until = end(of: fault)
        switch fault.kind {
        case .stop:
            guard node.isRunning else { return false }
            // Who was paused when it was told to ends only after all else is healed.
            stop(node) {
                self.world.add(.act { self.start(node) }, at: self.isHealed ? self.now : max(until, self.now))
            }
        case .kill, .power:
            kill(node, losesPower: fault.kind == .power)
            world.add(.act { self.start(node) }, at: until)
        case .pause:
            guard let process = node.process else { return false }
            process.pause(until: until)
        case .suspend:
            node.machine.sleep(until: until)
            node.process?.pause(until: until)
            world.add(.act { self.multicast.changed() }, at: until + 1)
        case .crash:
            guard node.isRunning else { return false }
            crash(node, atCall: max(1, fault.count), back: UInt64(max(1, fault.milliseconds)) * 1_000)
        default: return false
        }
        return true
    }

    /// The power goes at a call of the disk to come.
    private func crash(_ node: SimulatedNode, atCall count: Int, back: UInt64) {
        let machine = node.machine
        machine.trouble.powerGoesAt = machine.disk.changes + count
        machine.trouble.powerHasGone = { [unowned self] in
            // The call is still under way, and whoever made it is told that it failed.
            node.badDiskUntil = max(node.badDiskUntil, now + 1_000)
            markPowerGone(node)
            world.after(0) {
                node.interrupted = Set(0..<self.plan.databases)
                self.kill(node, losesPower: true)
                self.world.after(back) { self.start(node) }
            }
        }
    }

    // MARK: Clocks

    private func strikeClock(_ fault: Fault) -> Bool {
        guard machines.indices.contains(fault.node) else { return false }
        switch fault.kind {
        case .skew: machines[fault.node].clock.setWall(offBy: Int64(fault.milliseconds))
        case .drift: machines[fault.node].clock.setDrift(partsPerMillion: Int64(fault.size))
        default: return false
        }
        return true
    }
}
