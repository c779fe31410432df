import CLibrary
import Dispatch
import Foundation
import Kith
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// From the beginning of a save until the reader of a live query over 10,000 results has the new result. Beside it the save.
final class LiveBench {
    struct Item: Codable, Identifiable, Sendable {
        var id: String
        var title: String
        var dueDate: Date
        var isDone: Bool
        var note: String
    }

    private let database: Database
    private let now: () -> Double
    private let tasks: ModelCollection<Item>
    private let arrival = Arrival()
    private var reader: Task<Void, any Error>?
    private var number = 0

    private(set) var kith: [Double] = []
    private(set) var raw: [Double] = []
    /// What a result takes that was read once and never again while others write.
    private(set) var idleMegabytes: [Double] = []

    private static let results = 10_000
    private static let saves = 20
    private static let others = 10_000

    /// What the reader has.
    private final class Arrival: Sendable {
        let count = Atomic<Int>(0)
        let signal = DispatchSemaphore(value: 0)
    }

    /// - Parameter documents: of the database, 10,000 of which are results.
    init(directory: String, documents: Int, byProcessorTime: Bool) throws {
        now = { byProcessorTime ? Stopwatch.processorSeconds() : Stopwatch.seconds() }
        database = try Database("live", in: URL(fileURLWithPath: directory))
        tasks = try database.collection(of: Item.self, type: "task")
        try save(0..<Self.results, type: "task")
        try save(Self.results..<max(Self.results, documents), type: "other")
        number = documents
        idleMegabytes.append(try memoryOfIdleReader())
        let live = try query.live()
        reader = Task { [arrival] in
            for try await result in live {
                arrival.count.store(result.rows.count, ordering: .relaxed)
                arrival.signal.signal()
            }
        }
        arrival.signal.wait()
    }

    private var query: ModelQuery<Item> { tasks.where(\.isDone == false).order(\.dueDate) }

    private func task(_ number: Int) -> Item {
        Item(
            id: "item:\(number)", title: "Task number \(number)",
            dueDate: Date(timeIntervalSince1970: Double(number &* 7919 % 1_000_000)), isDone: false,
            note: "Nothing in particular, but some words that take the space that a note takes.")
    }

    private func save(_ numbers: Range<Int>, type: String) throws {
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 1_000) {
            let items = (start..<min(start + 1_000, numbers.upperBound)).map { task($0) }
            try database.write { batch in
                for item in items {
                    var document = try Document(id: item.id, encoding: item)
                    document["id"] = nil
                    document["type"] = .string(type)
                    try batch.save(document, .replace)
                }
            }
        }
    }

    func run() throws {
        for _ in 0..<Self.saves {
            number += 1
            let (item, before) = (task(number), arrival.count.load(ordering: .relaxed))
            let start = now()
            try database.write { [tasks] batch in try batch.save(item, in: tasks) }
            raw.append((now() - start) * 1_000)
            arrival.signal.wait()
            kith.append((now() - start) * 1_000)
            guard arrival.count.load(ordering: .relaxed) == before + 1 else {
                throw BenchError("a live result lost a document")
            }
        }
    }

    private func memoryOfIdleReader() throws -> Double {
        let live = try query.live()
        // What reading takes is taken before.
        for _ in 0..<2 {
            _ = try Self.wait { () -> Int? in
                var other = live.makeAsyncIterator()
                return try await other.next()?.rows.count
            }
        }
        let before = Self.residentMegabytes()
        let reader = live.makeAsyncIterator()
        _ = try Self.wait { () -> Int? in
            var reader = reader
            return try await reader.next()?.rows.count
        }
        for start in stride(from: 0, to: Self.others, by: 1_000) {
            try save(number + start..<number + start + 1_000, type: "other")
        }
        number += Self.others
        return withExtendedLifetime(reader) { Self.residentMegabytes() - before }
    }

    private static func wait<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
        let answer = Answer<Value>()
        Task.detached {
            do { answer.put(.success(try await work())) } catch { answer.put(.failure(error)) }
        }
        return try answer.get()
    }

    private final class Answer<Value: Sendable>: Sendable {
        private let result = Mutex<Result<Value, any Error>?>(nil)
        private let done = DispatchSemaphore(value: 0)

        func put(_ value: Result<Value, any Error>) {
            result.withLock { $0 = value }
            done.signal()
        }

        func get() throws -> Value {
            done.wait()
            guard let result = result.withLock({ $0 }) else { throw BenchError("an answer came without a value") }
            return try result.get()
        }
    }

    /// Of this process, after what is free was given back.
    private static func residentMegabytes() -> Double {
        #if canImport(Glibc)
        malloc_trim(0)
        #endif
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
        return Double(pages?.dropFirst().first ?? "0").map { $0 * Double(getpagesize()) / 1_000_000 } ?? 0
    }
}
