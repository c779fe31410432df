import KithCrashPoints
import KithSystem
import KithVirtualDisk

/// `kith-sim --crash-points`: the power goes at every call of every kind of work, and at every call of the recoveries.
enum CrashPointCommand {
    static let option = "--crash-points"

    /// Runs it.
    /// - Parameter arguments: the kinds of work; none for all.
    /// - Returns: the exit status: 0 all held, 1 something did not, 64 wrong usage.
    static func run(arguments: [String]) -> Int32 {
        let kinds = arguments.compactMap { CrashWork(rawValue: $0) }
        guard kinds.count == arguments.count else {
            print(
                "kith-sim: \(option) takes kinds of work: \(CrashWork.allCases.map(\.rawValue).joined(separator: ", "))"
            )
            return 64
        }
        print(row("work", "calls", "crashes", "in recovery", "wrong", "per second"))
        var total = CrashPoints.Report()
        var milliseconds: UInt64 = 0
        for work in kinds.isEmpty ? CrashWork.allCases : kinds {
            let start = SystemClock().monotonicMilliseconds
            var report = CrashPoints.Report()
            for survival in Survival.allCases {
                do { report.add(try CrashPoints.run(work, survival, .every(1), looksAgain: true)) } catch {
                    report.failures.append("\(work) \(survival): \(error)")
                }
            }
            let time = SystemClock().monotonicMilliseconds - start
            print(row(work.rawValue, report, time))
            for failure in report.failures.prefix(10) { print("  \(failure)") }
            milliseconds += time
            let calls = total.calls + report.calls
            total.add(report)
            total.calls = calls
        }
        print(row("all", total, milliseconds))
        return total.failures.isEmpty ? 0 : 1
    }

    private static func row(_ name: String, _ report: CrashPoints.Report, _ milliseconds: UInt64) -> String {
        row(
            name, "\(report.calls)", "\(report.crashes)", "\(report.recoveryCrashes)", "\(report.failures.count)",
            "\(report.cycles * 1_000 / max(1, Int(milliseconds)))")
    }

    private static func row(_ columns: String...) -> String {
        columns.map { $0 + String(repeating: " ", count: max(1, 13 - $0.utf8.count)) }.joined()
    }
}
