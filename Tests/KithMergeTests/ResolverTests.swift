import KithDocument
import KithTestSupport
import Synchronization
import Testing

@testable import KithMerge

/// Conflicts that are merged by code of the application.
@Suite struct ResolverTests {
    private final class Reports: Sendable {
        let all = Mutex<[String]>([])
        var reasons: [String] { all.withLock { $0 } }
    }

    private func policy(
        _ body: @escaping @Sendable ([ResolverLeaf]) throws -> JSONValue?, version: Int = 1,
        reports: Reports = Reports()
    ) throws -> any MergePolicy {
        let code = try #require(ConflictResolver(name: "sum", version: version, body: body))
        let set = ResolverSet([code]) { failure in reports.all.withLock { $0.append(failure.reason) } }
        return try #require(set.policy("resolver", statement: Self.statement(version)))
    }

    private static func statement(_ version: Int) -> [UInt8] {
        Array("{\"default\":\"resolver\",\"resolver\":\"sum\",\"version\":\(version)}".utf8)
    }

    /// Two edits of one document that did not know of each other.
    private func conflict(_ bodies: [String]) throws -> Document {
        var whole = Document(id: DocumentID(unchecked: "a"))
        for (index, body) in bodies.enumerated() {
            var one = Document(id: whole.id)
            let time = UInt64(1 << 40) + UInt64(index) << 16
            let context = EditContext(clock: time, writer: UInt64(index + 1)) { 99 }
            guard case .written(let id, _) = try one.edit(Array(body.utf8), context) else { continue }
            _ = whole.receive(.init(revision: try #require(one.revision(id)), ancestors: []))
        }
        return whole
    }

    @Sendable private static func sum(_ leaves: [ResolverLeaf]) -> JSONValue? {
        let total = leaves.reduce(Int64(0)) { $0 + ($1.body["n"]?.integer ?? 0) }
        var body = leaves.first { $0.isWinner }?.body.object ?? JSONObject([])
        body["n"] = .number(total)
        return .object(body)
    }

    @Test func whatTheCodeSaysIsTheMergeAndItsNameIsInTheHash() throws {
        let bodies = [#"{"n":1,"x":"a"}"#, #"{"n":2,"y":true}"#]
        var (one, other, later) = (try conflict(bodies), try conflict(bodies.reversed()), try conflict(bodies))
        one.settle(try policy(Self.sum))
        later.settle(try policy(Self.sum, version: 2))
        let winner = try #require(one.winner)
        let body = String(decoding: winner.body, as: UTF8.self)
        #expect(body.contains(#""n":3"#) && one.live.count == 1)
        #expect(one.revision(winner.node.id)?.resolver == "sum/1")
        #expect(later.winner.map { $0.body } == winner.body && later.winner?.node.id != winner.node.id)
        try #require(one.revision(winner.node.id)).verify()
        // The stamps are those of the leaves: an edit that knew of them outranks what the code wrote.
        let fields = one.fields(of: winner.node)
        #expect(fields.entries.allSatisfy { [1, 2].contains($0.stamp.writer) })
        other.settle(try policy(Self.sum))
        #expect(other.live.count == 1)
    }

    @Test func leavesInAnyOrderMakeOneRevision() throws {
        let bodies = ["{\"n\":1}", "{\"n\":2}", "{\"n\":4,\"z\":[1]}"]
        let whole = try conflict(bodies)
        let items = whole.live.compactMap { node in
            whole.revision(node.id).map { Delivery.Item(revision: $0, ancestors: []) }
        }
        var ids: Set<RevisionID> = []
        for first in items.indices {
            var document = Document(id: whole.id)
            for index in items.indices { _ = document.receive(items[(index + first) % items.count]) }
            document.settle(try policy(Self.sum))
            if let winner = document.winner { ids.insert(winner.node.id) }
        }
        #expect(ids.count == 1)
    }

    @Test func codeThatContradictsItselfFailsOrSaysNothingUsableLeavesTheConflict() throws {
        struct Broken: Error {}
        let calls = Atomic(0)
        let wrong: [(@Sendable ([ResolverLeaf]) throws -> JSONValue?, String)] = [
            ({ $0.first?.body }, "another order"),
            (
                { _ in .object(JSONObject([("call", .number(calls.add(1, ordering: .relaxed).newValue))])) },
                "another order"
            ),
            ({ leaves in if leaves.first?.isWinner == true { throw Broken() } else { return nil } }, "another order"),
            ({ _ in throw Broken() }, "Broken"), ({ _ in .array([]) }, "no object"),
            ({ _ in .object(JSONObject([("_id", .string("x"))])) }, "no document"),
            ({ _ in .object(JSONObject([("big", .string(String(repeating: "x", count: 21 << 20)))])) }, "the most"),
        ]
        for (code, reason) in wrong {
            let reports = Reports()
            var document = try conflict(["{\"n\":1,\"secret\":\"s3cr3t\"}", "{\"n\":2}"])
            #expect(document.settle(try policy(code, reports: reports)).isEmpty && document.live.count == 2)
            #expect(reports.reasons.count == 1 && reports.reasons[0].contains(reason), "\(reports.reasons)")
            #expect(!reports.reasons[0].contains("s3cr3t"))
        }
        let reports = Reports()
        var left = try conflict(["{\"n\":1}", "{\"n\":2}"])
        #expect(left.settle(try policy({ _ in nil }, reports: reports)).isEmpty && reports.reasons.isEmpty)
    }

    @Test func stampsTellWhoChangedWhatAndTheRulesOfDeletionStay() throws {
        let seen = Mutex<[String]>([])
        let code: @Sendable ([ResolverLeaf]) throws -> JSONValue? = { leaves in
            let all = leaves.flatMap(\.fields.entries).map { "\($0.path.pointer) \($0.stamp.writer)" }
            seen.withLock { $0 = all.sorted() }
            return leaves.last?.isWinner == true || leaves.first?.isWinner == true ? .object(JSONObject([])) : nil
        }
        var document = try conflict(["{\"a\":1}", "{\"b\":2}"])
        document.settle(try policy(code))
        #expect(seen.withLock { $0 } == ["/a 1", "/b 2"])
        #expect(document.winner?.body == Array("{}".utf8))
        _ = try document.delete()
        let settlement = document.settle(try policy(code))
        #expect(document.live.isEmpty && settlement.merge == nil)
    }

    @Test func aStatementNamesTheCodeAndWhatLacksItIsManual() throws {
        #expect(MergePolicies.name(ofPolicy: Self.statement(3)) == "resolver")
        #expect(try MergePolicies.validated(Self.statement(3)) == Self.statement(3))
        #expect(MergePolicies.named("resolver", statement: Self.statement(3)) == nil)
        let code = try #require(ConflictResolver(name: "sum", version: 2) { _ in nil })
        let set = ResolverSet([code])
        #expect(set.policy("resolver", statement: Self.statement(3)) == nil)
        #expect(set.policy("resolver", statement: Self.statement(2))?.resolver == "sum/2")
        #expect(set.policy("latest", statement: []) == nil)
        for wrong in [
            #"{"default":"resolver"}"#, #"{"default":"resolver","resolver":"A","version":1}"#,
            #"{"default":"resolver","resolver":"a","version":0}"#,
            #"{"default":"resolver","resolver":"a","version":1,"paths":{}}"#,
        ] {
            let error = #expect(throws: DocumentError.self) { try MergePolicies.validated(Array(wrong.utf8)) }
            #expect(error?.message.contains("resolver") == true)
        }
        #expect(ConflictResolver(name: "", version: 1) { _ in nil } == nil)
    }

    /// Replicas merge what they have in any order, and the code is no join: they come to an end, and to one.
    @Test(arguments: [UInt64](1...40)) func replicasThatMergeDifferentSubsetsEndEqual(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let bodies = (0..<4).map { "{\"k\($0 % 2)\":\(random.below(9)),\"n\":\($0)}" }
        let whole = try conflict(bodies)
        let items = whole.live.compactMap { node in
            whole.revision(node.id).map { Delivery.Item(revision: $0, ancestors: []) }
        }
        let policy = try policy(Self.sum)
        var replicas = (0..<3).map { _ in Document(id: whole.id) }
        for item in items {
            let first = random.below(replicas.count)
            _ = replicas[first].receive(item)
            replicas[first].settle(policy)
        }
        for _ in 0..<40 {
            let (from, to) = (random.below(3), random.below(3))
            if from == to { continue }
            let source = replicas[from]
            for node in source.tree.leaves {
                guard let revision = source.revision(node.id) else { continue }
                _ = replicas[to].receive(.init(revision: revision, ancestors: source.tree.ancestors(of: node.id)))
            }
            replicas[to].settle(policy)
        }
        for (from, to) in [(0, 1), (1, 2), (2, 0), (0, 1), (1, 2), (2, 0)] {
            let source = replicas[from]
            for node in source.tree.leaves {
                guard let revision = source.revision(node.id) else { continue }
                _ = replicas[to].receive(.init(revision: revision, ancestors: source.tree.ancestors(of: node.id)))
            }
            replicas[to].settle(policy)
        }
        let ends = replicas.map { $0.winner?.node.id }
        #expect(ends[0] != nil && ends[0] == ends[1] && ends[1] == ends[2], "seed \(seed): \(ends)")
        #expect(replicas.allSatisfy { $0.live.count == 1 }, "seed \(seed)")
    }
}
