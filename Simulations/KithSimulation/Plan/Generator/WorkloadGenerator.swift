import KithTestSupport

/// Draws what clients do.
struct WorkloadGenerator {
    private let frame: PlanFrame
    private var random: SeededGenerator
    private let documents: [String]
    /// How many of the documents are hot, and how often of eight times one of them is chosen.
    private let hot: (documents: Int, times: Int)
    private var items: [PlanItem] = []

    /// What is done how often in this run.
    private enum Work: Int, CaseIterable {
        case put, set, unset, touch, delete, initial, purge, resolve, read, conflict, burst, bulk, large, compact,
            verify
        case backupCheck
    }

    init(_ frame: PlanFrame, random: SeededGenerator) {
        var random = random
        self.frame = frame
        documents = Self.documentNames(frame, &random)
        // One hot id, some warm ones, or all of many cold ones alike.
        hot = random.pick([(1, 5), (3, 4), (3, 4), (documents.count, 8)])
        self.random = random
    }

    mutating func items(_ slots: [VictimSlot]) -> [PlanItem] {
        items = []
        let weights = weights()
        let sum = weights.reduce(0, +)
        var time = 50
        for _ in 0..<count() {
            // In bunches.
            time = random.chance(1, in: 3) ? time + random.below(5) : 50 + random.below(max(1, frame.end - 50))
            var target = random.below(sum)
            var index = 0
            while target >= weights[index] {
                target -= weights[index]
                index += 1
            }
            let isHot = random.below(8) < hot.times
            let document = documents[random.below(isHot ? min(hot.documents, documents.count) : documents.count)]
            work(Work.allCases[index], on: document, at: time)
        }
        seldom()
        for slot in slots where slot.kind == .drop {
            add(slot.start, Operation(.drop, node: slot.node, database: random.below(frame.databases)))
        }
        return items
    }

    private mutating func count() -> Int {
        switch frame.length {
        // Some five operations in each virtual second.
        case .short, .medium: frame.end / 1_000 * random.within(3...8)
        // A write is some 15 events for each link in each direction.
        case .long:
            min(20_000, random.within(3_200...5_600) / (links + frame.nodes - 1) * max(1, frame.end / 1_200_000))
        }
    }

    /// How many pairs of nodes, of 8 at most, have a link by the plan's shape.
    private var links: Int {
        let nodes = min(8, frame.nodes)
        return (0..<nodes).reduce(0) { sum, one in
            sum + (one + 1..<max(one + 1, nodes)).count { frame.shape.joins(one, $0, nodes: nodes) }
        }
    }

    private mutating func weights() -> [Int] {
        Work.allCases.map { work in
            let draw = random.within(1...10)
            let isOff = random.chance(1, in: 5)
            return switch work {
            case .set: 40 + 4 * draw
            case .put: 16 + 4 * draw
            case .conflict: isOff ? 4 : 16 + 4 * draw
            case .resolve: frame.policy == "manual" ? 24 + 4 * draw : 0
            case .purge: random.chance(1, in: 5) ? 8 : 0
            case .initial: isOff ? 0 : 8
            case .touch, .burst: isOff ? 0 : 4
            case .large, .bulk: isOff ? 0 : 2
            case .compact, .verify, .backupCheck: isOff ? 0 : 1
            case .unset, .delete, .read: isOff ? 0 : 4 * draw
            }
        }
    }

    /// Documents whose name begins with `w` have registers and deeper fields that compete for one place.
    private static func documentNames(_ frame: PlanFrame, _ random: inout SeededGenerator) -> [String] {
        let many = frame.length == .long ? random.pick([10, 60, 300]) : 4
        var names = (0..<random.within(many...4 * many)).map { "d\($0)" }
        if random.chance(1, in: 2) { names.append(contentsOf: ["w0", "w1"]) }
        // Two ids that look alike and differ in bytes.
        if random.chance(1, in: 4) { names.append(contentsOf: ["\u{e9}", "e\u{301}"]) }
        return random.shuffle(names)
    }

    /// A policy that changes, and a database that is made only later.
    private mutating func seldom() {
        if random.chance(1, in: 6) {
            let policy = random.pick(["latest", "manual"])
            add(frame.time(&random), Operation(.policy, node: 0, database: random.below(frame.databases), text: policy))
        }
        if frame.databases > 1, random.chance(1, in: 2) {
            add(frame.time(&random) / 2, Operation(.create, node: random.below(frame.nodes), database: 1))
        }
    }

    private mutating func add(_ time: Int, _ operation: Operation) {
        items.append(PlanItem(time: min(time, frame.end), action: .operation(operation)))
    }

    private mutating func path(in document: String) -> String {
        var paths = ["/a", "/b", "/c", "/d", "/n/a", "/n/b", "/m/x", "/\u{e9}", "/e\u{301}"]
        if document.hasPrefix("w") { paths.append(contentsOf: ["/n", "/n", "/m"]) }
        return random.pick(paths)
    }

    /// A value for a path: mostly an array where the policy has a set.
    private mutating func value(for path: String) -> String {
        if frame.sets.contains(where: { $0.utf8.elementsEqual(path.utf8) }), random.chance(4, in: 5) {
            let elements = (0..<random.below(4)).map { _ in String(random.below(30)) }
            return "[\(elements.joined(separator: ","))]"
        }
        if random.chance(1, in: 4) { return random.pick(Values.edges).written }
        return random.chance(1, in: 20)
            ? "\"\(String(repeating: "x", count: random.within(100...2_000)))\"" : String(random.below(1_000_000))
    }

    /// A whole body; no two of its paths compete.
    private mutating func body(of document: String) -> String {
        var paths: [String] = []
        for _ in 0..<random.within(1...5) {
            let path = path(in: document)
            let competes = paths.contains { other in
                path.utf8.elementsEqual(other.utf8) || path.utf8.starts(with: (other + "/").utf8)
                    || other.utf8.starts(with: (path + "/").utf8)
            }
            if !competes { paths.append(path) }
        }
        var pairs: [String] = []
        for path in paths { pairs.append("\(path)=\(value(for: path))") }
        return pairs.joined(separator: " ")
    }

    private mutating func work(_ work: Work, on document: String, at time: Int) {
        let node = random.below(frame.nodes)
        let database = random.below(frame.databases)
        func operation(_ kind: Operation.Kind, _ path: String = "", _ fields: String = "") -> Operation {
            Operation(kind, node: node, database: database, document: document, path: path, fields: fields)
        }
        switch work {
        case .put: add(time, operation(.put, "", body(of: document)))
        case .set:
            let path = path(in: document)
            add(time, operation(.set, path, value(for: path)))
        case .unset: add(time, operation(.unset, path(in: document)))
        case .touch: add(time, operation(.touch))
        case .delete:
            add(time, operation(.delete))
            if random.chance(1, in: 3) { add(time + random.below(3_000), operation(.put, "", body(of: document))) }
        case .initial:
            // The same content on several nodes, and sometimes another.
            let fields = body(of: document)
            for other in random.shuffle(Array(0..<frame.nodes)).prefix(2) {
                var initial = operation(.initial, "", random.chance(3, in: 4) ? fields : body(of: document))
                initial.node = other
                add(time + random.below(500), initial)
            }
        case .purge: add(time, operation(.purge))
        case .resolve: add(time, operation(.resolve))
        case .read: add(time, operation(.read))
        case .conflict:
            let isSameField = random.chance(1, in: 2)
            let common = path(in: document)
            for other in random.shuffle(Array(0..<frame.nodes)).prefix(max(1, random.within(1...frame.nodes))) {
                let path = isSameField ? common : path(in: document)
                var write = random.chance(1, in: 6) ? operation(.delete) : operation(.set, path, value(for: path))
                write.node = other
                add(time + random.below(3), write)
            }
        case .burst:
            for step in 0..<random.within(5...30) {
                let path = path(in: document)
                add(time + step * random.below(3), operation(.set, path, value(for: path)))
            }
        case .bulk:
            var bulk = operation(.put, "", body(of: document) + " /bulk=$i")
            bulk.document = "b\(random.below(4))-"
            bulk.count = random.pick([2, 20, 100])
            add(time, bulk)
        case .large:
            var large = operation(.put, "", "/a=\(random.below(1_000_000))")
            large.size = random.pick(frame.length == .long ? [4_096, 65_536, 65_536, 1 << 20] : [4_096, 65_536])
            add(time, large)
        case .compact: add(time, Operation(.compact, node: node, database: database))
        case .verify: add(time, Operation(.verify, node: node, database: database))
        case .backupCheck: add(time, Operation(.backupCheck, node: node, database: database))
        }
    }
}
