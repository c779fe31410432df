/// What happened, one line an event with fields of fixed width, and the rolling hash of all lines. Two runs of one plan
/// have the same hash, on any machine and in any process: if not, something depends on more than the seed.
struct Trace {
    private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    private(set) var lines: UInt64 = 0
    private let print: ((String) -> Void)?
    /// The last lines, to show what led to a failure.
    private(set) var recent: [String] = []
    private static let recentLines = 30

    init(print: ((String) -> Void)?) { self.print = print }

    /// Adds a line.
    /// - Parameters:
    ///   - node: -1 for what belongs to no node.
    ///   - event: at most 12 characters.
    mutating func line(_ time: UInt64, node: Int, _ event: StaticString, _ detail: String = "") {
        let text = Self.text(time, node, event, detail)
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = (hash ^ 10) &* 0x100_0000_01b3
        lines += 1
        print?(text)
        recent.append(text)
        if recent.count > 2 * Self.recentLines { recent.removeFirst(Self.recentLines) }
    }

    /// Prints a line that is there for whoever reads the trace only: it is no part of the hash, which is the same whether
    /// anybody reads or not.
    func show(_ time: UInt64, node: Int, _ event: StaticString, _ detail: String) {
        print?(Self.text(time, node, event, detail))
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
