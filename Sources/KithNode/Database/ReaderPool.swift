import Dispatch
import KithStore
import KithSystem
import Synchronization

/// A few reader connections of one database, each on a queue of its own; work goes to the one with the least to do.
final class ReaderPool: Sendable {
    private final class Slot: @unchecked Sendable {
        // Sendable: what varies is touched on `queue` only.
        let queue: any WorkQueue
        let waiting = Atomic(0)
        /// Those of them that may take long.
        let waitingLong = Atomic(0)
        /// When the work at hand began, on the clock that only goes forward; 0 while there is none.
        let since = Atomic<UInt64>(0)
        var reader: StoreReader?
        var isClosed = false

        init(_ queue: any WorkQueue) { self.queue = queue }
    }

    private typealias Work = @Sendable (Result<StoreReader, StoreError>) -> Void

    /// Keeps back what is asked while connections are to close: else each waits for what came after it was told.
    private struct Gate {
        var isShut = false
        var held: [(work: Work, isLong: Bool)] = []
    }

    private let file: DatabaseFile
    private let place: Mutex<FilePlace>
    private let slots: [Slot]
    private let gate = Mutex(Gate())
    private let clock: any MachineClock

    /// - Parameter place: which file is open; no other is read in its place.
    init(_ file: DatabaseFile, _ place: FilePlace, on machine: Machine) {
        clock = machine.clock
        self.file = file
        self.place = Mutex(place)
        slots = (0..<NodeLimits.readersPerDatabase).map { Slot(machine.queue("kith.reader.\(file.name).\($0)")) }
    }

    /// Another file was opened in the place of the first.
    func setPlace(_ place: FilePlace) { self.place.withLock { $0 = place } }

    /// Hands the work a reader, or why none could be opened.
    /// - Parameter isLong: for what may take as long as it likes: one connection is kept from it, for all that is short, and what
    ///   is short does not wait behind it.
    func run(isLong: Bool = false, _ work: @escaping @Sendable (Result<StoreReader, StoreError>) -> Void) {
        let isHeld = gate.withLock { gate in
            if gate.isShut { gate.held.append((work, isLong)) }
            return gate.isShut
        }
        if !isHeld { begin(work, isLong) }
    }

    private func begin(_ work: @escaping Work, _ isLong: Bool) {
        func line(_ slot: Slot) -> Int {
            let isOpen = isLong || slot.waitingLong.load(ordering: .relaxed) == 0
            return isOpen ? slot.waiting.load(ordering: .relaxed) : .max
        }
        let slot = slots.dropFirst(isLong ? 1 : 0).min { line($0) < line($1) } ?? slots[0]
        slot.waiting.add(1, ordering: .relaxed)
        if isLong { slot.waitingLong.add(1, ordering: .relaxed) }
        slot.queue.async { [self] in
            defer {
                slot.waiting.subtract(1, ordering: .relaxed)
                if isLong { slot.waitingLong.subtract(1, ordering: .relaxed) }
            }
            do throws(StoreError) {
                if slot.isClosed { throw StoreError(closed: file.name) }
                if slot.reader == nil {
                    try place.withLock { $0 }.requireSame()
                    slot.reader = try file.makeReader { [clock] in clock.wallMilliseconds }
                }
                guard let reader = slot.reader else { return }
                slot.since.store(clock.monotonicMilliseconds, ordering: .relaxed)
                defer { slot.since.store(0, ordering: .relaxed) }
                work(.success(reader))
                // The next gets one that has not failed.
                if reader.isBroken { slot.reader = nil }
            } catch {
                work(.failure(error))
            }
        }
    }

    /// How long the oldest reading under way has been going on, in milliseconds; nil when there is none.
    var oldestMilliseconds: UInt64? {
        let now = clock.monotonicMilliseconds
        let began = slots.map { $0.since.load(ordering: .relaxed) }.filter { $0 > 0 }.min()
        return began.map { now - min($0, now) }
    }

    /// Whether somebody waits until no connection is open: what takes long holds up all readings meanwhile.
    var isShut: Bool { gate.withLock(\.isShut) }

    /// Closes the connections and runs the body while none is opened; readings wait until it is over. Blocks.
    func withoutReaders<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        gate.withLock { $0.isShut = true }
        defer { open() }
        for slot in slots {
            slot.queue.sync {
                slot.reader = nil
                slot.queue.suspend()
            }
        }
        defer { for slot in slots { slot.queue.resume() } }
        return try body()
    }

    private func open() {
        let held = gate.withLock { gate in
            defer { gate = Gate() }
            return gate.held
        }
        for (work, isLong) in held { begin(work, isLong) }
    }

    /// Closes the connections once what waits is done, for good. Blocks.
    func close() {
        for slot in slots {
            slot.queue.sync {
                slot.reader = nil
                slot.isClosed = true
            }
        }
    }
}
