import KithNode
import KithSystem

/// A bar on standard error while something long goes on. Where that is no terminal it draws nothing.
struct ProgressBar {
    private let label: String
    private let isShown: Bool
    private let unit: Unit
    /// In milliseconds of the clock that only goes forward; 0 for never.
    private var drawnAt: UInt64 = 0

    /// What is counted.
    enum Unit { case bytes, documents }

    init(_ label: String, isShown: Bool, unit: Unit = .bytes) {
        self.label = label
        self.isShown = isShown
        self.unit = unit
    }

    /// Draws how far it went, at most ten times a second.
    /// - Parameter total: nil where it is not known.
    mutating func update(_ done: Int, of total: Int?) {
        guard isShown else { return }
        let now = SystemClock().monotonicMilliseconds
        guard now - drawnAt >= 100 else { return }
        drawnAt = now
        draw(done, total)
    }

    /// Draws the end of the way and leaves the line.
    mutating func finish(_ done: Int, of total: Int?) {
        guard isShown else { return }
        draw(done, total)
        Messages.raw("\n")
    }

    /// Removes what was drawn.
    mutating func clear() { if isShown, drawnAt != 0 { Messages.raw("\r\u{1B}[K") } }

    private func draw(_ done: Int, _ total: Int?) {
        Messages.raw("\r\(Self.text(label, done, total, unit, width: Terminal.size().columns))\u{1B}[K")
    }

    /// The line that is drawn.
    static func text(_ label: String, _ done: Int, _ total: Int?, _ unit: Unit = .bytes, width: Int) -> String {
        func shown(_ number: Int) -> String {
            let number = UInt64(max(0, number))
            return unit == .bytes ? Wording.size(number) : Wording.plural(number, "document", "documents")
        }
        let size = shown(done)
        guard let total, total > 0 else { return Display.cut("\(label)  \(size)", to: width - 1) }
        let share = min(1, Double(done) / Double(total))
        let room = min(30, width - Display.cells(label) - (unit == .bytes ? 24 : 36))
        var text = label
        if room >= 5 {
            let filled = Int(Double(room) * share)
            text += "  [" + String(repeating: "#", count: filled) + String(repeating: "-", count: room - filled) + "]"
        }
        return Display.cut(
            "\(text)  \(unit == .bytes ? size : Wording.count(UInt64(max(0, done)))) of \(shown(total))", to: width - 1)
    }
}
