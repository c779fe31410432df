import KithDocument
import KithNode

// What is met on the way: `Mark` names the states that runs must reach now and then.

extension SimulationRun {
    func note(_ mark: Mark) { marks.add(mark.rawValue) }

    func markLog(_ text: String) { for mark in Mark.shown(by: text) { note(mark) } }

    // MARK: Documents

    /// A node shows a document.
    func markLeaves(
        _ id: DocumentID, at place: Model.Place, _ leaves: [Delivery.Item], before: ReplicaModel.State?
    ) {
        let revisions = leaves.map(\.revision)
        let live = revisions.filter { $0.kind.isLive }
        let deletions = revisions.count { $0.kind == .deleted }
        switch live.count {
        case 0, 1: break
        case 2: note(.conflictOfTwo)
        case 3: note(.conflictOfThree)
        default: note(.conflictOfMore)
        }
        if deletions > 0, !live.isEmpty { note(.deletionBesideEdit) }
        if deletions > 1 { note(.twoDeletions) }
        if revisions.contains(where: { $0.kind == .closed }) { note(.closedLeaf) }
        if revisions.allSatisfy({ $0.kind == .closed }) { note(.onlyClosedLeaves) }
        if live.count(where: { $0.version.highestTime == 0 }) > 1 { note(.twoInitials) }
        if before == nil, model[place].hasPurged(id) { note(.backAfterPurge) }
        let twins = ["\u{e9}", "e\u{301}"].map(DocumentID.init(unchecked:))
        if twins.contains(id), twins.allSatisfy({ model[place][$0] != nil }) { note(.lookAlikes) }
        for item in leaves where before?.leaves.contains(where: { $0.revision.id == item.revision.id }) != true {
            markLeaf(item, of: id, in: place.database)
        }
    }

    private func markLeaf(_ item: Delivery.Item, of id: DocumentID, in database: Int) {
        let revision = item.revision
        if revision.kind == .merge {
            let parents = revision.mergedParents + [revision.parent].compactMap(\.self)
            note(.merge)
            if revision.version.highestTime == 0 { note(.twoInitials) }
            if parents.count > 2 { note(.mergeOfThree) }
            if parents.count(where: { model[database, id][$0]?.kind == .merge }) > 1 { note(.mergeOfMerges) }
        }
        if revision.kind.isLive, item.ancestors.first?.kind == .deleted { note(.writtenAgain) }
        for exception in revision.stamps?.exceptions ?? [] {
            switch exception.state {
            case .visible: break
            case .absent: note(.removedField)
            case .hidden: note(.hiddenField)
            }
        }
        if revision.version.entries.count > 3 { note(.manyWriters) }
        if revision.body.count >= 64_000 { note(.largeDocument) }
        let ahead = Stamp.milliseconds(ofTime: revision.version.highestTime) - rightWallClock
        if ahead > Self.year { note(.stampOfTheFuture) }
    }

    // MARK: Steps of the plan

    /// What a step of the plan finds when it comes.
    func mark(_ step: PlanStep) {
        switch step.action {
        case .operation(let operation): mark(operation)
        case .fault(let fault): mark(fault)
        }
    }

    private func mark(_ operation: Operation) {
        guard nodes.indices.contains(operation.node), case let node = nodes[operation.node], let running = node.node
        else { return }
        switch operation.kind {
        case .compact, .verify, .backupCheck:
            if !node.calls.isEmpty { note(.upkeepUnderLoad) }
            if isBehind(node) { note(.upkeepWhileBehind) }
            return
        case .policy, .create, .drop, .read: return
        case .purge: markPurge(operation)
        default: break
        }
        if running.linkedPeers.isEmpty { note(.writeAlone) }
        if isCutOff(node) { note(.writeCutOff) }
        if !node.machine.hasGoodDisk { note(.writeOnBadDisk) }
        if !node.calls.isEmpty { note(.groupOfWrites) }
        if abs(node.machine.clock.wallMilliseconds - rightWallClock) > Self.year { note(.writeWithWrongClock) }
    }

    private func markPurge(_ operation: Operation) {
        let id = DocumentID(unchecked: operation.document)
        let place = Model.Place(node: operation.node, database: operation.database)
        guard let state = model[place][id] else { return }
        if state.leaves.count(where: { $0.revision.kind.isLive }) > 1 { note(.purgeInConflict) }
        if places(of: operation.database).contains(where: { $0 != place && model[$0][id] != nil }) {
            note(.purgeWhilePeersHaveIt)
        }
    }

    private func mark(_ fault: Fault) {
        guard let node = node(fault.node) else {
            if fault.kind.isOfPartition, nodes.contains(where: isBehind) { note(.cutWhileBehind) }
            return
        }
        let other = self.node(fault.other)
        let areBehind = isBehind(node) || other.map(isBehind) == true
        switch fault.kind {
        case .kill, .power:
            if !node.calls.isEmpty { note(fault.kind == .kill ? .killedInWrite : .powerInWrite) }
            if node.isRunning, isCutOff(node) { note(.killedWhileCutOff) }
        case .pause, .suspend: if fault.milliseconds > 15_000, node.isRunning { note(.pausedLong) }
        case .reset, .truncate: if areBehind { note(.resetWhileBehind) }
        case .halfopen: if areBehind { note(.halfOpenWhileBehind) }
        case .readdress, .takeover: if node.node?.linkedPeers.isEmpty == false { note(.addressChangedWithLinks) }
        case .dial:
            if let one = node.node, let other, other.isRunning, !one.isLinked(to: other.id) { note(.bothDialled) }
        case .full where node.isRunning: if areBehind { note(.fullWhileBehind) }
        case .slow: if fault.high >= 300_000 { note(.slowDisk) }
        case .restore: markRestore(node)
        case .join: if hasCuts { note(.joinedDuringPartition) }
        case .revoke: if areBehind { note(.revokedWhileBehind) }
        default: if fault.kind.isOfPartition, nodes.contains(where: isBehind) { note(.cutWhileBehind) }
        }
        if fault.kind.area == .disk, !node.isRunning, !node.isAbsent { note(.badDiskWhileDown) }
    }

    private func markRestore(_ node: SimulatedNode) {
        guard let image = images[node.index] else { return }
        let isBehind = image.replicas.indices.contains { database in
            places(of: database).contains {
                $0.node != node.index && model[$0].digest != image.replicas[database].digest
            }
        }
        if isBehind { note(.putBackWhileBehind) }
    }

    // MARK: Processes

    /// The power of a node has gone at a call of its disk.
    func markPowerGone(_ node: SimulatedNode) {
        note(.powerAtCall)
        if !node.calls.isEmpty { note(.powerInWrite) }
        if let since = startTimes[node.index], now < since + 1_000_000 { note(.powerAtStart) }
    }

    /// A node is about to start.
    func markStart(_ node: SimulatedNode) {
        startTimes[node.index] = now
        if isCutOff(node) { note(.restartWhileCutOff) }
        if !node.interrupted.isEmpty { note(.uncleanOpening) }
    }

    /// What is looked for now and then.
    func markFromTimeToTime() {
        let members = nodes.filter { !$0.isAbsent && !$0.isOutsider }
        let down = members.count { !$0.isRunning }
        if down > 1 { note(.twoDown) }
        if down == members.count { note(.allDown) }
        let linked = members.filter { $0.node?.linkedPeers.isEmpty == false }
        if !linked.isEmpty, members.contains(where: { $0.isRunning && $0.node?.linkedPeers.isEmpty == true }) {
            note(.alone)
        }
        if linked.contains(where: { one in linked.contains { $0 !== one && $0.id == one.id } }) { note(.twinsLinked) }
    }

    // MARK: How things stand

    private static let year: Int64 = 365 * 86_400_000

    /// What a clock shows that is right, in milliseconds since 1970.
    private var rightWallClock: Int64 { SimulatedClock.epoch + Int64(now / 1_000) }

    /// Whether a node has a link to one that holds something else.
    private func isBehind(_ node: SimulatedNode) -> Bool {
        guard let running = node.node else { return false }
        return nodes.contains { other in
            other !== node && running.isLinked(to: other.id)
                && node.databases.keys.contains { number in
                    model[Model.Place(node: node.index, database: number)].digest
                        != model[Model.Place(node: other.index, database: number)].digest
                }
        }
    }

    private func isCutOff(_ node: SimulatedNode) -> Bool {
        nodes.contains { !$0.isAbsent && $0 !== node && network.isCut(from: $0.machine.index, to: node.machine.index) }
    }

    private var hasCuts: Bool { nodes.contains { !$0.isAbsent && isCutOff($0) } }
}

extension Fault.Kind {
    fileprivate var isOfPartition: Bool {
        switch self {
        case .isolate, .halves, .bridge, .majorities, .star, .oneway, .flap, .swizzle, .clog: true
        default: false
        }
    }
}
