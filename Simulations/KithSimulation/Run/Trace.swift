/// What happened, one line an event with fields of fixed width, and the rolling hash of all lines. Two runs of one plan
/// have the same hash, on any machine and in any process: if not, something depends on more than the seed.
struct Trace {
    private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    private(set) var lines: UInt64 = 0
    private let print: ((String) -> Void)?
    /// The last lines, each made when it is asked for: most never are.
    private var last: [() -> String] = []
    private static let recentLines = 30

    init(print: ((String) -> Void)?) { self.print = print }

    /// - Parameters:
    ///   - node: -1 for what belongs to no node.
    ///   - event: at most 12 characters.
    ///   - detail: for people, and not in the hash.
    mutating func line(
        _ time: UInt64, node: Int, _ event: StaticString, _ detail: @escaping @autoclosure () -> String = ""
    ) {
        mix(time)
        mix(UInt64(truncatingIfNeeded: node))
        event.withUTF8Buffer { mix($0) }
        lines += 1
        if let print { print(Self.text(time, node, event, detail())) }
        if last.count > 2 * Self.recentLines { last.removeFirst(Self.recentLines) }
        last.append { Self.text(time, node, event, detail()) }
    }

    /// Prints a line that is of no other use.
    func show(_ time: UInt64, node: Int, _ event: StaticString, _ detail: String) {
        print?(Self.text(time, node, event, detail))
    }

    /// The last lines, to show what led to a failure.
    var recent: [String] { last.suffix(2 * Self.recentLines).map { $0() } }

    /// Lets go of the last lines, which hold what they tell of.
    mutating func forgetLast() { last = [] }

    private mutating func mix(_ number: UInt64) { hash = (hash ^ number) &* 0x100_0000_01b3 }

    /// Takes bytes into the hash.
    mutating func mix(_ bytes: some Collection<UInt8>) {
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
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
