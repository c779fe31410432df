import Foundation
import Kith
import KithTestSupport
import KithTesting
import Synchronization
import Testing

/// Conflicts that are merged by code of the application, over real nodes.
struct ResolverTests {
    private static let policy: JSONValue = ["default": "resolver", "resolver": "total", "version": 1]

    /// The sums are added; everything else is that of the shown revision.
    private static func total() throws -> Resolver {
        try Resolver("total", version: 1) { revisions in
            var merged = revisions.first { $0.isShown }?.body ?? [:]
            merged["sum"] = .int(revisions.reduce(Int64(0)) { $0 + Int64($1.body["sum"]?.int ?? 0) })
            return merged
        }
    }

    private func sum(_ node: LocalNode) async throws -> Int? {
        try await node.database("bills").document("a")?["sum"]?.int
    }

    private final class Calls: Sendable {
        private let count = Mutex(0)

        func next() -> Int {
            count.withLock {
                $0 += 1
                return $0
            }
        }
    }

    /// A database whose policy all nodes have.
    private func begin(_ group: TestGroup) async throws {
        _ = try await group[0].database("bills").save(Document(id: "seed", [:]))
        #expect(await group.isInSync("bills"))
        try await group[0].setPolicy(Self.policy, of: "bills")
        #expect(try await group[0].policy(of: "bills") == Self.policy)
        for node in group.nodes {
            #expect(await eventually(within: 60) { (try? await node.policy(of: "bills")) == Self.policy })
        }
    }

    /// Each of the first nodes writes the document while it is parted from the others.
    private func write(_ values: [Int], _ group: TestGroup) async throws {
        try await group.part()
        for (index, value) in values.enumerated() {
            let bills = try await group[index].database("bills")
            _ = try await bills.save(Document(id: "a", ["sum": .int(Int64(value)), "by": .int(Int64(index))]))
        }
        try await group.meet()
    }

    @Test func `nodes with the code merge, one without it waits for them, and all end equal`() async throws {
        try await TestGroup.with(
            nodes: 3,
            configure: { index, options in
                if index < 2 { options.resolvers = [try Self.total()] }
            }
        ) { group in
            try await begin(group)
            try await write([1, 20, 300], group)
            #expect(await group.isInSync("bills"))
            let sums = [try await sum(group[0]), try await sum(group[1]), try await sum(group[2])]
            #expect(sums[0] == 321 && sums[1] == 321 && sums[2] == 321, "\(sums)")
            #expect(try await group[2].status().database("bills")?.conflicts == 0)
        }
    }

    @Test func `code that contradicts itself leaves the conflict, and the status says why`() async throws {
        let calls = Calls()
        let broken = try Resolver("total", version: 1) { _ in ["call": .int(calls.next())] }
        try await TestGroup.with(nodes: 2, configure: { _, options in options.resolvers = [broken] }) { group in
            try await begin(group)
            try await write([1, 2], group)
            #expect(await group.isInSync("bills"))
            for node in group.nodes {
                let status = try await node.status()
                let problem = status.problems.first { $0.code == "CONFLICTS" }
                #expect(status.database("bills")?.conflicts == 1)
                #expect(
                    problem?.summary.contains("total/1") == true && problem?.summary.contains("another order") == true)
            }
        }
    }

    @Test func `what waited is merged when a node with the code comes`() async throws {
        try await TestGroup.with(nodes: 2) { group in
            try await begin(group)
            try await write([1, 2], group)
            #expect(await group.isInSync("bills"))
            #expect(try await group[1].status().database("bills")?.conflicts == 1)
            await group[1].stop()
            var options = NodeOptions.loopback
            options.peers = group[0].listening
            options.resolvers = [try Self.total()]
            let again = try LocalNode(in: group.folders[1], options: options)
            try await again.start()
            #expect(try await eventually(within: 60) { try await sum(again) == 3 })
            #expect(try await eventually(within: 60) { try await sum(group[0]) == 3 })
            await again.stop()
        }
    }

    @Test func `what names no resolver, and no policy, is refused`() async throws {
        for (name, version) in [("", 1), ("A", 1), ("a b", 1), ("a", 0), ("a", 1_000_001)] {
            let error = #expect(throws: KithError.self) { try Resolver(name, version: version) { _ in nil } }
            #expect(error?.code == .invalid)
        }
        try await TestGroup.with(nodes: 1) { group in
            _ = try await group[0].database("bills").save(Document(id: "seed", [:]))
            let error = await #expect(throws: KithError.self) {
                try await group[0].setPolicy(["default": "resolver", "resolver": "total"], of: "bills")
            }
            #expect(error?.code == .invalid && error?.message.contains("version") == true)
        }
    }
}
