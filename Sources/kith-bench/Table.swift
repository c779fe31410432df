/// What the bench found, a line for each thing measured.
struct Table {
    private static let widths = (name: 30, column: 14)

    static let heading =
        "what".padded(to: widths.name) + "kith".aligned(to: widths.column) + "raw".aligned(to: widths.column)
        + "ratio".aligned(to: 9) + "   target"

    /// Documents a second beside raw SQLite. The ratio is the median of those of the runs, since the two sides of one run
    /// are a moment apart and the runs are not.
    static func rates(_ name: String, _ runs: [(kith: Double, raw: Double)], target: Double) -> String {
        let ratio = median(runs.map { $0.kith / $0.raw })
        return line(
            name, "\(Int(median(runs.map(\.kith))))/s", "\(Int(median(runs.map(\.raw))))/s",
            "\((ratio * 100).rounded() / 100)", ">= \(target)", ratio >= target ? "ok" : "below")
    }

    /// Times in milliseconds with an upper limit.
    static func times(_ name: String, kith: [Double], raw: [Double], limit: Double) -> String {
        func text(_ time: Double) -> String { "\((time * 1000).rounded() / 1000) ms" }
        let time = median(kith)
        return line(
            name, text(time), text(median(raw)), "\((time / median(raw)).rounded())", "< \(Int(limit)) ms",
            time < limit ? "ok" : "above")
    }

    /// The largest of sizes in MB with an upper limit.
    static func sizes(_ name: String, _ megabytes: [Double], limit: Double) -> String {
        let size = megabytes.max() ?? 0
        return line(
            name, "\(Int(size.rounded(.up))) MB", "", "", "< \(Int(limit)) MB", size < limit ? "ok" : "above")
    }

    /// What is measured without a target.
    static func cost(_ name: String, _ microseconds: [Double]) -> String {
        line(name, "\((median(microseconds) * 10).rounded() / 10) us", "", "", "", "")
    }

    private static func line(
        _ name: String, _ kith: String, _ raw: String, _ ratio: String, _ target: String, _ verdict: String
    ) -> String {
        name.padded(to: widths.name) + kith.aligned(to: widths.column) + raw.aligned(to: widths.column)
            + ratio.aligned(to: 9) + "   " + target.padded(to: 11) + verdict
    }

    static func median(_ numbers: [Double]) -> Double {
        if numbers.isEmpty { return .nan }
        let sorted = numbers.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    fileprivate func aligned(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
