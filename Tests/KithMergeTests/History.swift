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
        /// Nothing was deleted, and the body is not that of the highest stamps.
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

    init(seed: UInt64, policy: any MergePolicy = LatestPolicy(), trim: TrimLimits = TrimLimits()) {
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
        self.random = random
        for _ in 0..<self.random.within(2...7) { replicas.append(Replica(&world, policy: policy, bounds: bounds)) }
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
    }

    /// Runs it to its end.
    mutating func verdict() -> (Verdict, String) {
        for _ in 0..<random.within(5...60) { step() }
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
        replicas[index].edit(&world, over: leaf, clock: reading) { leaves in
            for _ in 0..<random.within(1...2) { Self.change(&leaves, number, &random) }
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
        guard lives, policy is LatestPolicy else { return .converged }
        return deletions.isEmpty ? judgeFields(edits.map(\.writes), exists) : judgeDeletions(edits, deletions)
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
                // Values are numbered by their edit, so that equal ones are the same; empty objects are not.
                guard let value = entry.value, value != "{}", shown[path] == value else { continue }
                return .fieldZombie
            }
        }
        return .converged
    }
}
