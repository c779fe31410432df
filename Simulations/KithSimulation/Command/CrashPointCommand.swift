import Dispatch
import Glibc
import KithCrashPoints
import KithSystem
import KithVirtualDisk
import Synchronization

/// `kith-sim --crash-points`: the power goes at every call of every kind of work, and at every call of the recoveries. Each
/// kind has a process of its own, since SQLite's random numbers are seeded for the process.
struct CrashPointCommand: Sendable {
    static let option = "--crash-points"
    /// Looks too at what is as another crash left it.
    private static let all = "--all"
    /// Does the kinds of work in this process, and prints what the parent reads.
    private static let here = "--here"

    private let works: [CrashWork]
    private let looksAgain: Bool

    /// What was found for one kind of work.
    private struct Finding: Sendable {
        var report = CrashPoints.Report()
        var milliseconds: UInt64 = 0
    }

    private struct State {
        var next = 0
        /// By number, until those before have been shown.
        var found: [Int: Finding] = [:]
        var shown = 0
        var total = Finding()
    }

    /// Runs it.
    /// - Parameter arguments: the kinds of work, none for all; and `--all`.
    /// - Returns: the exit status: 0 all held, 1 something did not, 64 wrong usage.
    static func run(arguments: [String]) -> Int32 {
        let names = arguments.filter { $0 != all && $0 != here }
        let works = names.compactMap { CrashWork(rawValue: $0) }
        guard works.count == names.count else {
            print(
                "kith-sim: \(option) takes kinds of work: \(CrashWork.allCases.map(\.rawValue).joined(separator: ", "))"
            )
            return 64
        }
        let command = CrashPointCommand(
            works: works.isEmpty ? CrashWork.allCases : works, looksAgain: arguments.contains(all))
        guard arguments.contains(here) else { return command.run() }
        for work in command.works { print(text(of: command.find(work))) }
        return 0
    }

    private func run() -> Int32 {
        print(Self.row("work", "calls", "crashes", "in recovery", "wrong", "per second"))
        let state = Mutex(State())
        let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        DispatchQueue.concurrentPerform(iterations: processors) { _ in
            while let number = state.withLock({ takeNext(&$0) }) {
                let finding = findInChild(works[number])
                state.withLock { note(finding, number, &$0) }
            }
        }
        let total = state.withLock(\.total)
        Self.show("all", total, failures: 0)
        return total.report.failures.isEmpty ? 0 : 1
    }

    private func takeNext(_ state: inout State) -> Int? {
        guard state.next < works.count else { return nil }
        defer { state.next += 1 }
        return state.next
    }

    private func note(_ finding: Finding, _ number: Int, _ state: inout State) {
        state.found[number] = finding
        while let finding = state.found.removeValue(forKey: state.shown) {
            Self.show(works[state.shown].rawValue, finding, failures: 10)
            state.shown += 1
            let calls = state.total.report.calls + finding.report.calls
            state.total.report.add(finding.report)
            state.total.report.calls = calls
            state.total.milliseconds += finding.milliseconds
        }
    }

    // MARK: One kind

    private func find(_ work: CrashWork) -> Finding {
        let start = SystemClock().monotonicMilliseconds
        var finding = Finding()
        for survival in Survival.allCases {
            do {
                finding.report.add(try CrashPoints.run(work, survival, .every(1), looksAgain: looksAgain))
            } catch {
                finding.report.failures.append("\(work) \(survival): \(error)")
            }
        }
        finding.milliseconds = SystemClock().monotonicMilliseconds - start
        return finding
    }

    private func findInChild(_ work: CrashWork) -> Finding {
        let options = [Self.option, work.rawValue, Self.here] + (looksAgain ? [Self.all] : [])
        switch ChildRun(program: ChildRun.ownProgram).end(of: options) {
        case .unstarted(let why): return Self.failed("\(work): \(why)")
        case .late: return Self.failed("\(work): no end")
        case .ended(let status, let output):
            guard status == 0, let finding = Self.finding(in: output) else {
                return Self.failed("\(work): it ended with \(status): \(output.suffix(300))")
            }
            return finding
        }
    }

    private static func failed(_ why: String) -> Finding {
        var finding = Finding()
        finding.report.failures.append(why)
        return finding
    }

    private static func text(of finding: Finding) -> String {
        let report = finding.report
        let numbers = [report.calls, report.crashes, report.recoveryCrashes, report.repetitions]
        let words = numbers.map { String($0) } + [String(finding.milliseconds)]
        return ([words.joined(separator: " ")] + report.failures).joined(separator: "\n")
    }

    private static func finding(in text: String) -> Finding? {
        let lines = text.split(separator: "\n").map { String($0) }
        let numbers = (lines.first ?? "").split(separator: " ").compactMap { Int($0) }
        guard numbers.count == 5, numbers[4] >= 0 else { return nil }
        var finding = Finding()
        finding.report.calls = numbers[0]
        finding.report.crashes = numbers[1]
        finding.report.recoveryCrashes = numbers[2]
        finding.report.repetitions = numbers[3]
        finding.milliseconds = UInt64(numbers[4])
        finding.report.failures = Array(lines.dropFirst())
        return finding
    }

    // MARK: The table

    private static func show(_ name: String, _ finding: Finding, failures: Int) {
        let report = finding.report
        print(
            row(
                name, "\(report.calls)", "\(report.crashes)", "\(report.recoveryCrashes)", "\(report.failures.count)",
                "\(report.cycles * 1_000 / max(1, Int(finding.milliseconds)))"))
        for failure in report.failures.prefix(failures) { print("  \(failure)") }
        fflush(nil)
    }

    private static func row(_ columns: String...) -> String {
        columns.map { $0 + String(repeating: " ", count: max(1, 13 - $0.utf8.count)) }.joined()
    }
}
