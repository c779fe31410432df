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
        guard let node = node(fault.node), !node.isAbsent else { return false }
        let until = end(of: fault)
        switch fault.kind {
        case .backup:
            images.updateValue(
                DiskImage(disk: node.machine.disk.copied(), of: node, replicas: replicas(of: node)), forKey: node.index
            )?.disk.discard()
        case .restore:
            guard let image = images[node.index] else { return false }
            kill(node, losesPower: false)
            for database in 0..<plan.databases { forget(Model.Place(node: node.index, database: database)) }
            image.put(on: node)
            for (database, replica) in image.replicas.enumerated() {
                model.bringBack(Model.Place(node: node.index, database: database), replica, at: now)
            }
            note(.putBack)
            // It knows nothing of its processes since, and may take what still goes round of them for a twin's.
            doubledAt[node.id] = now
            world.add(.act { self.start(node) }, at: max(until, now + 1_000))
        case .clone:
            guard nodes.indices.contains(fault.other), case let copy = nodes[fault.other], copy.isAbsent else {
                return false
            }
            let image = DiskImage(disk: node.machine.disk, of: node, replicas: replicas(of: node))
            image.put(on: copy)
            if fault.count == 0 { setMachineID(of: copy) }
            // The program was copied, too.
            copy.version = node.version.map { ($0.skew, now) }
            copy.isAbsent = false
            copy.isMoved = node.isMoved || fault.count == 0 && knowsItsMachine(copy)
            for (database, replica) in image.replicas.enumerated() {
                let place = Model.Place(node: copy.index, database: database)
                model[place] = replica
                model[place].beginAnew()
            }
            note(.cloned)
            start(copy)
        case .move:
            kill(node, losesPower: false)
            node.machine.renew()
            node.machine.move(to: newAddress())
            setMachineID(of: node)
            node.isMoved = knowsItsMachine(node)
            note(.moved)
            world.after(1_000_000) { self.start(node) }
        case .keep:
            // Node 0 is the admin that lets others in.
            guard twins(of: node).allSatisfy({ $0.index > 0 }) else { return false }
            try keep(node)
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

    /// Whether the directory has been used on a machine that has an id: else nothing tells it that it is on another one.
    private func knowsItsMachine(_ node: SimulatedNode) -> Bool {
        node.machine.disk.files.exists(node.directory + "/" + IdentityStore.machineName)
    }

    /// The others that have the identity of a node.
    func twins(of node: SimulatedNode) -> [SimulatedNode] {
        nodes.filter { $0 !== node && $0.id == node.id && !$0.isAbsent }
    }

    /// Somebody says that this is the one to keep: it speaks again. Who else has its identity becomes a node of its own.
    func keep(_ node: SimulatedNode) throws {
        for copy in twins(of: node) { try makeNodeOfItsOwn(copy) }
        guard node.isMoved, let running = node.node else { return }
        let incarnation = node.incarnation
        running.queue.async {
            running.keepMachine { [weak self] failure in
                guard let self, node.incarnation == incarnation else { return }
                if failure == nil { return node.isMoved = false }
                if hasBadDisk(node) || node.isDamaged { return }
                world.fail(Violation(.noErrorFromInside, "node \(node.index): keep: \(failure?.message ?? "")"))
            }
        }
    }

    /// A copy of a node gets an identity of its own and joins with what it holds, as its owner is told to do.
    func makeNodeOfItsOwn(_ copy: SimulatedNode) throws {
        kill(copy, losesPower: false)
        guard !copy.isDamaged else { return try makeAnew(copy) }
        copy.machine.disk.sparesCalls = true
        defer { copy.machine.disk.sparesCalls = false }
        _ = try NodeSetup.reset(try NodeDirectory(option: copy.directory), on: copy.machine.disk.start())
        try takeIdentity(copy)
        note(.separated)
        world.after(1_000_000) { self.start(copy) }
    }

    /// Another identity, and what a node knows of its group when it joins.
    private func takeIdentity(_ node: SimulatedNode) throws {
        for twin in twins(of: node) { twin.hadCopyAt = now }
        node.id = try group.makeID(node.index)
        node.isMoved = false
        group.takeMembership(from: nodes.first { $0.isRunning && !$0.isOutsider && $0 !== node }?.node)
        try install(node, databases: [])
    }

    /// An empty disk, and another identity that joins as a new node does.
    func makeAnew(_ node: SimulatedNode) throws {
        let empty = VirtualDisk()
        node.take(empty)
        empty.discard()
        for database in 0..<plan.databases { model[Model.Place(node: node.index, database: database)] = ReplicaModel() }
        try takeIdentity(node)
    }

    /// What was on a disk at some time, and what the simulation knew of its node then.
    struct DiskImage {
        let disk: VirtualDisk
        let replicas: [ReplicaModel]
        private let id: NodeID
        private let isDamaged: Bool
        private let isMoved: Bool
        private let doubtful: [ClientCall]
        private let interrupted: Set<Int>

        init(disk: VirtualDisk, of node: SimulatedNode, replicas: [ReplicaModel]) {
            self.disk = disk
            self.replicas = replicas
            id = node.id
            isDamaged = node.isDamaged
            isMoved = node.isMoved
            doubtful = node.doubtful + node.calls.values
            interrupted = node.interrupted
        }

        /// The node has it on its disk from now on, and the same is so of it.
        func put(on node: SimulatedNode) {
            node.take(disk)
            node.id = id
            node.isDamaged = isDamaged
            node.isMoved = isMoved
            node.doubtful = doubtful
            node.interrupted = interrupted
        }
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
            askAdmin { (done) throws(ControlError) in
                _ = try admin.revoke(id.description, root: root, isDryRun: false)
                admin.whenMembershipIsKept { [weak self] isKept in
                    if isKept { self?.revoked.append(id) }
                    done(isKept ? nil : ControlError(.failed, "a revocation can't be kept"))
                }
            }
            note(.revoked)
        case .role:
            guard nodes[0].isRunning, node.index > 0, !node.isOutsider, let role = Role(fault.text) else {
                return false
            }
            setRole(role, of: node)
        default: return false
        }
        return true
    }

    /// An admin says what a node may do.
    func setRole(_ role: Role, of node: SimulatedNode) {
        guard let admin = nodes[0].node else { return }
        let id = node.id
        askAdmin { (done) throws(ControlError) in
            try admin.setRole(role, of: id.description) { [weak self] result in
                switch result {
                case .success:
                    self?.roles[id] = role
                    done(nil)
                case .failure(let error): done(error)
                }
            }
        }
    }

    /// Asks the admin that node 0 is: nothing but its disk may hinder it (S20).
    func askAdmin(
        _ work: @escaping @Sendable (@escaping @Sendable (ControlError?) -> Void) throws(ControlError) -> Void
    ) {
        let (admin, incarnation) = (nodes[0], nodes[0].incarnation)
        let done: @Sendable (ControlError?) -> Void = { [weak self] error in
            guard let self, let error, admin.incarnation == incarnation, !hasBadDisk(admin) else { return }
            world.fail(Violation(.noErrorFromInside, "node 0: \(error.message)"))
        }
        admin.node?.queue.async {
            do throws(ControlError) { try work(done) } catch { done(error) }
        }
    }

    /// S15: in the end all know whose membership ended, and who is told that it is a reader or a writer is.
    func checkMembership() throws {
        func wrong() -> [String] {
            core.flatMap { node in
                let ignored = revoked.filter { node.node?.knowsRevoked($0) != true }
                let role = roles[node.id].flatMap { ($0 == .reader) == node.node?.isReader ? nil : $0 }
                return ignored.map { "node \(node.index) does not know that \($0.short) was revoked" }
                    + (role.map { ["node \(node.index) is no \($0)"] } ?? [])
            }
        }
        if try advance(to: now + SimulationLimits.convergenceTime, until: { wrong().isEmpty }) { return }
        throw Violation(.access, wrong().shown(", "))
    }

    // MARK: What may be gone

    /// What a place holds is lost, as the fault means it: writes that are nowhere else need not come back.
    /// - Parameter time: when what was asked for that takes it.
    func forget(_ place: Model.Place, at time: UInt64? = nil) {
        let milliseconds = Int((time ?? now) / 1_000)
        if !budget.mayLose(place.node, writtenAt: milliseconds, at: milliseconds) {
            world.fail(
                Violation(
                    .acknowledgedDurability, "node \(place.node) loses what no fault of the plan may take from it"))
        }
        model.lose(place, besides: places(of: place.database))
    }

    /// The places of a database that hold what they hold.
    func places(of database: Int) -> [Model.Place] {
        nodes.filter { !$0.isDamaged && !$0.isOutsider && !$0.isAbsent }.map {
            Model.Place(node: $0.index, database: database)
        }
    }
}
