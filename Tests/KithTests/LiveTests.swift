import Foundation
import Kith
import KithTestSupport
import KithTesting
import Observation
import Testing

struct LiveTests {
    private let database: Database
    private let tasks: ModelCollection<TodoItem>

    init() throws {
        database = try Database.inMemory()
        tasks = try database.collection(of: TodoItem.self, type: "todo")
    }

    private func add(_ ids: [String], priority: Int = 0) async throws {
        try await tasks.save(ids.map { TodoItem(id: $0, title: "item \($0)", priority: priority) })
    }

    @Test func `a live query gives the result, and then each newer one with its difference`() async throws {
        try await add(["b", "d"])
        let live = try tasks.where(\.status == .pending).order(\.title).live()
        var results = live.makeAsyncIterator()
        let first = try #require(try await results.next())
        #expect(first.rows.map(\.id) == ["b", "d"] && first.difference.inserted == [0, 1])
        try await add(["c"])
        let second = try #require(try await results.next())
        #expect(second.rows.map(\.id) == ["b", "c", "d"] && second.difference.inserted == [1])
        try await tasks.update("b") { $0.title = "item z" }
        let third = try #require(try await results.next())
        #expect(third.rows.map(\.id) == ["c", "d", "b"])
        #expect(third.difference.moved == [RowDifference.Move(from: 0, to: 2)] && third.difference.updated == [2])
        let saved = try await tasks.save(TodoItem(id: "d", title: "item d", priority: 9))
        let fourth = try #require(try await results.next())
        #expect(
            fourth.difference.updated == [1] && fourth.sequence == saved.sequence && third.sequence < saved.sequence)
        try await tasks.update("c") { $0.status = .done }
        #expect(try await results.next()?.difference.removed == [0])
        try await database.purge("d")
        #expect(try await results.next()?.rows.map(\.id) == ["b"])
        // Once at first, and once after the purge, which is in no feed.
        #expect(live.runs == 2)
    }

    @Test(.timeLimit(.minutes(5)))
    func `a document leaves a result at the time at which it expires`() async throws {
        func save(_ id: String, expiresIn seconds: Double?) async throws {
            var document = Document(id: id, ["n": .string(id)])
            document.expiresAt = seconds.map { Date(timeIntervalSinceNow: $0) }
            try await database.save(document)
        }
        try await save("stays", expiresIn: nil)
        // Time enough for a busy machine to ask before.
        try await save("found", expiresIn: 30)
        var results = try database.live("SELECT RAW n FROM _ ORDER BY n").makeAsyncIterator()
        #expect(try await results.next()?.rows == ["found", "stays"])
        #expect(try await results.next()?.rows == ["stays"])
        try await save("changed", expiresIn: 10)
        #expect(try await results.next()?.rows == ["changed", "stays"])
        #expect(try await results.next()?.rows == ["stays"])
    }

    @Test func `a query that has to be run again is run only when a change can touch it`() async throws {
        try await add((0..<50).map { "t\($0)" })
        let byDocument = try tasks.where(\.status == .pending).order(\.title).live()
        let limited = try tasks.where(\.status == .pending).order(\.title).limit(10).live()
        let grouped = try database.live(
            "SELECT status, COUNT(*) AS n FROM _ WHERE type = $type GROUP BY status ORDER BY status", ["type": "todo"])
        let all = try database.live("SELECT RAW COUNT(*) FROM _")
        var (one, two) = (byDocument.makeAsyncIterator(), limited.makeAsyncIterator())
        var (three, four) = (grouped.makeAsyncIterator(), all.makeAsyncIterator())
        _ = (try await one.next(), try await two.next(), try await three.next(), try await four.next())
        let before = (byDocument.runs, limited.runs, grouped.runs)
        for start in stride(from: 0, to: 10_000, by: 500) {
            try await database.write { batch in
                for number in start..<start + 500 {
                    try batch.save(
                        Document(id: "n\(number)", ["type": "note", "title": "item t1", "status": "pending"]))
                }
            }
            // They look at what has changed.
            #expect(try await one.nextIfAny() == nil)
            #expect(try await two.nextIfAny() == nil)
            #expect(try await three.nextIfAny() == nil)
        }
        #expect(before == (1, 1, 1))
        #expect((byDocument.runs, limited.runs, grouped.runs) == before, "no change could touch them")
        #expect(try await four.nextIfAny()?.rows == [10_050])
        #expect(all.runs == 2, "many changes are one result")
        try await tasks.update("t1") { $0.status = .done }
        #expect(try await one.next()?.rows.count == 49)
        #expect(try await two.next()?.rows.map(\.id).contains("t1") == false)
        #expect(
            try await three.next()?.rows.map(\.json) == [#"{"n":1,"status":"done"}"#, #"{"n":49,"status":"pending"}"#])
        #expect((byDocument.runs, limited.runs, grouped.runs) == (1, 2, 2))
    }

    @Test func `a reader that does not read gets the newest state when it does`() async throws {
        try await add(["a"])
        let live = try tasks.order(\.title).live()
        let counted = try database.live("SELECT RAW COUNT(*) FROM _ WHERE type = 'todo'")
        var (results, counts) = (live.makeAsyncIterator(), counted.makeAsyncIterator())
        _ = (try await results.next(), try await counts.next())
        for number in 0..<300 { try await add(["b\(number % 50)"], priority: number) }
        let result = try #require(try await results.next())
        #expect(result.rows.count == 51 && result.difference.inserted == Array(1...50))
        #expect(result.rows.first { $0.id == "b49" }?.priority == 299)
        #expect(try await counts.next()?.rows == [51])
        #expect((live.runs, counted.runs) == (1, 2))
        #expect(try await results.nextIfAny() == nil)
    }

    @Test func `a change that leaves the result as it is gives none`() async throws {
        try await add(["a", "b"])
        let live = try tasks.order(\.title).live()
        let titles = try database.live("SELECT RAW title FROM _ ORDER BY title")
        var (results, texts) = (live.makeAsyncIterator(), titles.makeAsyncIterator())
        _ = (try await results.next(), try await texts.next())
        try await tasks.update("a") { $0.priority = 7 }
        #expect(try await results.nextIfAny()?.difference.updated == [0])
        #expect(try await texts.nextIfAny() == nil)
        try await database.compact()
        #expect(try await results.nextIfAny() == nil)
    }

    @Test(.timeLimit(.minutes(5)))
    func `an iteration waits for the next change and ends with its task`() async throws {
        try await add(["a"])
        let live = try tasks.order(\.title).live()
        let (counts, report) = AsyncStream<Int>.makeStream()
        let task = Task {
            for try await result in live { report.yield(result.rows.count) }
            report.finish()
        }
        var received = counts.makeAsyncIterator()
        #expect(await received.next() == 1)
        try await add(["b"])
        #expect(await received.next() == 2)
        task.cancel()
        #expect(await received.next() == nil)
        try await task.value
    }

    @Test(.timeLimit(.minutes(5)))
    func `an iteration ends when the database is closed`() async throws {
        let live = try tasks.all.live()
        let changes = database.changes()
        let updates = database.updates(of: "a")
        let (signals, report) = AsyncStream<Void>.makeStream()
        let one = Task { for try await _ in live { report.yield() } }
        let two = Task { for try await _ in changes { report.yield() } }
        let three = Task { for try await _ in updates { report.yield() } }
        var received = signals.makeAsyncIterator()
        // The first of the live query, and that of the document, which is nil.
        for _ in 0..<2 { await received.next() }
        database.close()
        for task in [one, two, three] { try await task.value }
    }

    @Test func `what does not decode is an error, and the next result comes when it is mended`() async throws {
        try await add(["a"])
        let live = try tasks.order(\.title).live()
        var results = live.makeAsyncIterator()
        _ = try await results.next()
        try await database.save(Document(id: "bad", ["type": "todo", "title": 5]))
        let error = await #expect(throws: KithError.self) { try await results.nextIfAny() }
        #expect(error?.code == .decoding && error?.subject == "bad")
        try await database.delete("bad")
        try await add(["b"])
        #expect(try await results.next()?.rows.map(\.id) == ["a", "b"])
    }

    @Test func `a query that is wrong is an error before it is followed`() throws {
        let error = #expect(throws: KithError.self) { try database.live("SELECT FROM _") }
        #expect(error?.code == .invalid && error?.message.contains("line 1") == true)
        let unknown = DocumentQuery(from: "_").where(RowTerm<Bool>.function("NO_SUCH"))
        #expect(throws: KithError.self) { try database.live(unknown) }
    }

    @Test func `the changes of a database come each once, at their latest`() async throws {
        try await add(["a"])
        var now = database.changes().makeAsyncIterator()
        try await add(["b"])
        try await tasks.update("b") { $0.priority = 1 }
        try await tasks.delete("a")
        let first = try #require(try await now.next())
        let second = try #require(try await now.next())
        #expect([first.id, second.id] == ["b", "a"] && second.isDeleted && !first.isDeleted)
        #expect(first.revision.hasPrefix("2-") && second.sequence == 4)
        var all = database.changes(since: 0).makeAsyncIterator()
        #expect(try await all.next() == first)
        #expect(try await all.next() == second)
        var rest = database.changes(since: first.sequence).makeAsyncIterator()
        #expect(try await rest.next() == second)
    }

    @Test func `a document is followed through its changes, its deletion and its return`() async throws {
        var documents = database.updates(of: "a").makeAsyncIterator()
        var models = try tasks.updates(of: "a").makeAsyncIterator()
        #expect(try await documents.next() == .some(nil))
        #expect(try await models.next() == .some(nil))
        for number in 0..<3 { try await add(["a"], priority: number) }
        try await add(["other"])
        #expect(try await documents.next()??.int("priority") == 2)
        #expect(try await models.next()??.priority == 2)
        try await tasks.delete("a")
        #expect(try await documents.next() == .some(nil))
        try await database.save(Document(id: "a", ["type": "note"]))
        #expect(try await documents.next()??.string("type") == "note")
        #expect(try await models.next() == .some(nil))
    }

    @Test(.timeLimit(.minutes(5)))
    @MainActor func `a view observes a query`() async throws {
        try await add(["a"])
        let observed = ObservedQuery(try tasks.order(\.title).live())
        await observed.wait { $0.isLoaded }
        #expect(observed.rows.map(\.id) == ["a"])
        try await add(["b"])
        await observed.wait { $0.rows.count == 2 }
        #expect(observed.rows.map(\.id) == ["a", "b"] && observed.error == nil)
    }

    @Test(.timeLimit(.minutes(5)))
    func `what comes from a peer is in the result`() async throws {
        try await TestGroup.with(nodes: 2) { group in
            let (here, there) = (try await group[0].database("tasks"), try await group[1].database("tasks"))
            var results = try here.live("SELECT RAW title FROM _ ORDER BY title").makeAsyncIterator()
            #expect(try await results.next()?.rows == [])
            try await there.save(Document(id: "a", ["title": "Milk"]))
            #expect(try await results.next()?.rows == ["Milk"])
        }
    }
}

extension ObservedQuery {
    /// Waits until it is as it should be; the test's time limit ends it else. Nothing changes between the look and the
    /// tracking, since both are on the main actor.
    fileprivate func wait(_ condition: @MainActor (ObservedQuery) -> Bool) async {
        while !condition(self) {
            await withCheckedContinuation { continuation in
                withObservationTracking {
                    _ = (rows.count, isLoaded)
                } onChange: {
                    continuation.resume()
                }
            }
            // The change itself comes after it was announced.
            await Task.yield()
        }
    }
}
