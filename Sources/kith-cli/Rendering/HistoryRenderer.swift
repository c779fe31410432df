import KithDocument

/// The text of `kith history`: the revision tree, a revision a line, from the oldest to the newest. A branch that ended
/// stands to the right of the one that goes on to the winner.
struct HistoryRenderer {
    let history: JSONValue
    let width: Int?
    let colour: Bool

    init(_ history: JSONValue, width: Int?, colour: Bool) {
        self.history = history
        self.width = width
        self.colour = colour
    }

    func lines() -> [String] {
        let revisions = history["revisions"]?.array ?? []
        if revisions.isEmpty { return ["no revisions known"] }
        var children: [String: [Int]] = [:]
        var index: [String: Int] = [:]
        for (place, revision) in revisions.enumerated() { index[revision["rev"]?.string ?? ""] = place }
        var roots: [Int] = []
        for (place, revision) in revisions.enumerated() {
            if let parent = revision["parent"]?.string, let above = index[parent], above != place {
                children[parent, default: []].append(place)
            } else {
                roots.append(place)
            }
        }
        let main = mainline(revisions, index)
        var lines: [String] = []
        // What is left to draw, the next last: a stack, for a history may be deep.
        var open = ordered(roots, main).reversed().map { (place: $0, prefix: "", branches: false) }
        var drawn: Set<Int> = []
        while let (place, prefix, branches) = open.popLast() {
            guard drawn.insert(place).inserted else { continue }
            let revision = revisions[place]
            let below = ordered(children[revision["rev"]?.string ?? ""] ?? [], main)
            lines += draw(revision, prefix, branches)
            for (position, child) in below.enumerated().reversed() {
                let beside = below.count - 1 - position
                open.append((child, prefix + String(repeating: "| ", count: beside), beside > 0))
            }
        }
        return lines.map { line in width.map { Display.cut(Display.clean(line), to: $0) } ?? Display.clean(line) }
    }

    /// The revisions from the winner up.
    private func mainline(_ revisions: [JSONValue], _ index: [String: Int]) -> Set<Int> {
        var main: Set<Int> = []
        var next = revisions.firstIndex { $0["winner"]?.bool == true }
        while let place = next, main.insert(place).inserted {
            next = revisions[place]["parent"]?.string.flatMap { index[$0] }
        }
        return main
    }

    /// In the order they came in, the one on the way to the winner last.
    private func ordered(_ places: [Int], _ main: Set<Int>) -> [Int] {
        places.filter { !main.contains($0) } + places.filter { main.contains($0) }
    }

    /// - Parameter branches: whether it is the first of a branch beside others.
    private func draw(_ revision: JSONValue, _ prefix: String, _ branches: Bool) -> [String] {
        let kind = revision["kind"]?.string ?? "?"
        let isWinner = revision["winner"]?.bool == true
        let mark = isWinner ? "*" : kind == "deleted" || kind == "closed" ? "x" : "o"
        var words = [revision["rev"]?.string ?? "?", kind]
        if isWinner { words.append("winner") } else if revision["leaf"]?.bool == true { words.append("leaf") }
        if revision["foreign"]?.bool == true { words.append("foreign") }
        if let time = revision["time"]?.string { words.append(time) }
        let begin = branches ? "\(prefix.dropLast())-" : prefix
        var lines = ["\(begin)\(mark) \(words.joined(separator: "  "))"]
        for merged in revision["merged_parents"]?.array ?? [] {
            lines.append("\(prefix)|   with \(merged.string ?? "?")")
        }
        for overruled in revision["overruled"]?.array ?? [] {
            let value = overruled["value"].map { $0.isNull ? "no value" : $0.description } ?? "no value"
            lines.append(
                "\(prefix)|   overruled \(overruled["path"]?.string ?? "?"): \(value) of \(overruled["rev"]?.string ?? "?")"
            )
        }
        return lines
    }
}
