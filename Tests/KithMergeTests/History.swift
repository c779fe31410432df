import KithDocument
import KithMerge
import KithTestSupport

/// A random history of one document on two to seven replicas, and its verdict.
///
/// As in the merge rules' model: edits, removals, deletions, re-creations, clocks that are off, replicas that leave
/// conflicts to the application, copies put back, purges, closed leaves dropped, branches cut, deliveries that bring
/// only a part. Then all replicas pull round a ring, still in parts, until nothing changes.
struct History {
    enum Verdict: String {
        case converged
        /// The replicas do not come to the same leaves and body.
        case diverged
        /// Only closed leaves are left.
        case hidden
        /// The document is deleted although some edit that still exists was seen by no deletion.
        case lost
        /// It lives although something was deleted and every edit was seen by some deletion.
        case zombie
        /// Nothing was deleted, and the body is not that of the highest stamps, or not what its policies promise.
        case fieldLost
        /// All after a deletion had seen it, and yet a value from before it shows.
        case fieldZombie
        /// The real code and the reference differ.
        case wrong
    }

    /// What may happen in a run besides edits, deletions and partial deliveries.
    struct Faults: OptionSet {
        let rawValue: Int
        static let manual = Faults(rawValue: 1)
        static let restore = Faults(rawValue: 2)
        static let prune = Faults(rawValue: 4)
        static let purge = Faults(rawValue: 8)
        static let stem = Faults(rawValue: 16)
        /// Manual replicas stay so to the end, as long as another merges.
        static let manualForEver = Faults(rawValue: 32)
        static let all: [Faults] = [.manual, .restore, .prune, .purge, .stem, .manualForEver]
    }

    private var random: SeededGenerator
    private var world = World()
    private var replicas: [Replica] = []
    private var copies: [Int: Replica] = [:]
    private let policy: any MergePolicy
    /// What the policy is held against; nil for one whose fields are not foretold.
    private let reference: ReferencePolicy?
    /// Whether replicas begin with other policies and change to this one, each at its time.
    private let changesPolicy: Bool
    private let faults: Faults
    private let deletionPercent: Int
    /// Leaf by leaf only where nothing else is wrong: leaves of a document travel together.
    private let wholeDocument: Bool
    private var hasInitial = false
    private var clock: UInt64 = 0
    /// What a failure tells besides.
    private var details = ""

    /// Paths that compete for places, and some that do not.
    private static let paths: [ReferenceFields.Path] = [
        ["a"], ["a", "b"], ["a", "b", "c"], ["a", "d"], ["e"], ["f", "g"], ["h"],
    ]

    /// - Parameter reference: what the policy is held against; `latest` is the one without paths.
    init(
        seed: UInt64, policy: any MergePolicy = LatestPolicy(), reference: ReferencePolicy? = ReferencePolicy(),
        changesPolicy: Bool = false, trim: TrimLimits = TrimLimits()
    ) {
        var random = SeededGenerator(seed: seed)
        var drawn = Faults()
        for fault in Faults.all where random.chance(3, in: 10) { drawn.insert(fault) }
        // A replica that never merges keeps a leaf of which the merge's version does not tell any more that it is in it.
        if trim.versionEntries < DocumentLimits.versionEntries { drawn.remove(.manualForEver) }
        faults = drawn
        wholeDocument = !drawn.isEmpty || random.chance(1, in: 2)
        deletionPercent = random.pick([0, 5, 15, 30])
        var bounds = Bounds(trim: trim)
        if drawn.contains(.stem) { bounds.ancestors = random.within(1...3) }
        if drawn.contains(.prune) { bounds.closedGenerations = UInt64(random.below(3)) }
        self.policy = policy
        self.reference = reference
        self.changesPolicy = changesPolicy
        self.random = random
        for _ in 0..<self.random.within(2...7) {
            replicas.append(Replica(&world, policy: policy, reference: reference, bounds: bounds))
        }
        begin()
    }

    private mutating func begin() {
        if random.chance(3, in: 10) {
            hasInitial = true
            for index in random.shuffle(Array(replicas.indices)).prefix(random.within(1...replicas.count)) {
                replicas[index].initialize(&world, [random.pick(Self.paths): random.pick(["0", "1"])])
            }
        }
        if faults.contains(.manual) {
            for index in replicas.indices where random.chance(4, in: 10) { replicas[index].policy = ManualPolicy() }
        }
        if changesPolicy {
            for index in replicas.indices where random.chance(2, in: 3) {
                replicas[index].policy = LatestPolicy()
                replicas[index].reference = ReferencePolicy()
            }
        }
    }

    /// A replica hears of the policy, and merges what is in conflict.
    private mutating func hearOfPolicy(_ index: Int) {
        replicas[index].policy = policy
        replicas[index].reference = reference
        replicas[index].settle(&world)
    }

    /// Runs it to its end.
    mutating func verdict() -> (Verdict, String) {
        for _ in 0..<random.within(5...60) { step() }
        if changesPolicy { for index in replicas.indices { hearOfPolicy(index) } }
        endManual()
        for index in replicas.indices { replicas[index].settle(&world) }
        let exists = replicas.flatMap(\.tree.nodes).reduce(0 as World.Events) { $0 | world.seen(by: [$1.id]) }
        guard converge() else {
            return (
                .diverged,
                "faults \(faults.rawValue), whole documents \(wholeDocument)\n"
                    + replicas.map(\.state.description).joined(separator: "\n")
            )
        }
        if let complaint = world.complaints.first { return (.wrong, complaint) }
        let verdict = judge(exists)
        return (verdict, "\(replicas[0].state) \(details)")
    }

    // MARK: What happens

    private mutating func step() {
        let index = random.below(replicas.count)
        if changesPolicy, random.chance(1, in: 20) { return hearOfPolicy(index) }
        let draw = random.below(100)
        let live = replicas[index].document.live.map(\.id)
        let leaf = replicas[index].policy is ManualPolicy && !live.isEmpty ? random.pick(live) : nil
        if draw < 40 {
            edit(index, leaf)
        } else if draw < 40 + deletionPercent / 2 {
            replicas[index].delete(&world, leaf)
        } else if draw < 62 && faults.contains(.restore) {
            if let copy = copies[index], random.chance(1, in: 2) {
                replicas[index].restore(copy, &world)
            } else {
                copies[index] = replicas[index]
            }
        } else if draw < 64 && faults.contains(.purge) {
            replicas[index].purge()
        } else {
            let source = random.below(replicas.count)
            if source != index { pull(index, from: source, percent: random.pick([100, 50])) }
        }
    }

    private mutating func edit(_ index: Int, _ leaf: RevisionID?) {
        clock += 1
        let skew = random.pick([0, 0, 0, 1000, -1000])
        let reading = UInt64(max(0, Int(clock) + skew))
        let number = world.eventCount + 10
        var random = random
        let sets = reference?.paths.filter { $0.rule == "union" }.map(\.path) ?? []
        replicas[index].edit(&world, over: leaf, clock: reading) { leaves in
            for _ in 0..<random.within(1...2) { Self.change(&leaves, number, &random) }
            for path in sets where leaves[path]?.hasPrefix("[") == true {
                leaves[path] = Self.changed(leaves[path] ?? "", number, &random)
            }
        }
        self.random = random
    }

    /// Writes or removes one path, with what it takes the place of.
    private static func change(_ leaves: inout ReferenceFields.Leaves, _ number: Int, _ random: inout SeededGenerator) {
        let path = random.pick(paths)
        let isRemoval = random.chance(15, in: 100)
        for other in leaves.keys where other.starts(with: path) || (!isRemoval && path.starts(with: other)) {
            leaves[other] = nil
        }
        if !isRemoval {
            leaves[path] = random.pick(["\(number)", "\(number)", "\(number)", "[\(number)]", "{}"])
        } else if path.count > 1, random.chance(1, in: 2) {
            // The object that held it stays, though it may be empty now.
            let parent = Array(path.dropLast())
            let isEmpty = !leaves.keys.contains { $0.starts(with: parent) || parent.starts(with: $0) }
            if isEmpty { leaves[parent] = "{}" }
        }
    }

    /// An array with one element more, or less, or as it was.
    private static func changed(_ array: String, _ number: Int, _ random: inout SeededGenerator) -> String {
        var elements = ReferencePolicy.elements(array)
        switch random.below(6) {
        case 0...2: elements.append("\(number)")
        case 3 where !elements.isEmpty: elements.remove(at: random.below(elements.count))
        default: break
        }
        return "[\(elements.joined(separator: ","))]"
    }

    private mutating func pull(_ index: Int, from source: Int, percent: Int) {
        let takesDocument = random.below(100) < percent
        var random = random
        let wholeDocument = wholeDocument
        replicas[index].pull(replicas[source]) { _ in
            percent == 100 || (wholeDocument ? takesDocument : random.below(100) < percent)
        }
        self.random = random
        replicas[index].settle(&world)
    }

    private mutating func endManual() {
        let someMerge = replicas.contains { !($0.policy is ManualPolicy) }
        if faults.contains(.manualForEver) && someMerge { return }
        for index in replicas.indices { replicas[index].policy = policy }
    }

    /// Pulls round the ring until nothing changes.
    private mutating func converge() -> Bool {
        for round in 0..<600 {
            var hasChanged = false
            for index in random.shuffle(Array(replicas.indices)) {
                let source = (index + random.pick([1, replicas.count - 1])) % replicas.count
                let before = replicas[index].tree
                pull(index, from: source, percent: round < 400 ? 60 : 100)
                if replicas[index].tree != before { hasChanged = true }
            }
            let state = replicas[0].state
            if !hasChanged, replicas.allSatisfy({ $0.state == state }), replicas[0].document.live.count < 2 {
                return true
            }
        }
        return false
    }

    // MARK: What must hold

    private mutating func judge(_ exists: World.Events) -> Verdict {
        let leaves = replicas[0].tree.leaves
        if !leaves.isEmpty && leaves.allSatisfy({ $0.kind == .closed }) { return .hidden }
        let lives = replicas[0].body != nil
        let edits = world.edits.filter { exists & 1 << $0.event != 0 }
        let deletions = world.deletions.filter { exists & 1 << $0.event != 0 }
        let unseen = edits.filter { edit in !deletions.contains { $0.seen & 1 << edit.event != 0 } }
        if !unseen.isEmpty && !lives { return .lost }
        if lives && !deletions.isEmpty && unseen.isEmpty && !(hasInitial && edits.isEmpty) { return .zombie }
        guard lives, let reference, !changesPolicy else { return .converged }
        if !deletions.isEmpty { return judgeDeletions(edits, deletions) }
        guard policy is LatestPolicy else { return judgePaths(edits, reference) }
        return judgeFields(edits.map(\.writes), exists)
    }

    /// With nothing deleted each path holds what its rule promises of all that was written.
    private mutating func judgePaths(
        _ edits: [(event: Int, past: World.Events, writes: World.Writes)], _ reference: ReferencePolicy
    ) -> Verdict {
        let merged = replicas[0].document.live.last.flatMap { world.fields[$0.id] } ?? ReferenceFields()
        for (path, rule) in reference.paths {
            for edit in edits {
                guard let value = edit.writes[path]?.value, ReferencePolicy.counts(value, rule) else { continue }
                let later = edits.filter { $0.past & 1 << edit.event != 0 }.compactMap { $0.writes[path] }
                if Self.isLost(value, rule, in: merged.entries[path], unless: later) {
                    details = "\(rule) of \(path) lost \(value): \(merged)"
                    return .fieldLost
                }
            }
        }
        for group in reference.groups {
            let register = reference.register(group, of: merged)
            let stamps = edits.flatMap(\.writes).filter { ReferencePolicy.isIn(group, $0.key) }.map(\.value.stamp)
            let isWritten = world.written.contains { reference.register(group, of: $0) == register }
            if !isWritten || stamps.max() ?? .zero != register.values.map(\.stamp).max() ?? .zero {
                details = "together \(group) is mixed or not the latest: \(merged)"
                return .fieldLost
            }
        }
        return .converged
    }

    /// Whether something of a value that was written is not in the entry, although no edit that had seen it took it away.
    private static func isLost(
        _ value: String, _ rule: String, in entry: ReferenceFields.Entry?, unless later: [ReferenceFields.Entry]
    ) -> Bool {
        if rule == "union" {
            return ReferencePolicy.elements(value).contains { element in
                func has(_ entry: ReferenceFields.Entry?) -> Bool {
                    guard let value = entry?.value, value.hasPrefix("[") else { return false }
                    return ReferencePolicy.elements(value).contains(element)
                }
                return !has(entry) && later.allSatisfy(has)
            }
        }
        func holds(_ entry: ReferenceFields.Entry?) -> Bool {
            guard let number = entry?.value.flatMap({ Int($0) }), let least = Int(value) else { return false }
            return rule == "max" ? number >= least : number <= least
        }
        return !holds(entry) && later.allSatisfy(holds)
    }

    /// With nothing deleted the body is that of the highest stamps, initial data lowest.
    private mutating func judgeFields(_ writes: [World.Writes], _ exists: World.Events) -> Verdict {
        var expected = ReferenceFields()
        for initial in world.initial where exists & 1 << initial.event != 0 {
            expected = expected.joined(with: initial.fields)
        }
        for entries in writes {
            var one = ReferenceFields()
            one.entries = entries
            expected = expected.joined(with: one)
        }
        if replicas[0].body == ReferenceFields.body(of: expected.shown) { return .converged }
        details = "expected \(expected)"
        return .fieldLost
    }

    private func judgeDeletions(
        _ edits: [(event: Int, past: World.Events, writes: World.Writes)],
        _ deletions: [(event: Int, seen: World.Events)]
    ) -> Verdict {
        let shown = replicas[0].document.live.last.flatMap { world.fields[$0.id]?.shown } ?? [:]
        for deletion in deletions {
            let later = edits.filter { deletion.seen & 1 << $0.event == 0 }
            guard !later.isEmpty, later.allSatisfy({ $0.past & 1 << deletion.event != 0 }) else { continue }
            let earlier = edits.filter { deletion.seen & 1 << $0.event != 0 }
            for (path, entry) in earlier.flatMap(\.writes) {
                // Values are numbered by their edit, so that equal ones are the same; empty ones are not.
                guard let value = entry.value, value != "{}", value != "[]", shown[path] == value else { continue }
                return .fieldZombie
            }
        }
        return .converged
    }
}
