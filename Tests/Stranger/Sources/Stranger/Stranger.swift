import Foundation
import Kith
import KithTesting

/// Runs README's lines in a folder of its own, then what a program's tests would do.
@main struct Stranger {
    static func main() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "kith-stranger-\(UUID().uuidString.prefix(8))")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await run(in: folder)
        try await TestGroup.with(nodes: 2) { group in
            let den = try await group[0].database("notes")
            try await den.save(Document(id: "a", ["text": "hi"]))
            guard await group.isInSync("notes") else { throw Failure(what: "two nodes are not in sync") }
            let there = try await group[1].database("notes").document("a")?.string("text")
            guard there == "hi" else { throw Failure(what: "the second node has not what the first wrote") }
        }
        try await followTasks()
        print("ok")
    }

    struct Item: Codable, Identifiable, Sendable {
        enum Status: String, Codable, CaseIterable, Sendable { case pending, done }
        var id: String
        var status: Status
        var dueDate: Date?
    }

    /// A typed collection, queries in Swift and live results, with nothing imported but Kith.
    static func followTasks() async throws {
        let database = try Database.inMemory()
        let tasks = try database.collection(of: Item.self, type: "todo")
        try await tasks.save(Item(id: "milk", status: .pending))
        var results = try tasks.where(\.status == .pending).order(\.dueDate).live().makeAsyncIterator()
        guard try await results.next()?.rows.map(\.id) == ["milk"] else { throw Failure(what: "nothing is followed") }
        try await tasks.where { $0.dueDate == nil && $0.id == "milk" }.update { $0.status = .done }
        guard let result = try await results.next(), result.rows.isEmpty, result.difference.removed == [0] else {
            throw Failure(what: "a change was not followed")
        }
        let rows = try await database.query(DocumentQuery(from: "_").select(value: Field("status")))
        guard rows == ["done"] else { throw Failure(what: "a query in Swift finds something else") }
    }
}

struct Failure: Error { let what: String }
