import KithStore
import KithTestSupport
import KithVirtualDisk

// What disks do wrong.

extension SimulationRun {
    func strikeDisk(_ fault: Fault) -> Bool {
        guard let node = node(fault.node), !node.isAbsent else { return false }
        let disk = node.machine.disk
        let until = end(of: fault)
        func untilOver(_ mend: @escaping () -> Void) {
            node.badDiskUntil = max(node.badDiskUntil, until + SimulationLimits.diskRecovery)
            world.add(.act(mend), at: until)
        }
        let trouble = node.machine.trouble
        switch fault.kind {
        case .full:
            disk.capacity = disk.space.used + fault.size
            untilOver {
                disk.capacity = nil
                self.checkRecovery(of: node)
            }
        case .readonly:
            disk.isReadOnly = true
            untilOver { disk.isReadOnly = false }
        case .failread, .failwrite, .failsync:
            let operation: DiskCall.Operation =
                fault.kind == .failread ? .read : fault.kind == .failwrite ? .write : .synchronize
            trouble.fail(operation, times: fault.count > 0 ? fault.count : nil)
            untilOver { trouble.mend(operation) }
        case .slow:
            trouble.synchronizing = fault.low...max(fault.low, fault.high)
            world.add(.act { trouble.synchronizing = nil }, at: until)
        case .pretend:
            trouble.pretends = true
            node.isPretending = true
            world.add(.act { trouble.pretends = false }, at: until)
        case .rot, .stalepage:
            becomeDamaged(node)
            damage(disk, fault)
        case .misdirect:
            becomeDamaged(node)
            trouble.misdirects = max(1, fault.count)
        case .cutlog, .loselog:
            becomeDamaged(node)
            kill(node, losesPower: false)
            for path in databaseFiles(disk) where path.hasSuffix("-wal") {
                if fault.kind == .cutlog { disk.truncate(path, to: fault.size) } else { disk.lose(path) }
            }
            world.add(.act { self.start(node) }, at: max(until, now + 1_000))
        default: return false
        }
        return true
    }

    /// What pages are to be made again as they were is kept in good time: half of the way to the fault.
    func takeEarlierImages() {
        for step in steps {
            guard case .fault(let fault) = step.action, fault.kind == .stalepage, let node = node(fault.node) else {
                continue
            }
            world.add(
                .act { [unowned self] in
                    let disk = node.machine.disk
                    staleImages.updateValue(disk.copied(), forKey: disk.directory)?.discard()
                }, at: UInt64(step.time) * 500)
        }
    }

    private func databaseFiles(_ disk: VirtualDisk) -> [String] {
        disk.list().filter { $0.hasSuffix(".sqlite3") || $0.hasSuffix("-wal") }.sorted()
    }

    private func damage(_ disk: VirtualDisk, _ fault: Fault) {
        let files = databaseFiles(disk)
        guard !files.isEmpty else { return }
        for _ in 0..<max(1, fault.count) {
            let path = diskFaults.pick(files)
            let bytes = disk.content(of: path)?.count ?? 0
            guard bytes > 0 else { continue }
            if fault.kind == .rot {
                disk.flip(path, bit: diskFaults.below(bytes * 8))
            } else if let earlier = staleImages[disk.directory] {
                let page = diskFaults.below((bytes + 4_095) / 4_096) * 4_096
                disk.makeStale(path, page..<min(bytes, page + 4_096), from: earlier)
            }
        }
    }

    /// From here on the disk of a node may hold anything: nothing is expected of the node until it is made anew.
    func becomeDamaged(_ node: SimulatedNode) {
        guard !node.isDamaged else { return }
        node.isDamaged = true
        hadWrongPeers = true
        for database in 0..<plan.databases { forget(Model.Place(node: node.index, database: database)) }
    }
}
