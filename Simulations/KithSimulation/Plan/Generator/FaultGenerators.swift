import KithTestSupport

// What goes wrong in the other areas. A kind that destroys something happens only in a slot of its victim.

/// Draws faults of an area that is about no node before its kind and its time are drawn.
protocol AreaGenerator {
    var frame: PlanFrame { get }
    var random: SeededGenerator { get set }

    mutating func fault(_ kind: Fault.Kind, at time: Int) -> PlanItem
}

extension AreaGenerator {
    /// So many faults; none where all kinds are switched off.
    mutating func faults(of swarm: Swarm<Fault.Kind>, number: Int) -> [PlanItem] {
        var items: [PlanItem] = []
        for _ in 0..<number {
            guard let kind = swarm.draw(&random) else { break }
            items.append(fault(kind, at: frame.time(&random)))
        }
        return items
    }
}

/// Draws what goes wrong with finding each other.
struct DiscoveryGenerator: AreaGenerator {
    let frame: PlanFrame
    var random: SeededGenerator

    mutating func items() -> [PlanItem] {
        let swarm = Swarm(Fault.Kind.allCases.filter { $0.area == .discovery }, &random)
        guard frame.nodes > 1, random.chance(3, in: 4) else { return [] }
        return faults(of: swarm, number: frame.faults(&random))
    }

    mutating func fault(_ kind: Fault.Kind, at time: Int) -> PlanItem {
        let (node, other) = random.pair(frame)
        let ms = kind.parameters.contains(.ms) ? random.duration(frame) : 0
        switch kind {
        case .split: return frame.fault(time, kind, nodes: random.side(frame), ms: ms)
        case .flood: return frame.fault(time, kind, ms: ms, count: random.pick([1, 20, 300, 2_000]))
        case .impostor: return frame.fault(time, kind, node, other: other, ms: ms)
        default: return frame.fault(time, kind, node, ms: ms)
        }
    }
}

/// Draws ends, pauses and power cuts.
struct ProcessGenerator: AreaGenerator {
    let frame: PlanFrame
    var random: SeededGenerator

    mutating func items() -> [PlanItem] {
        let swarm = Swarm(Fault.Kind.allCases.filter { $0.area == .node }, &random)
        guard random.chance(7, in: 8) else { return [] }
        return faults(of: swarm, number: frame.faults(&random))
    }

    mutating func fault(_ kind: Fault.Kind, at time: Int) -> PlanItem {
        let count = kind == .crash ? random.pick([1, 2, 3, 10, random.within(1...300)]) : 0
        return frame.fault(time, kind, random.below(frame.nodes), ms: random.duration(frame), count: count)
    }

    /// What a long run has at least.
    mutating func atLeastThreeKinds(besides items: [PlanItem]) -> [PlanItem] {
        let kinds = items.compactMap { item in
            if case .fault(let fault) = item.action, fault.kind != .pace { fault.kind } else { nil }
        }
        if Set(kinds).count >= 3 { return [] }
        return [Fault.Kind.stop, .kill, .power, .pause].map { fault($0, at: frame.time(&random)) }
    }
}

/// Draws what goes wrong with disks.
struct DiskGenerator: AreaGenerator {
    let frame: PlanFrame
    var random: SeededGenerator

    mutating func items(_ slots: [VictimSlot]) -> [PlanItem] {
        let all = Fault.Kind.allCases.filter { $0.area == .disk }
        let harmless = Swarm(all.filter { $0.destroys == .nothing }, &random)
        let harmful = Swarm(all.filter { $0.destroys != .nothing }, &random)
        guard random.chance(3, in: 4) else { return [] }
        var items = faults(of: harmless, number: frame.faults(&random))
        for slot in slots where slot.kind == .disk {
            guard let kind = harmful.draw(&random) else { break }
            if kind == .pretend {
                // The cut comes after its end, so that it loses nothing later on.
                let lasts = random.within(1...slot.length)
                items.append(frame.fault(slot.start, kind, slot.node, ms: lasts - 1))
                items.append(frame.fault(slot.start + lasts, .power, slot.node, ms: random.duration(frame)))
            } else {
                items.append(fault(kind, slot.node, at: slot.start))
            }
        }
        return items
    }

    mutating func fault(_ kind: Fault.Kind, at time: Int) -> PlanItem {
        fault(kind, random.below(frame.nodes), at: time)
    }

    private mutating func fault(_ kind: Fault.Kind, _ node: Int, at time: Int) -> PlanItem {
        let ms = kind.parameters.contains(.ms) ? random.duration(frame) : 0
        switch kind {
        case .full:
            return frame.fault(time, kind, node, ms: ms, size: random.pick([0, 1, 4_096, 65_536, 1 << 20]))
        case .failread, .failwrite, .failsync:
            let count = random.pick([0, 1, 1, 3])
            // Mostly what there is most of.
            let call = random.chance(1, in: 2) ? "" : random.pick(kind.words ?? [""])
            return frame.fault(time, kind, node, ms: count == 0 ? ms : 0, count: count, text: call)
        case .slow:
            let low = random.pick([1_000, 20_000, 300_000])
            return frame.fault(time, kind, node, ms: ms, low: low, high: low * random.pick([1, 4, 10]))
        case .rot, .stalepage, .misdirect: return frame.fault(time, kind, node, count: random.pick([1, 1, 3, 20]))
        case .cutlog:
            return frame.fault(time, kind, node, ms: ms, size: random.pick([0, 31, 32, 4_152, random.below(1 << 20)]))
        default: return frame.fault(time, kind, node, ms: ms)
        }
    }
}

/// Draws backups, copies and moves.
struct IdentityGenerator {
    let frame: PlanFrame
    var random: SeededGenerator

    mutating func items(_ slots: [VictimSlot]) -> [PlanItem] {
        let swarm = Swarm([Fault.Kind.restore, .clone, .move, .wipe], &random)
        guard random.chance(3, in: 4) else { return [] }
        var items: [PlanItem] = []
        var spare = frame.nodes
        for slot in slots where slot.kind == .identity {
            guard let kind = swarm.draw(&random) else { break }
            let later = slot.start + random.within(1...slot.length)
            switch kind {
            case .restore:
                items.append(frame.fault(random.below(slot.start + 1), .backup, slot.node))
                items.append(frame.fault(slot.start, .restore, slot.node, ms: random.duration(frame)))
                // The same image once more, as who restores does when it did not help.
                if random.chance(1, in: 3) { items.append(frame.fault(later, .restore, slot.node, ms: 100)) }
            case .clone where spare < frame.nodes + SimulationLimits.spares:
                // Mostly with all that would tell it from the first, as of a virtual machine.
                items.append(
                    frame.fault(slot.start, .clone, slot.node, other: spare, count: random.chance(2, in: 3) ? 1 : 0))
                for _ in 0..<random.below(4) {
                    let write = Operation(
                        .set, node: random.chance(1, in: 2) ? spare : slot.node, document: "t\(random.below(3))",
                        path: "/a", fields: String(random.below(1_000)))
                    items.append(PlanItem(time: random.within(slot.start...later), action: .operation(write)))
                }
                items.append(frame.fault(later, .keep, random.chance(1, in: 2) ? slot.node : spare))
                spare += 1
            case .wipe: items.append(frame.fault(slot.start, .wipe, slot.node, ms: random.duration(frame)))
            default:
                items.append(frame.fault(slot.start, .move, slot.node))
                items.append(frame.fault(later, .keep, slot.node))
            }
        }
        return items
    }
}

/// Draws who comes, goes, and may do what; and who does not keep to the rules.
struct MembershipGenerator {
    let frame: PlanFrame
    var random: SeededGenerator

    mutating func items() -> [PlanItem] {
        var items: [PlanItem] = []
        if let outsider = frame.outsider {
            let kind = outsider.kind == .hostile ? random.pick(HostileKind.allCases).rawValue : ""
            items.append(frame.fault(outsider.time, outsider.kind, outsider.node, text: kind))
            if outsider.kind == .revoke, random.chance(3, in: 4) { items.append(work(besides: outsider)) }
        }
        // Who leaves has joined; node 0 is there from the beginning.
        let others = (1..<max(1, frame.nodes)).filter { $0 != frame.outsider?.node }
        if others.isEmpty { return items }
        if random.chance(1, in: 3) {
            let (time, node) = (frame.end / 4 + random.below(frame.end / 3 + 1), random.pick(others))
            items.append(frame.fault(time, .join, node))
            if random.chance(1, in: 2) {
                let before = random.below(min(time, 20_000) + 1)
                items.append(
                    frame.fault(
                        time - before, .halves, nodes: random.side(frame), ms: before + random.duration(frame)))
            }
        }
        if random.chance(1, in: 3) {
            for _ in 0..<random.within(1...3) {
                let role = random.pick(["reader", "reader", "writer"])
                items.append(frame.fault(frame.time(&random), .role, random.pick(others), text: role))
            }
        }
        if random.chance(1, in: 4) {
            items.append(
                frame.fault(0, .version, random.below(frame.nodes), text: random.pick(["older", "newer"])))
        }
        return items
    }

    /// Much to pull while somebody is revoked.
    private mutating func work(besides outsider: PlanFrame.Outsider) -> PlanItem {
        let node = random.chance(1, in: 2) ? outsider.node : 0
        let burst = Operation(
            .put, node: node, document: "r", fields: "/a=$i", count: random.pick([40, 100]),
            size: random.pick([0, 2_000]))
        return PlanItem(time: max(0, outsider.time - random.below(8)), action: .operation(burst))
    }
}

/// Draws clocks that are wrong.
struct ClockGenerator: AreaGenerator {
    let frame: PlanFrame
    var random: SeededGenerator

    mutating func items() -> [PlanItem] {
        let swarm = Swarm(Fault.Kind.allCases.filter { $0.area == .clock }, &random)
        guard random.chance(1, in: 2) else { return [] }
        return faults(of: swarm, number: min(20, frame.faults(&random)))
    }

    mutating func fault(_ kind: Fault.Kind, at time: Int) -> PlanItem {
        let sign = random.chance(1, in: 2) ? 1 : -1
        let node = random.below(frame.nodes)
        if kind == .skew {
            let skew = random.pick([0, 1, 1_000, 60_000, 61_000, 3_600_000, 20 * 86_400_000, 53 * 365 * 86_400_000])
            return frame.fault(time, kind, node, ms: sign * skew)
        }
        return frame.fault(time, kind, node, size: sign * random.pick([0, 50, 500, 100_000]))
    }
}
