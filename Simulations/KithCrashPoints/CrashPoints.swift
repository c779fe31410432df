import KithStore
import KithTestSupport
import KithVirtualDisk

/// The power goes before every change that a piece of work makes on the disk, and once more before every change of the
/// recovery from that: nothing acknowledged is lost, and what is left is a sound file that can be written. A crash between
/// two changes, at a call that only reads, leaves what one before the second of them leaves.
///
/// Each crash is one of a copy of the disk as it was before the work. SQLite's random numbers are seeded for the process.
/// For one thread.
package struct CrashPoints {
    /// How much of the recoveries is tried.
    package enum Recovery: Sendable {
        case none
        /// Of the crashes every one with this number, from 0 on; 1 for all.
        case every(Int)
    }

    /// What was done and found.
    package struct Report: Sendable {
        /// The changes that the work makes.
        package var calls = 0
        /// Crashes in the work.
        package var crashes = 0
        /// Crashes in the recoveries from them.
        package var recoveryCrashes = 0
        /// Of all crashes those that left what an earlier one had left, with the same acknowledged, and were not looked at
        /// again.
        package var repetitions = 0
        /// What was wrong, and where.
        package var failures: [String] = []

        package init() {}

        /// Adds what was done and found for another survival of the same work, which has the same calls.
        package mutating func add(_ other: Report) {
            calls = max(calls, other.calls)
            crashes += other.crashes
            recoveryCrashes += other.recoveryCrashes
            repetitions += other.repetitions
            failures += other.failures
        }

        /// Crashes that were recovered from and looked at.
        package var cycles: Int { crashes + recoveryCrashes - repetitions }
    }

    private let work: CrashWork
    private let survival: Survival
    private let recovery: Recovery
    private let looksAgain: Bool
    private let plan: ((DiskCall) -> DiskOutcome)?
    private var report = Report()
    /// What was looked at: what was on the disk, and what was acknowledged.
    private var seen: Set<Sight> = []

    private struct Sight: Hashable {
        let disk: Int
        let ledger: CrashLedger
    }

    private init(
        _ work: CrashWork, _ survival: Survival, _ recovery: Recovery, looksAgain: Bool,
        _ plan: ((DiskCall) -> DiskOutcome)?
    ) {
        self.plan = plan
        self.looksAgain = looksAgain
        self.work = work
        self.survival = survival
        self.recovery = recovery
    }

    /// Tries all crashes of a kind of work.
    /// - Parameters:
    ///   - looksAgain: whether to look too at what is as another crash left it.
    ///   - plan: what becomes of the calls of the work besides.
    /// - Throws: what happened where nothing was to fail: before the work.
    package static func run(
        _ work: CrashWork, _ survival: Survival, _ recovery: Recovery, looksAgain: Bool = false,
        plan: ((DiskCall) -> DiskOutcome)? = nil
    ) throws -> Report {
        var points = CrashPoints(work, survival, recovery, looksAgain: looksAgain, plan)
        let base = try work.prepare()
        defer { base.discard() }
        let ledger = CrashLedger(work == .making ? [:] : try contents(base))
        while points.crash(base, ledger, at: points.report.calls) { points.report.calls += 1 }
        if points.report.calls < work.leastChanges {
            points.fail("\(work) \(survival)", "it makes \(points.report.calls) changes only")
        }
        return points.report
    }

    /// What the database on a disk holds, read from a copy.
    private static func contents(_ disk: VirtualDisk) throws -> [String: String] {
        let copy = disk.copied()
        defer { copy.discard() }
        return try OpenedStore(copy, seed: 5).contents()
    }

    /// Does the work on a copy of the disk until the power goes before that change, and looks at what is left.
    /// - Returns: whether it came to that change.
    private mutating func crash(_ base: VirtualDisk, _ ledger: CrashLedger, at change: Int) -> Bool {
        let disk = base.copied()
        defer { disk.discard() }
        var ledger = ledger
        // The salts of SQLite's logs too: so one crash leaves what another one left, where nothing happened in between.
        VirtualDiskLayer.seed(SeededGenerator(seed: 1))
        disk.powerGoesBefore = change
        disk.plan = plan
        var failure: (any Error)?
        do { try work.run(disk, &ledger) } catch { failure = error }
        let wasReached = disk.changes > change
        disk.plan = nil
        var generator = SeededGenerator(seed: UInt64(change))
        disk.cutPower(survival, &generator)
        let place = "\(work) \(survival), cut before change \(change)"
        if let failure, !wasReached { fail(place, "the work fails though the power stays on: \(failure)") }
        report.crashes += 1
        if isNew(disk, ledger) {
            if case .every(let step) = recovery, change % step == 0 { recover(disk, ledger, place) }
            look(at: disk, ledger, place)
        }
        return wasReached
    }

    /// Opens copies of what is left with the power going before each change of that too, and then for good.
    private mutating func recover(_ disk: VirtualDisk, _ ledger: CrashLedger, _ place: String) {
        for change in 0... {
            let copy = disk.copied()
            defer { copy.discard() }
            VirtualDiskLayer.seed(SeededGenerator(seed: 2))
            copy.powerGoesBefore = change
            _ = try? OpenedStore(copy, seed: 3, migrations: work.migrations)
            let wasReached = copy.changes > change
            var generator = SeededGenerator(seed: UInt64(change))
            copy.cutPower(survival, &generator)
            report.recoveryCrashes += 1
            if isNew(copy, ledger) { look(at: copy, ledger, "\(place), and before change \(change) of opening it") }
            if !wasReached { break }
        }
    }

    private mutating func isNew(_ disk: VirtualDisk, _ ledger: CrashLedger) -> Bool {
        if looksAgain || seen.insert(Sight(disk: disk.fingerprint, ledger: ledger)).inserted { return true }
        report.repetitions += 1
        return false
    }

    private mutating func look(at disk: VirtualDisk, _ ledger: CrashLedger, _ place: String) {
        do {
            let store = try OpenedStore(disk, seed: 4, migrations: work.migrations)
            if let lost = store.store.findings.lostLog { fail(place, "its log \(lost)") }
            let mistakes = ledger.mistakes(try store.contents())
            if !mistakes.isEmpty { fail(place, "not as they were acknowledged: \(mistakes)") }
            if !work.hasItsFormat(store.file.path) { fail(place, "not all of it was brought to its format") }
            if let position = ledger.position, try store.reader.resume(at: position) == nil {
                fail(place, "what peers were told of is not known")
            }
            // A check knows the present format alone.
            if work != .migrating {
                var findings: [StoreFinding] = []
                let summary = try Verification(store.file) { findings.append($0) }.run { _, _ in }
                if !findings.isEmpty || !summary.notes.isEmpty { fail(place, "\(findings) \(summary.notes)") }
            }
            // It goes on.
            try store.put("afterwards", "{}")
            if try store.body("afterwards") != "{}" { fail(place, "it can't be written") }
        } catch { fail(place, "\(error)") }
    }

    private mutating func fail(_ place: String, _ what: String) { report.failures.append("\(place): \(what)") }
}
