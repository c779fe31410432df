import KithNode

/// The text of `kith doctor`: the cause, then each check, what to do where something is, and its details. Pure.
struct DoctorRenderer {
    private let report: DoctorReport
    /// Cells to keep to; nil where lines are not broken.
    private let width: Int?
    private let colour: Bool
    /// What is shown of one text: names out of the network may be in it.
    private static let characters = 1_000

    init(_ report: DoctorReport, width: Int?, colour: Bool) {
        self.report = report
        self.width = width
        self.colour = colour
    }

    func lines() -> [String] {
        let style: Style =
            report.isTrouble ? .bad : report.checks.contains { $0.verdict == .warning } ? .warning : .good
        let cause = broken(Shown.line(report.cause, limit: Self.characters), first: "", rest: "  ")
        return cause.map { style.apply($0, colour: colour) } + [""] + report.checks.flatMap { lines($0) }
    }

    private func lines(_ check: DoctorReport.Check) -> [String] {
        let (word, style) = Self.word(check.verdict)
        let margin = String(repeating: " ", count: 23)
        var lines = broken(
            Shown.line(check.summary, limit: Self.characters),
            first: "\(Display.pad(word, to: 8)) \(Display.pad(check.name, to: 13)) ", rest: margin)
        // The word is at a known place, so it can be coloured after the text was put on lines.
        lines[0] = style.apply(word, colour: colour) + lines[0].dropFirst(word.count)
        if let action = check.action, check.verdict != .ok {
            lines += broken(action, first: "\(margin)do: ", rest: margin)
        }
        for detail in check.details {
            lines += broken(Shown.line(detail, limit: Self.characters), first: "\(margin)- ", rest: "\(margin)  ")
        }
        return lines
    }

    private static func word(_ verdict: DoctorReport.Verdict) -> (String, Style) {
        switch verdict {
        case .ok: ("ok", .good)
        case .warning: ("warning", .warning)
        case .failed: ("FAILED", .bad)
        case .skipped: ("skipped", .quiet)
        }
    }

    private func broken(_ text: String, first: String, rest: String) -> [String] {
        guard let width else { return [first + text] }
        let words = Display.wrap(text, to: max(20, width - max(Display.cells(first), Display.cells(rest))))
        return words.enumerated().map { ($0 == 0 ? first : rest) + $1 }
    }
}
