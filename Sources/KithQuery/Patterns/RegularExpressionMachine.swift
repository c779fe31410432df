/// Runs a compiled pattern over a text: the set of all steps that the program may be at goes forward a character at a time.
struct RegularExpressionMachine {
    private let program: RegularExpression
    private let text: [Unicode.Scalar]
    var mustReachEnd = false
    /// Threads that went forward so far.
    private var work = 0

    private struct Thread {
        let step: Int
        let saved: [Int]
    }

    /// The threads in the order of preference. `marks` says in which round a step was added last.
    private struct Threads {
        var list: [Thread] = []
        var marks: [Int]
    }

    init(_ program: RegularExpression, _ text: [Unicode.Scalar]) {
        self.program = program
        self.text = text
    }

    /// - Throws: `QueryError.running` when all runs together have taken too long.
    mutating func run(from start: Int, onlyThere: Bool = false) throws(QueryError) -> RegularExpression.Match? {
        guard start <= text.count else { return nil }
        let limit = QueryLimits.patternWork + QueryLimits.patternWorkPerCharacter * text.count
        let unset = [Int](repeating: -1, count: 2 * program.groupCount)
        var now = Threads(marks: [Int](repeating: -1, count: program.steps.count))
        var next = now
        var best: [Int]?
        for place in start...text.count {
            if best == nil, place == start || !onlyThere { add(0, unset, at: place, to: &now) }
            if now.list.isEmpty, best != nil || onlyThere { break }
            work += 1 + now.list.count
            if work > limit { throw .running("a pattern takes too long on a text of this length") }
            next.list.removeAll(keepingCapacity: true)
            for thread in now.list {
                switch program.steps[thread.step] {
                case .character(let set):
                    if place < text.count, set.contains(text[place]) {
                        add(thread.step + 1, thread.saved, at: place + 1, to: &next)
                    }
                case .match where !mustReachEnd || place == text.count:
                    best = thread.saved
                default: continue
                }
                // Those after it are preferred less.
                if program.steps[thread.step] == .match, best != nil { break }
            }
            swap(&now, &next)
        }
        return best.map { saved in
            RegularExpression.Match(
                groups: (0..<program.groupCount).map { group in
                    let (low, high) = (saved[2 * group], saved[2 * group + 1])
                    return low >= 0 && high >= low ? low..<high : nil
                })
        }
    }

    /// Adds a step and all that are reached from it without a character. A stack of its own, since patterns come from
    /// outside.
    private func add(_ step: Int, _ saved: [Int], at place: Int, to threads: inout Threads) {
        var stack = [Thread(step: step, saved: saved)]
        while let thread = stack.popLast() {
            guard threads.marks[thread.step] != place else { continue }
            threads.marks[thread.step] = place
            switch program.steps[thread.step] {
            case .jump(let target): stack.append(Thread(step: target, saved: thread.saved))
            case .split(let first, let second):
                stack.append(Thread(step: second, saved: thread.saved))
                stack.append(Thread(step: first, saved: thread.saved))
            case .save(let slot):
                var saved = thread.saved
                saved[slot] = place
                stack.append(Thread(step: thread.step + 1, saved: saved))
            case .assertion(let assertion):
                if holds(assertion, at: place) { stack.append(Thread(step: thread.step + 1, saved: thread.saved)) }
            case .character, .match: threads.list.append(thread)
            }
        }
    }

    private func holds(_ assertion: RegularExpression.Assertion, at place: Int) -> Bool {
        switch assertion {
        case .textStart: place == 0
        case .textEnd: place == text.count
        case .lineStart: place == 0 || text[place - 1] == "\n"
        case .lineEnd: place == text.count || text[place] == "\n"
        case .wordBoundary: isWord(place - 1) != isWord(place)
        case .noWordBoundary: isWord(place - 1) == isWord(place)
        }
    }

    private func isWord(_ place: Int) -> Bool {
        text.indices.contains(place) && CharacterSet.words.contains(text[place])
    }
}
