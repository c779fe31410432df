import Dispatch
import KithStore
import Synchronization

/// A few reader connections of one database, each on a queue of its own; work goes to the one with the least to do.
final class ReaderPool: Sendable {
    private final class Slot: @unchecked Sendable {
        // Sendable: what varies is touched on `queue` only.
        let queue: DispatchQueue
        let waiting = Atomic(0)
        var reader: StoreReader?
        var isClosed = false

        init(_ name: String) { queue = DispatchQueue(label: name) }
    }

    private let file: DatabaseFile
    private let slots: [Slot]

    init(_ file: DatabaseFile) {
        self.file = file
        slots = (0..<NodeLimits.readersPerDatabase).map { Slot("kith.reader.\(file.name).\($0)") }
    }

    /// Hands the work a reader, or why none could be opened.
    func run(_ work: @escaping @Sendable (Result<StoreReader, StoreError>) -> Void) {
        let slot = slots.min { $0.waiting.load(ordering: .relaxed) < $1.waiting.load(ordering: .relaxed) } ?? slots[0]
        slot.waiting.add(1, ordering: .relaxed)
        slot.queue.async { [file] in
            defer { slot.waiting.subtract(1, ordering: .relaxed) }
            do throws(StoreError) {
                if slot.isClosed { throw StoreError(.notFound, file.name.string, "database \(file.name) was closed") }
                if slot.reader == nil { slot.reader = try file.makeReader() }
                if let reader = slot.reader { work(.success(reader)) }
            } catch {
                work(.failure(error))
            }
        }
    }

    /// Closes the connections and runs the body while none is opened; readings wait until it is over. Blocks.
    func withoutReaders<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        let arrived = DispatchSemaphore(value: 0)
        let isOver = DispatchSemaphore(value: 0)
        for slot in slots {
            slot.queue.async {
                slot.reader = nil
                arrived.signal()
                isOver.wait()
            }
        }
        for _ in slots { arrived.wait() }
        defer { for _ in slots { isOver.signal() } }
        return try body()
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
