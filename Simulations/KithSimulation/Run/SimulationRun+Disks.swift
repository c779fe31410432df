import KithStore
import KithTestSupport
import KithVirtualDisk

// What disks do wrong.

extension SimulationRun {
    /// - Returns: whether it changed something; nil where it does so later, and is counted then.
    func strikeDisk(_ fault: Fault) -> Bool? {
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
            guard let operation = DiskCall.Operation(rawValue: fault.text) ?? fault.kind.failingCalls.first else {
                return false
            }
            trouble.fail(operation, times: fault.count > 0 ? fault.count : nil) { [unowned self] isFirst in
                // Whoever made the call hears of it when it has been tried again.
                node.badDiskUntil = max(node.badDiskUntil, now + SimulationLimits.diskRecovery)
                if isFirst { carriedOut.add(fault.kind.rawValue) }
            }
            // So many calls fail whenever they come, up to healing.
            if fault.count == 0 || fault.milliseconds > 0 { untilOver { trouble.mend(operation) } }
            return nil
        case .slow:
            trouble.synchronizing = fault.low...max(fault.low, fault.high)
            world.add(.act { trouble.synchronizing = nil }, at: until)
        case .pretend:
            trouble.pretends = true
            node.isPretending = true
            world.add(.act { trouble.pretends = false }, at: until)
        case .rot, .stalepage:
            guard damage(node, fault) else { return false }
            becomeDamaged(node)
        case .misdirect:
            trouble.misdirect(times: max(1, fault.count)) { [unowned self] isFirst in
                becomeDamaged(node)
                if isFirst { carriedOut.add(fault.kind.rawValue) }
            }
            return nil
        case .cutlog, .loselog:
            kill(node, losesPower: false)
            var isDamaged = false
            for path in databaseFiles(node) where path.hasSuffix("-wal") {
                let isChanged = fault.kind == .cutlog ? disk.truncate(path, to: fault.size) : disk.lose(path)
                isDamaged = isDamaged || isChanged
            }
            if isDamaged { becomeDamaged(node) }
            world.add(.act { self.start(node) }, at: max(until, now + 1_000))
            return isDamaged
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

    /// The files of the databases on a node's disk, with their logs.
    private func databaseFiles(_ node: SimulatedNode) -> [String] {
        let directory = node.directory + "/databases"
        return node.machine.disk.list(directory).filter { $0.hasSuffix(".sqlite3") || $0.hasSuffix("-wal") }.map {
            "\(directory)/\($0)"
        }
    }

    /// - Returns: whether something is not what it was.
    private func damage(_ node: SimulatedNode, _ fault: Fault) -> Bool {
        let disk = node.machine.disk
        let files = databaseFiles(node).filter { disk.content(of: $0)?.isEmpty == false }
        let stale = fault.kind == .stalepage ? stalePages(files, disk) : []
        guard fault.kind == .rot ? !files.isEmpty : !stale.isEmpty else { return false }
        for _ in 0..<max(1, fault.count) {
            if fault.kind == .rot {
                let path = diskFaults.pick(files)
                disk.flip(path, bit: diskFaults.below((disk.content(of: path)?.count ?? 0) * 8))
            } else if let earlier = staleImages[disk.directory] {
                let page = diskFaults.pick(stale)
                disk.makeStale(page.path, page.range, from: earlier)
            }
        }
        return true
    }

    /// The pages that are not what they were a while ago.
    private func stalePages(_ files: [String], _ disk: VirtualDisk) -> [(path: String, range: Range<Int>)] {
        guard let earlier = staleImages[disk.directory] else { return [] }
        return files.flatMap { path -> [(path: String, range: Range<Int>)] in
            let old = earlier.content(of: earlier.directory + path.dropFirst(disk.directory.count)) ?? []
            let new = disk.content(of: path) ?? []
            let pages = stride(from: 0, to: min(old.count, new.count), by: 4_096).map { start in
                start..<min(old.count, new.count, start + 4_096)
            }
            return pages.filter { old[$0] != new[$0] }.map { (path, $0) }
        }
    }

    /// A disk that pretended does in the end what it said, where the power stayed on.
    func settleDisk(of node: SimulatedNode) {
        guard node.isPretending else { return }
        node.machine.disk.settle()
        node.isPretending = false
    }

    /// From here on the disk of a node may hold anything: nothing is expected of the node until it is made anew.
    func becomeDamaged(_ node: SimulatedNode) {
        guard !node.isDamaged else { return }
        node.isDamaged = true
        hadWrongPeers = true
        for database in 0..<plan.databases { forget(Model.Place(node: node.index, database: database)) }
    }
}
