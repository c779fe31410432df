import Dispatch
import Foundation
import Kith
import KithDocument
import KithTestSupport
import KithTesting
import Testing

/// What bounds a query, and what ends it.
struct QueryOptionsTests {
    private let database: Database

    /// Of 400 documents it goes on for hours: each beside each other three times.
    private static let endless =
        "SELECT RAW COUNT(*) FROM _ AS a CROSS JOIN _ AS b CROSS JOIN _ AS c JOIN _ AS d ON a.n + b.n + c.n + d.n = -1"

    init() throws {
        let database = try Database.inMemory()
        try database.write { batch in
            for number in 0..<400 { try batch.save(Document(id: "d\(number)", ["n": .int(number)])) }
        }
        self.database = database
    }

    private func error(_ options: QueryOptions, _ text: String = "SELECT n FROM _") async -> KithError? {
        await #expect(throws: KithError.self) { try await database.query(text, options: options) }
    }

    private static func blocking(_ database: Database) -> KithError? {
        #expect(throws: KithError.self) { try database.query(endless, options: QueryOptions(timeLimit: .zero)) }
    }

    @Test(.timeLimit(.minutes(5))) func `a query that takes too long or gives too much is given up`() async throws {
        let late = await error(QueryOptions(timeLimit: .milliseconds(50)), Self.endless)
        #expect(late?.code == .cancelled && late?.message.contains("0.05 seconds, its time limit") == true)
        let many = await error(QueryOptions(rowLimit: 399))
        #expect(many?.code == .cancelled && many?.message.contains("more than 399 rows") == true)
        let large = await error(QueryOptions(byteLimit: 1_000))
        #expect(large?.code == .cancelled && large?.message.contains("more than 1000 bytes") == true)
        let within = QueryOptions(timeLimit: .seconds(60), rowLimit: 400, byteLimit: 100_000)
        #expect(try await database.query("SELECT n FROM _", options: within).count == 400)
        // The blocking form has the same bounds.
        let blocking = Self.blocking(database)
        #expect(blocking?.code == .cancelled)
    }

    /// In the long form: five queries without end keep the processors from all tests that begin with it.
    @Test(.enabled(if: Lab.isLong), .timeLimit(.minutes(5)))
    func `a query ends with its task, and what else is read goes on`() async throws {
        let tasks = (0..<4).map { _ in
            Task { [database] in
                // Four of them are more than there are readers for.
                try await database.query(Self.endless)
            }
        }
        var live = try database.live(Self.endless).makeAsyncIterator()
        let follower = Task { try await live.next() == nil }
        // However the test ends: they would keep the processors from all others.
        defer {
            for task in tasks { task.cancel() }
            follower.cancel()
        }
        // They run, or wait for one that does; neither is waited for.
        for number in 0..<50 {
            #expect(try await database.document("d\(number)")?.id == "d\(number)")
            try await database.save(Document(id: "new\(number)", [:]))
        }
        for task in tasks { task.cancel() }
        follower.cancel()
        for task in tasks {
            let error = await #expect(throws: KithError.self) { try await task.value }
            #expect(error?.code == .cancelled && error?.message.contains("its task was cancelled") == true)
        }
        #expect(try await follower.value, "an iteration ends with its task, and not by an error")
        #expect(try await database.query("SELECT RAW COUNT(*) FROM _") == [450])
    }

    @Test(.timeLimit(.minutes(5))) func `a query of a task that was cancelled does not go on`() async throws {
        let (cancelled, never) = AsyncStream<Void>.makeStream()
        let asking = Task { [database] in
            for await _ in cancelled {}
            return try await database.query(Self.endless)
        }
        asking.cancel()
        let error = await #expect(throws: KithError.self) { try await asking.value }
        withExtendedLifetime(never) {}
        #expect(error?.code == .cancelled && error?.message.contains("its task was cancelled") == true)
    }

    @Test(.timeLimit(.minutes(5))) func `the making of an index tells how far it is and ends with its task`()
        async throws
    {
        try await database.write { batch in
            for number in 0..<3_000 { try batch.save(Document(id: "e\(number)", ["n": .int(number)])) }
        }
        let (stream, told) = AsyncStream<IndexProgress>.makeStream()
        try await database.createIndex(DatabaseIndex("n", on: "n")) { told.yield($0) }
        told.finish()
        let progress = await stream.reduce(into: [IndexProgress]()) { $0.append($1) }
        #expect(progress.last?.documents == 3_400 && progress.allSatisfy { $0.total == 3_400 })
        #expect(progress.map(\.documents) == progress.map(\.documents).sorted())

        let (begins, began) = AsyncStream<Void>.makeStream()
        let gate = DispatchSemaphore(value: 0)
        let making = Task { [database] in
            try await database.createIndex(DatabaseIndex("m", on: "n + 1")) { _ in
                began.yield()
                gate.wait()
            }
        }
        for await _ in begins { break }
        making.cancel()
        for _ in 0..<1_000 { gate.signal() }
        let error = await #expect(throws: KithError.self) { try await making.value }
        #expect(error?.code == .cancelled)
        #expect(try await database.indexes().map(\.index.name) == ["n"])
        try await database.save(Document(id: "late", ["n": 1]))
    }
}
