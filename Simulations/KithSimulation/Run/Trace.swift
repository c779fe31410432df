/// What happened, one line an event with fields of fixed width, and the rolling hash of all lines. Two runs of one plan
/// have the same hash, on any machine and in any process: if not, something depends on more than the seed.
struct Trace {
    private var rolling = RollingHash()
    private(set) var lines: UInt64 = 0
    private let print: ((String) -> Void)?
    /// The last lines, each put in words when it is asked for: most never are.
    private var last: [Line] = []
    private static let recentLines = 30

    private struct Line {
        let time: UInt64
        let node: Int
        let event: StaticString
        let detail: String
    }

    init(print: ((String) -> Void)?) { self.print = print }

    var hash: UInt64 { rolling.value }

    /// - Parameters:
    ///   - node: -1 for what belongs to no node.
    ///   - event: at most 12 characters.
    mutating func line(_ time: UInt64, node: Int, _ event: StaticString, _ detail: String = "") {
        rolling.mix(time)
        rolling.mix(UInt64(truncatingIfNeeded: node))
        rolling.mix(event)
        rolling.mix(detail)
        lines += 1
        if let print { print(Self.text(time, node, event, detail)) }
        if last.count > 2 * Self.recentLines { last.removeFirst(Self.recentLines) }
        last.append(Line(time: time, node: node, event: event, detail: detail))
    }

    /// Prints a line of what the world has in its own hash.
    func show(_ time: UInt64, node: Int, _ event: StaticString, _ detail: String) {
        print?(Self.text(time, node, event, detail))
    }

    /// The last lines, to show what led to a failure.
    var recent: [String] {
        last.suffix(2 * Self.recentLines).map { Self.text($0.time, $0.node, $0.event, $0.detail) }
    }

    private static func text(_ time: UInt64, _ node: Int, _ event: StaticString, _ detail: String) -> String {
        let milliseconds = padded(String(time / 1_000), to: 8)
        let micros = String(time % 1_000 + 1_000).dropFirst()
        var name = String(describing: event)
        if name.utf8.count < 12 { name += String(repeating: " ", count: 12 - name.utf8.count) }
        return "\(milliseconds).\(micros) \(node < 0 ? "-" : String(node)) \(name) \(detail)"
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text.utf8.count >= width ? text : String(repeating: " ", count: width - text.utf8.count) + text
    }
}
