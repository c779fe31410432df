import KithSystem
import KithTestSupport
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The disk of a machine, in memory: a tree of directories, for SQLite and for all that a node does with files. Any call
/// can be made to fail, to be lost, to go astray, or to be the last one before the power goes; and it is known what a
/// power cut leaves.
///
/// Who uses it is a `DiskProcess`, which can be killed. Of a real disk it supposes the worst that file systems allow: see
/// `FileContent` and `DiskNames`.
///
/// `@unchecked Sendable`: everything mutable is read and written with `mutex` held, and it is not held while `plan` is
/// asked.
package final class VirtualDisk: @unchecked Sendable {
    /// The directory at the top. Paths under it are on this disk, for every connection of SQLite in this process.
    package let directory: String

    private let mutex = Mutex(())
    var names = DiskNames()
    private var nextNumber = DiskNames.rootNumber + 1
    private var plannedOutcome: ((DiskCall) -> DiskOutcome)?
    private var lastChange: Int?
    private var changeCount = 0
    /// Counts the power cuts.
    private(set) var power: UInt64 = 0
    private var isOff = false
    private var limit: Int?
    private var refusesChanges = false
    private var isSpared = false
    private var pace: DiskSpeed?
    private var elapsed = 0
    var coin: SeededGenerator?

    package init() {
        directory = DiskRegistry.nextDirectory()
        DiskRegistry.add(self)
    }

    /// Takes the disk out of reach of SQLite. Nothing may have a file of it open.
    package func discard() { DiskRegistry.remove(self) }

    func locked<Value>(_ body: () -> Value) -> Value { mutex.withLock { _ in body() } }

    func nextFileNumber() -> UInt64 {
        defer { nextNumber += 1 }
        return nextNumber
    }

    // MARK: Processes

    /// A new process of the machine. It ends when it is killed, and when the power goes.
    package func start() -> DiskProcess { DiskProcess(self, power: locked { power }) }

    /// The disk as it is for whoever is no process that could end.
    package var files: DiskProcess { DiskProcess(self, power: nil) }

    /// Whether nothing comes of what a process asks for any more.
    func isOver(_ process: DiskProcess) -> Bool { process.isKilled || process.power.map { $0 != power } ?? false }

    /// Whether nothing comes of a handle any more.
    func isPast(_ handle: DiskHandle) -> Bool { handle.power != power || isOver(handle.process) }

    // MARK: Faults

    /// Says what becomes of each call; nil for no faults. Asked on the thread that calls.
    package var plan: ((DiskCall) -> DiskOutcome)? {
        get { locked { plannedOutcome } }
        set { locked { plannedOutcome = newValue } }
    }

    /// From now on synchronisations that fail have done some of what waited for them; without it none.
    package func tossCoins(_ generator: SeededGenerator) { locked { coin = generator } }

    /// The power goes before the change of that number, counted from 0, whatever `plan` says; nil for never.
    package var powerGoesBefore: Int? {
        get { locked { lastChange } }
        set { locked { lastChange = newValue } }
    }

    /// Whether the power has gone with a call: nothing is done any more.
    package var isWithoutPower: Bool { locked { isOff } }

    /// How many changes were asked for so far, those that failed among them.
    package var changes: Int { locked { changeCount } }

    /// The bytes that fit; nil for as many as are wanted.
    package var capacity: Int? {
        get { locked { limit } }
        set { locked { limit = newValue } }
    }

    /// As `capacity`, for a call.
    var room: Int? { isSpared ? nil : limit }

    /// Whether the file system is mounted for reading only, as after an error of the disk: what would change it fails with
    /// `EROFS`, of files that are open too.
    package var isReadOnly: Bool {
        get { locked { refusesChanges } }
        set { locked { refusesChanges = newValue } }
    }

    /// How long calls take; nil for no time at all.
    package var speed: DiskSpeed? {
        get { locked { pace } }
        set { locked { pace = newValue } }
    }

    /// Nothing goes wrong with calls now, none takes time, and none is counted: for whoever looks at the disk, or puts
    /// something on it, from outside of the machine.
    package var sparesCalls: Bool {
        get { locked { isSpared } }
        set { locked { isSpared = newValue } }
    }

    /// The time that calls have taken since this was asked last, in microseconds, for whoever drives virtual time.
    package func takeElapsed() -> Int {
        locked {
            defer { elapsed = 0 }
            return elapsed
        }
    }

    func elapse(microseconds: Int) { locked { elapsed += microseconds } }

    /// The power goes and comes back: all processes have ended, and what nobody had synchronised may be gone.
    package func cutPower(_ survival: Survival, _ generator: inout SeededGenerator) {
        mutex.withLock { _ in
            names = names.afterPowerCut(survival, &generator)
            begin()
        }
    }

    /// All that programs see is durable now: what a disk only said to have synchronised gets there in the end.
    package func settle() {
        locked {
            names.synchronizeAll()
            for file in names.files { file.content.synchronize() }
        }
    }

    private func begin() {
        power += 1
        isOff = false
        lastChange = nil
    }

    /// Tells what programs see on this disk from anything else, within this process.
    package var fingerprint: Int {
        locked {
            var hasher = Hasher()
            names.hash(into: &hasher)
            return hasher.finalize()
        }
    }

    /// A disk of its own with what programs see on this one now: a backup, a copied machine, a point to return to.
    package func copied() -> VirtualDisk {
        let copy = VirtualDisk()
        copy.take(locked { (names.copied(), nextNumber) })
        return copy
    }

    /// Puts back what another disk holds: a restored backup, or a machine that was rolled back. All processes have ended.
    package func restore(_ other: VirtualDisk) { take(other.locked { (other.names.copied(), other.nextNumber) }) }

    private func take(_ content: (names: DiskNames, number: UInt64)) {
        locked {
            names = content.names
            nextNumber = max(nextNumber, content.number)
            begin()
        }
    }

    // MARK: Calls

    /// Asks what becomes of a call.
    /// - Returns: nil where nothing comes of it, since the power is off or the process has ended: it fails with `EIO`.
    func ask(
        _ process: DiskProcess, _ operation: DiskCall.Operation, _ path: String, of handle: DiskHandle? = nil,
        _ range: Range<Int> = 0..<0
    ) -> DiskOutcome? {
        let asked: (call: DiskCall, plan: ((DiskCall) -> DiskOutcome)?)? = locked {
            guard !isOff, !isOver(process), !(handle.map(isPast) ?? false) else { return nil }
            let call = DiskCall(operation: operation, path: path, range: range, change: changeCount)
            if isSpared { return (call, nil) }
            if operation.isChange {
                if let lastChange, changeCount >= lastChange {
                    changeCount += 1
                    isOff = true
                    return nil
                }
                changeCount += 1
            }
            if let pace { elapsed += pace.microseconds(call) }
            return (call, plannedOutcome)
        }
        guard let asked else { return nil }
        let outcome = asked.plan?(asked.call) ?? .done
        switch outcome {
        case .powerGoes:
            locked { isOff = true }
            return nil
        case .delayed(let microseconds):
            elapse(microseconds: microseconds)
            return refusal(of: operation) ?? .done
        case .done: return refusal(of: operation) ?? .done
        default: return outcome
        }
    }

    /// As `isReadOnly`, for a call.
    var refuses: Bool { locked { refusesChanges && !isSpared } }

    private func refusal(of operation: DiskCall.Operation) -> DiskOutcome? {
        let isHarmless = !operation.isChange || operation == .synchronize || operation == .synchronizeDirectory
        return !isHarmless && refuses ? .failed(EROFS) : nil
    }
}
