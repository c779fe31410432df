import KithTestSupport

/// Draws scenes: a few operations and faults that together aim at a state which single draws seldom meet.
struct SceneGenerator {
    private let frame: PlanFrame
    private var random: SeededGenerator
    private var drawn: [PlanItem] = []

    enum Scene: CaseIterable {
        /// A process ends, or its machine loses power, while clients wait for their writes.
        case endInWrites
        /// Nobody is up for a while.
        case allDown
        /// Who is paused is still so when all is healed.
        case pauseAtTheEnd
        /// Initial data of two contents for one document.
        case twoInitials
        /// A register and deeper fields at one place, at once.
        case competingFields
        /// A conflict is purged where one was left.
        case purgeInConflict
        /// Conflicts that were left are merged, since the policy is another.
        case policyThatMerges
        /// A link on which so little gets through that no ping is answered in time.
        case trickle
        /// For a moment all that a node sends and gets comes in small parts.
        case smallParts
        /// What two deletions had seen in part comes to who purged both.
        case purgedDeletions

        /// Whether some seconds are enough for it.
        var isShort: Bool {
            switch self {
            case .endInWrites, .allDown, .pauseAtTheEnd, .twoInitials, .competingFields, .purgeInConflict: true
            case .policyThatMerges, .trickle, .smallParts, .purgedDeletions: false
            }
        }
    }

    init(_ frame: PlanFrame, random: SeededGenerator) {
        self.frame = frame
        self.random = random
    }

    mutating func items() -> [PlanItem] {
        drawn = []
        let swarm = Swarm(Scene.allCases.filter { frame.length == .long || $0.isShort }, &random)
        let number = frame.length == .long ? random.within(1...5) : random.chance(1, in: 3) ? 1 : 0
        for _ in 0..<number { if let scene = swarm.draw(&random) { play(scene) } }
        return drawn
    }

    /// Who is a member in the end.
    private var members: [Int] { (0..<frame.nodes).filter { $0 != frame.outsider?.node } }

    /// Different members, so many or all.
    private mutating func some(_ count: Int) -> [Int] { Array(random.shuffle(members).prefix(count)) }

    private mutating func play(_ scene: Scene) {
        let time = frame.time(&random)
        switch scene {
        case .endInWrites: endInWrites(at: time)
        case .allDown:
            let kind = random.pick([Fault.Kind.power, .kill, .stop])
            for node in members {
                add(frame.fault(time + random.below(200), kind, node, ms: random.within(1_500...8_000)))
            }
        case .pauseAtTheEnd:
            let before = random.within(10...1_000)
            add(
                frame.fault(
                    frame.end - before, random.pick([.pause, .pause, .suspend]), random.pick(members),
                    ms: before + random.pick([100, 2_000, 16_000])))
        case .twoInitials:
            for (number, node) in some(2).enumerated() { write(.initial, node, fields: "/a=\(number)", at: time) }
        case .competingFields:
            for (number, node) in some(3).enumerated() {
                let path = number == 0 ? "/n" : random.pick(["/n/a", "/n/b", "/n"])
                write(.set, node, path: path, fields: String(random.below(1_000)), document: "w0", at: time)
            }
        case .purgeInConflict:
            guard frame.policy == "manual" else { break }
            for node in some(2) { write(.set, node, path: "/a", fields: String(random.below(1_000)), at: time) }
            write(.purge, random.pick(members), at: time + random.within(100...2_000))
        case .policyThatMerges: policyThatMerges(at: time)
        case .trickle: trickle(at: time)
        case .smallParts:
            let (node, size) = (random.pick(members), random.pick([1, 7, 64]))
            for other in members where other != node {
                for (from, to) in [(node, other), (other, node)] {
                    add(frame.fault(time, .pace, from, other: to, low: 200, high: 600, size: size))
                    add(frame.fault(time + 1_000 + 50 * size, .pace, from, other: to, low: 200, high: 600, size: 1_460))
                }
            }
            write(.put, node, fields: "/a=1 /b=\"\(String(repeating: "x", count: random.below(600)))\"", at: time + 300)
        case .purgedDeletions: purgedDeletions(at: time)
        }
    }

    private mutating func endInWrites(at time: Int) {
        let node = random.pick(members)
        // What waits for a slow disk is sure to be under way.
        let low = random.pick([20_000, 100_000])
        add(frame.fault(time, .slow, node, ms: 1_000, low: low, high: 2 * low))
        for _ in 0..<random.within(1...8) {
            write(
                .set, node, path: "/a", fields: String(random.below(1_000)), document: "d\(random.below(4))",
                at: time + 10)
        }
        add(
            frame.fault(
                time + 10 + random.within(1...15), random.pick([.kill, .power, .stop]), node,
                ms: random.duration(frame)))
    }

    private mutating func policyThatMerges(at time: Int) {
        let database = random.below(frame.databases)
        func policy(_ text: String, at time: Int) {
            add(time, Operation(.policy, node: 0, database: database, text: text))
        }
        policy("manual", at: time)
        for number in 0..<random.within(1...4) {
            for node in some(random.within(3...5)) {
                var operation = Operation(.set, node: node, database: database, document: "c\(number)", path: "/a")
                operation.fields = String(random.below(1_000))
                add(time + 3_000 + random.below(5), operation)
            }
        }
        policy("latest", at: time + 10_000)
    }

    private mutating func trickle(at time: Int) {
        guard time + 100_000 < frame.end, let node = some(1).first else { return }
        let others = members.filter { $0 != node && frame.shape.joins(node, $0, nodes: frame.nodes) }
        guard !others.isEmpty else { return }
        let other = random.pick(others)
        for (from, to) in [(node, other), (other, node)] {
            // Something is heard every second or two, and no more than a packet or two in a minute.
            add(frame.fault(time, .pace, from, other: to, low: 500, high: 1_000, size: 64))
            add(frame.fault(time, .rate, from, other: to, size: random.within(25...50)))
            add(frame.fault(time + 90_000, .pace, from, other: to, low: 500, high: 1_000, size: 1_460))
            add(frame.fault(time + 90_000, .rate, from, other: to))
        }
        var large = Operation(.put, node: node, database: 0, document: "l", fields: "/a=\(random.below(1_000))")
        large.size = 65_536
        add(time + 10, large)
    }

    /// Two write at once where neither hears of the other, and delete what they know. Who hears of both writes merges
    /// them, and gives that to nobody yet. Who hears of both deletions purges the document, and learns of the merge only
    /// from those who closed it.
    private mutating func purgedDeletions(at time: Int) {
        guard frame.shape == .full, members.count >= 5, time + 12_000 < frame.end else { return }
        let nodes = some(5)
        let document = "p\(random.below(1_000))"
        write(.put, nodes[4], fields: "/a=1", document: document, at: max(0, time - 3_000))
        for (side, path) in [(0, "/a"), (2, "/b")] {
            add(frame.fault(time, .halves, nodes: NodeList([nodes[side], nodes[side + 1]]), ms: 2_000))
            write(.set, nodes[side], path: path, fields: "7", document: document, at: time + 1_000)
            add(frame.fault(time + 2_000, .isolate, nodes[side], ms: 1_000))
            write(.delete, nodes[side], document: document, at: time + 2_500)
            for (from, to) in [(nodes[side + 1], nodes[4]), (nodes[4], nodes[side + 1])] {
                add(frame.fault(time, .oneway, from, other: to, ms: 11_000))
            }
        }
        add(frame.fault(time + 2_000, .halves, nodes: NodeList([nodes[1], nodes[3]]), ms: 6_000))
        write(.purge, nodes[4], document: document, at: time + 5_000)
    }

    private mutating func write(
        _ kind: Operation.Kind, _ node: Int, path: String = "", fields: String = "", document: String? = nil,
        at time: Int
    ) {
        add(time, Operation(kind, node: node, document: document ?? "s\(time)", path: path, fields: fields))
    }

    private mutating func add(_ time: Int, _ operation: Operation) {
        add(PlanItem(time: min(time, frame.end), action: .operation(operation)))
    }

    private mutating func add(_ item: PlanItem) { drawn.append(item) }
}
