import ExampleTodo
import Foundation
import Kith
import KithTestSupport
import KithTesting
import Testing

/// Two nodes that change the same item while they do not see each other.
@Suite(.timeLimit(.minutes(5)))
struct TodoSharingTests {
    private static let name = TodoSchema.database

    /// Two nodes with one item that is done, and with the policy or without.
    private func withPair(
        policy: Bool, _ body: (TestGroup, DatabaseTodoRepository, DatabaseTodoRepository) async throws -> Void
    ) async throws {
        try await TestGroup.with(nodes: 2) { group in
            let here = try await DatabaseTodoRepository(group[0].database(Self.name))
            #expect(await group.isInSync(Self.name))
            let there = try await DatabaseTodoRepository(group[1].database(Self.name))
            if policy {
                try await TodoSchema.setPolicy(on: group[0])
                #expect(try await eventually { try await group[1].policy(of: Self.name) == TodoSchema.policy })
                // On a node that is no admin it asks for nothing that is not so already.
                try await TodoSchema.setPolicy(on: group[1])
            }
            try await here.add(TodoItem(id: "a", title: "Milk", createdAt: Date(timeIntervalSince1970: 1_796_000_000)))
            try await here.toggle("a")
            #expect(await group.isInSync(Self.name))
            try await body(group, here, there)
        }
    }

    @Test(arguments: [true, false])
    func `reopened on one node while the date is corrected on the other`(policy: Bool) async throws {
        try await withPair(policy: policy) { group, here, there in
            try await group.part()
            let corrected = Date(timeIntervalSince1970: 1_795_000_000)
            let reopened = Date()
            try await here.update("a") { $0.reopen() }
            // By the clock the later one, so that its field shows.
            #expect(await eventually { Date() > reopened + 0.005 })
            try await there.update("a") { $0.complete(at: corrected) }
            try await group.meet()
            #expect(await group.isInSync(Self.name))
            let item = try #require(try await here.item("a"))
            #expect(try await there.item("a") == item)
            if policy {
                #expect(item.status == .completed && item.completedAt == corrected)
            } else {
                // What the policy is for: each field is of another edit.
                #expect(item.status == .pending && item.completedAt == corrected)
            }
        }
    }

    @Test func `however both toggle and correct, a status and its date are of one edit`() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        try await withPair(policy: true) { group, here, there in
            for round in 0..<6 {
                try await group.part()
                for repository in [here, there, here, there].prefix(Int.random(in: 2...4, using: &random)) {
                    if Bool.random(using: &random) {
                        try await repository.toggle("a")
                    } else {
                        let time = Date(timeIntervalSince1970: Double(Int.random(in: 1...1_000, using: &random)))
                        try await repository.update("a") { $0.complete(at: time) }
                    }
                }
                let sides = [try await here.item("a"), try await there.item("a")].map { $0.map(Statement.init) }
                try await group.meet()
                #expect(await group.isInSync(Self.name))
                let merged = try await here.item("a").map(Statement.init)
                #expect(try await there.item("a").map(Statement.init) == merged)
                #expect(sides.contains(merged), "seed \(seed), round \(round)")
                #expect((merged?.status == .completed) == (merged?.completedAt != nil), "seed \(seed), round \(round)")
            }
        }
    }

    private struct Statement: Equatable {
        let status: TodoItem.Status
        let completedAt: Date?

        init(_ item: TodoItem) { (status, completedAt) = (item.status, item.completedAt) }
    }

    @Test func `edits of different fields are both kept, and nodes that migrate apart write the same`() async throws {
        try await TestGroup.with(nodes: 2) { group in
            let (here, there) = (try await group[0].database(Self.name), try await group[1].database(Self.name))
            try await here.save(
                Document(
                    id: "a", ["type": "todo", "text": "Milk", "done": false, "createdAt": "2026-11-30T07:15:00.000Z"]))
            #expect(await group.isInSync(Self.name))
            try await group.part()
            let (one, other) = (try await DatabaseTodoRepository(here), try await DatabaseTodoRepository(there))
            #expect(try await here.document("a")?.revision == there.document("a")?.revision)
            try await one.update("a") { $0.title = "Oat milk" }
            try await other.update("a") { $0.priority = .high }
            try await group.meet()
            #expect(await group.isInSync(Self.name))
            let item = try #require(try await one.item("a"))
            #expect(item.title == "Oat milk" && item.priority == .high)
            #expect(try await other.item("a") == item)
        }
    }
}
