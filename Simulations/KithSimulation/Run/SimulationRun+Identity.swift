import KithDocument
import KithNetwork
import KithNode
import KithStore
import KithSystem
import KithTransport
import KithVirtualDisk

// Backups put back, disks copied and moved, and who belongs to the group.

extension SimulationRun {
    func strikeIdentity(_ fault: Fault) throws -> Bool {
        guard let node = node(fault.node), !node.isAbsent || fault.kind == .keep else { return false }
        let until = end(of: fault)
        switch fault.kind {
        case .backup:
            images[node.index] = DiskImage(
                disk: node.machine.disk.copied(), replicas: replicas(of: node), id: node.id,
                machineID: node.machine.machineID, isDamaged: node.isDamaged)
        case .restore:
            guard let image = images[node.index] else { return false }
            kill(node, losesPower: false)
            for database in 0..<plan.databases { forget(Model.Place(node: node.index, database: database)) }
            node.machine.disk.restore(image.disk)
            for (database, replica) in image.replicas.enumerated() {
                model[Model.Place(node: node.index, database: database)].goBack(to: replica, at: now)
            }
            node.isDamaged = image.isDamaged
            node.calls = [:]
            note(.putBack)
            world.add(.act { self.start(node) }, at: max(until, now + 1_000))
        case .clone:
            guard nodes.indices.contains(fault.other), case let copy = nodes[fault.other], copy.isAbsent else {
                return false
            }
            copy.machine.disk.restore(node.machine.disk)
            if fault.count == 0 { setMachineID(of: copy) }
            copy.id = node.id
            copy.isAbsent = false
            copy.isClone = true
            copy.isDamaged = node.isDamaged
            for (database, replica) in replicas(of: node).enumerated() {
                model[Model.Place(node: copy.index, database: database)] = replica
            }
            note(.cloned)
            start(copy)
        case .move:
            kill(node, losesPower: false)
            node.machine.renew()
            node.machine.move(to: newAddress())
            setMachineID(of: node)
            node.isMoved = true
            note(.moved)
            world.after(1_000_000) { self.start(node) }
        case .keep: keep(node)
        case .wipe:
            kill(node, losesPower: false)
            for database in 0..<plan.databases { forget(Model.Place(node: node.index, database: database)) }
            try makeAnew(node)
            note(.wiped)
            world.add(.act { self.start(node) }, at: max(until, now + 1_000))
        default: return false
        }
        return true
    }

    private func replicas(of node: SimulatedNode) -> [ReplicaModel] {
        (0..<plan.databases).map { model[Model.Place(node: node.index, database: $0)] }
    }

    /// The machine's own doing: nothing on its disk is in the way.
    private func setMachineID(of node: SimulatedNode) {
        node.machine.disk.put(node.machineIDFile, Array((node.machine.machineID + "\n").utf8))
    }

    /// Somebody says that this is the one to keep: it speaks again. Its copies end.
    func keep(_ node: SimulatedNode) {
        for copy in nodes where copy.isClone && copy !== node && copy.id == node.id { endClone(copy) }
        guard node.isMoved, let running = node.node else { return }
        node.isMoved = false
        running.queue.async { running.keepMachine { _ in } }
    }

    /// A copy of a node ends for good: what it had alone is gone.
    func endClone(_ copy: SimulatedNode) {
        kill(copy, losesPower: false)
        for database in 0..<plan.databases { forget(Model.Place(node: copy.index, database: database)) }
        copy.isAbsent = true
        copy.isClone = false
    }

    /// An empty disk, and another identity that joins as a new node does.
    func makeAnew(_ node: SimulatedNode) throws {
        node.machine.renewDisk()
        node.id = try group.makeID(node.index)
        node.isDamaged = false
        node.isMoved = false
        node.calls = [:]
        for database in 0..<plan.databases { model[Model.Place(node: node.index, database: database)] = ReplicaModel() }
        group.takeMembership(from: nodes.first { $0.isRunning && !$0.isOutsider && $0 !== node }?.node)
        try install(node, databases: [])
    }

    func newAddress() -> NetworkAddress {
        lastAddress += 1
        return NetworkAddress(ip: [10, 1, UInt8(lastAddress >> 8), UInt8(lastAddress & 0xff)], interface: 0, port: 0)!
    }

    // MARK: Membership

    func strikeMembership(_ fault: Fault) throws -> Bool {
        guard let node = node(fault.node) else { return false }
        switch fault.kind {
        case .join:
            guard node.isAbsent, node.index < plan.nodes else { return false }
            node.isAbsent = false
            start(node)
            note(.joined)
        case .leave:
            guard node.isRunning, node.index > 0 else { return false }
            for database in 0..<plan.databases { forget(Model.Place(node: node.index, database: database)) }
            node.isOutsider = true
            node.outsiderSince = now
            stop(node) { node.isAbsent = true }
            note(.left)
        case .revoke:
            guard node.index > 0, let admin = nodes[0].node, nodes[0].isRunning, !node.isOutsider else { return false }
            for database in 0..<plan.databases { forget(Model.Place(node: node.index, database: database)) }
            node.isOutsider = true
            node.outsiderSince = now
            let (id, root) = (node.id, group.rootForRevoking)
            admin.queue.async {
                _ = try? admin.revoke(id.description, root: root, isDryRun: false)
            }
            note(.revoked)
        case .role:
            guard nodes[0].isRunning, node.index > 0, let role = Role(fault.text) else { return false }
            setRole(role, of: node)
        default: return false
        }
        return true
    }

    /// An admin says what a node may do.
    func setRole(_ role: Role, of node: SimulatedNode) {
        guard let admin = nodes[0].node else { return }
        let id = node.id
        admin.queue.async {
            try? admin.setRole(role, of: id.description) { _ in }
        }
    }

    // MARK: What may be gone

    /// What a place holds is lost, as the fault means it: writes that are nowhere else need not come back.
    func forget(_ place: Model.Place) { model.lose(place, besides: places(of: place.database)) }

    /// The places of a database that hold what they hold.
    func places(of database: Int) -> [Model.Place] {
        nodes.filter { !$0.isDamaged && !$0.isOutsider && !$0.isAbsent }.map {
            Model.Place(node: $0.index, database: database)
        }
    }
}
