import Dispatch
import Foundation
import Kith
import KithTestSupport
import KithTesting
import Testing

private struct Stop: Error {}

private struct Note: Codable, Equatable, Sendable {
    var title: String
    var text: String?
}

struct WritingTests {
    private let database: Database

    init() throws { database = try Database.inMemory() }

    @Test func `a document has its revision, sequence and time once it is saved`() async throws {
        let before = Date()
        let saved = try await database.save(Document(id: "a", ["x": 1]))
        #expect(saved.revision?.hasPrefix("1-") == true && saved.sequence == 1 && !saved.isChanged)
        let read = try #require(try await database.document("a"))
        #expect(read == saved && read.editedAt == saved.editedAt)
        let time = try #require(read.editedAt)
        #expect(time.timeIntervalSince(before) > -1 && time.timeIntervalSince(before) < 60)
    }

    @Test func `saving an equal body writes nothing`() async throws {
        let saved = try await database.save(Document(id: "a", ["x": 1]))
        #expect(try await database.save(saved) == saved)
        #expect(try database.summary().sequence == 1)
    }

    @Test func `saving keeps what others changed meanwhile`() async throws {
        var mine = try await database.save(
            Document(id: "a", ["title": "t", "status": "open", "deep": ["a": 1, "b": 1]]))
        try await database.update("a") {
            $0["status"] = "done"
            $0["deep"]?["b"] = 2
        }
        mine["title"] = "new"
        mine["deep"]?["a"] = 5
        let saved = try await database.save(mine)
        #expect(saved.json == #"{"deep":{"a":5,"b":2},"status":"done","title":"new"}"#)
    }

    @Test func `a new document over one that is there leaves its other fields`() async throws {
        try await database.save(Document(id: "a", ["createdAt": "then", "title": "old"]))
        let saved = try await database.save(Document(id: "a", ["title": "new"]))
        #expect(saved.json == #"{"createdAt":"then","title":"new"}"#)
        let replaced = try await database.save(Document(id: "a", ["title": "new"]), .replace)
        #expect(replaced.json == #"{"title":"new"}"#)
    }

    @Test func `failing on conflict writes nothing`() async throws {
        var mine = try await database.save(Document(id: "a", ["x": 1]))
        try await database.update("a") { $0["x"] = 2 }
        mine["x"] = 3
        let stale = mine
        let error = await #expect(throws: KithError.self) { try await database.save(stale, .failOnConflict) }
        #expect(error?.code == .conflict && error?.subject == "a")
        #expect(try await database.document("a")?.int("x") == 2)
        await #expect(throws: KithError.self) { try await database.save(Document(id: "a"), .failOnConflict) }
        #expect(try await database.save(Document(id: "b"), .failOnConflict).revision != nil)
    }

    @Test func `a handler settles a conflict with both sides`() async throws {
        var mine = try await database.save(Document(id: "a", ["n": 1]))
        try await database.update("a") { $0["n"] = 10 }
        mine["n"] = 5
        let saved = try await database.save(mine) { conflict in
            let sum = (conflict.mine.int("n") ?? 0) + (conflict.stored?.int("n") ?? 0) - (conflict.base["n"]?.int ?? 0)
            return ["n": .int(sum)]
        }
        #expect(saved.int("n") == 14)
        let stale = mine
        let error = await #expect(throws: KithError.self) { try await database.save(stale) { _ in nil } }
        #expect(error?.code == .conflict)
    }

    @Test func `what is no object is refused, and empties no document`() async throws {
        let saved = try await database.save(Document(id: "a", ["x": 1]))
        try await database.update("a") { $0["x"] = 2 }
        for value: JSONValue in [.null, [1], "text"] {
            var mine = saved
            mine["x"] = 3
            let stale = mine
            let handled = await #expect(throws: KithError.self) { try await database.save(stale) { _ in value } }
            #expect(handled?.code == .invalid && handled?.subject == "a")
            mine.value = value
            mine["y"] = 1
            let changed = mine
            for rule: SaveRule in [.lastWriteWins, .replace] {
                let error = await #expect(throws: KithError.self) { try await database.save(changed, rule) }
                #expect(error?.code == .invalid)
            }
            await #expect(throws: KithError.self) { try await database.save(Document(id: "b", value)) }
            await #expect(throws: KithError.self) {
                try await database.write { try $0.saveInitial(Document(id: "b", value)) }
            }
        }
        #expect(try await database.document("a")?.json == #"{"x":2}"#)
        #expect(try await database.document("b") == nil)
    }

    /// As two nodes would merge it.
    @Test func `of an object that two have added both parts stay`() async throws {
        let empty = try await database.save(Document(id: "a", ["title": "t"]))
        try await database.update("a") { $0["by"] = ["mail": "m", "deep": ["one": 1]] }
        var mine = empty
        mine["by"] = ["name": "n", "deep": ["two": 2]]
        try await database.save(mine)
        #expect(
            try await database.document("a")?.json
                == #"{"by":{"deep":{"one":1,"two":2},"mail":"m","name":"n"},"title":"t"}"#)
        try await database.save(Document(id: "a", ["by": ["name": "other"]]))
        #expect(
            try await database.document("a")?.json
                == #"{"by":{"deep":{"one":1,"two":2},"mail":"m","name":"other"},"title":"t"}"#)
    }

    @Test func `a value is saved and read, fields it does not know stay`() async throws {
        try await database.save(Document(id: "n", ["title": "a", "pinned": true, "text": "x"]))
        try await database.save(Note(title: "b", text: nil), id: "n")
        #expect(try await database.document("n")?.json == #"{"pinned":true,"title":"b"}"#)
        #expect(try await database.document("n", as: Note.self) == Note(title: "b", text: nil))
        #expect(try await database.document("none", as: Note.self) == nil)
    }

    @Test func `an update keeps to its document`() async throws {
        try await database.save(Document(id: "a", ["n": 1]))
        let error = await #expect(throws: KithError.self) {
            try await database.update("a") { $0 = Document(id: "b", ["n": 2]) }
        }
        #expect(error?.code == .invalid)
        #expect(throws: KithError.self) { try database.update("a") { $0 = Document(id: "b") } }
        #expect(try await database.document("b") == nil)
        #expect(try await database.document("a")?.int("n") == 1)
    }

    @Test func `a batch that throws writes nothing and throws the same`() async throws {
        await #expect(throws: Stop.self) {
            try await database.write { batch in
                try batch.save(Document(id: "a"))
                #expect(try batch.document("a") != nil)
                throw Stop()
            }
        }
        #expect(try await database.document("a") == nil)
        #expect(try database.summary().sequence == 0)
    }

    @Test func `a failure that a batch goes on from leaves the rest`() async throws {
        try await database.save(Document(id: "a", ["x": 1]))
        try await database.write { batch in
            try batch.save(Document(id: "b"))
            #expect(throws: KithError.self) { try batch.save(Document(id: "a"), .failOnConflict) }
            #expect(throws: KithError.self) { try batch.save(Document(id: "c", ["_no": 1])) }
        }
        #expect(try await database.document("b") != nil)
        #expect(try await database.document("c") == nil)
    }

    @Test func `batches exclude each other`() async throws {
        try await database.save(Document(id: "n", ["n": 0]))
        let database = database
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await database.write { batch in
                        var document = try #require(try batch.document("n"))
                        document["n"] = .int((document.int("n") ?? 0) + 1)
                        try batch.save(document, .failOnConflict)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await database.document("n")?.int("n") == 50)
    }

    @Test func `reading sees one moment`() async throws {
        try await database.save(Document(id: "a", ["n": 1]))
        let database = database
        let seen = try await onThread {
            try database.read { snapshot in
                let first = try snapshot.document("a")?.int("n")
                // Another thread writes meanwhile, and is done.
                let written = DispatchSemaphore(value: 0)
                Task {
                    try await database.update("a") { $0["n"] = 2 }
                    written.signal()
                }
                written.wait()
                return try [first, snapshot.document("a")?.int("n")]
            }
        }
        #expect(seen == [1, 1])
        #expect(try await database.document("a")?.int("n") == 2)
    }

    @Test func `the blocking forms do the same`() async throws {
        let database = database
        let text = try await onThread {
            try database.save(Document(id: "a", ["text": "hi"]))
            try database.write { try $0.save(Document(id: "b")) }
            let count = try database.read { try $0.documents().count }
            #expect(count == 2)
            #expect(try database.delete("b"))
            return try database.document("a")?.string("text")
        }
        #expect(text == "hi")
    }

    @Test func `a blocking call within a closure is an error and no hang`() async throws {
        let database = database
        for isWrite in [true, false] {
            let error = await #expect(throws: KithError.self) {
                if isWrite {
                    try await database.write { _ in try database.save(Document(id: "x")) }
                } else {
                    try await database.read { _ in try database.document("x") }
                }
            }
            #expect(error?.code == .nested)
        }
        try await database.save(Document(id: "y"))
    }

    @Test func `a batch that was kept is over`() async throws {
        let kept = Kept()
        try await database.write { kept.batch = $0 }
        let error = #expect(throws: KithError.self) { try kept.batch?.save(Document(id: "a")) }
        #expect(error?.code == .closed)
    }

    @Test func `a deletion can be refused, and leaves a tombstone`() async throws {
        let read = try await database.save(Document(id: "a", ["x": 1]))
        try await database.update("a") { $0["x"] = 2 }
        await #expect(throws: KithError.self) { try await database.delete(read, .failOnConflict) }
        #expect(try await database.delete(read))
        #expect(try await database.document("a") == nil)
        #expect(try await !database.delete("a"))
        let summary = try database.summary()
        #expect(summary.documents == 0 && summary.deleted == 1)
        let again = try await database.save(Document(id: "a", ["x": 3]))
        #expect(again.int("x") == 3)
    }

    @Test func `a purge leaves nothing`() async throws {
        try await database.save(Document(id: "a", ["x": 1]))
        #expect(try await database.purge("a"))
        #expect(try await !database.purge("a"))
        let summary = try database.summary()
        #expect(summary.documents == 0 && summary.deleted == 0 && summary.purged == 1)
    }

    @Test func `initial data is the same everywhere and gives way to any edit`() async throws {
        let other = try Database.inMemory("other")
        let one = try await database.write { try $0.saveInitial(Document(id: "a", ["x": 1])) }
        let two = try await other.write { try $0.saveInitial(Document(id: "a", ["x": 1])) }
        #expect(one?.revision == two?.revision && one?.editedAt == nil)
        try await database.update("a") { $0["x"] = 2 }
        let still = try await database.write { try $0.saveInitial(Document(id: "a", ["x": 1])) }
        #expect(still?.int("x") == 2)
    }

    @Test func `ids and fields that are none are refused`() async throws {
        for id in ["", "_a", "a\0b", String(repeating: "x", count: 513)] {
            let error = await #expect(throws: KithError.self) { try await database.save(Document(id: id)) }
            #expect(error?.code == .invalid)
        }
        let error = await #expect(throws: KithError.self) { try await database.save(Document(id: "a", ["_x": 1])) }
        #expect(error?.code == .invalid)
    }
}

private final class Kept: @unchecked Sendable {
    // Sendable: set by a write that is over when it is read.
    var batch: WriteBatch?
}
