import KithDocument
import KithNode
import KithStore
import KithSystem
import KithTestSupport
import Testing

/// How far a database has come, and waiting for it to go on.
@Suite struct DatabaseMomentTests {
    private let directory = TemporaryDirectory()
    private let database: DatabaseExecutor

    init() throws {
        database = try DatabaseExecutor(DatabaseFile(try DatabaseName("notes"), in: directory.path), on: .local)
    }

    private func put(_ id: String, _ json: String) async throws {
        _ = try await database.write { transaction throws(StoreError) in
            try transaction.put(DocumentID(unchecked: id), Array(json.utf8))
        }
    }

    @Test func `a write is another moment, and what writes nothing is none`() async throws {
        let first = database.moment
        try await put("a", #"{"x":1}"#)
        let second = database.moment
        #expect(second != first && second.sequence == 1)
        try await put("a", #"{"x":1}"#)
        #expect(database.moment == second)
        // Where it has gone on already there is nothing to wait for.
        await database.waitForChange(after: first)
    }

    @Test func `purges are counted, also over a compaction`() async throws {
        for id in ["a", "b"] { try await put(id, #"{"x":1}"#) }
        func purge(_ id: String) async throws {
            try await database.write { transaction throws(StoreError) in
                try transaction.purge(DocumentID(unchecked: id))
            }
        }
        try await purge("a")
        #expect(database.moment.purges == 1)
        _ = try await database.compact()
        try await purge("b")
        #expect(database.moment.purges == 2)
        try await put("c", "{}")
        await #expect(throws: StoreError.self) {
            try await database.write { transaction throws(StoreError) in
                try transaction.purge(DocumentID(unchecked: "c"))
                throw StoreError(.cancelled, "c", "on purpose")
            }
        }
        #expect(database.moment.purges == 2)
    }

    @Test(.timeLimit(.minutes(2)))
    func `waiting ends with a write, with its task, when the time is up, and when the database is closed`() async throws
    {
        let database = database
        let moment = database.moment
        let written = Task { await database.waitForChange(after: moment) }
        let cancelled = Task { await database.waitForChange(after: DatabaseMoment(sequence: 1, purges: 0)) }
        try await put("a", #"{"x":1}"#)
        await written.value
        cancelled.cancel()
        await cancelled.value
        let now = database.moment
        await database.waitForChange(after: now, for: .milliseconds(1))
        let closed = Task { await database.waitForChange(after: now) }
        database.close()
        await closed.value
    }
}
