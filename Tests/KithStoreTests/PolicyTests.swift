import KithDocument
import KithMerge
import KithTestSupport
import Testing

@testable import KithStore

@Suite struct PolicyTests {
    /// Two stores that wrote the same fields of some documents apart, and then pulled from each other.
    private func apart(_ documents: Int, policy: String) throws -> (TestStore, TestStore) {
        let (one, other) = (try TestStore(seed: 1), try TestStore(seed: 2))
        for test in [one, other] { try test.setPolicy(policy, number: 1) }
        for number in 0..<documents {
            try one.put("d\(number)", #"{"x":1,"mine":1}"#)
            other.world.now += 1
            try other.put("d\(number)", #"{"x":2,"its":1}"#)
        }
        try one.pull(other)
        try other.pull(one)
        return (one, other)
    }

    @Test func manualLeavesConflictsAndTheReaderShowsThem() throws {
        let (one, other) = try apart(3, policy: "manual")
        for test in [one, other] {
            #expect(test.store.summary.conflicts == 3)
            #expect(try test.reader.conflicts(after: 0, limit: 2).count == 2)
            let read = try #require(try test.get("d0"))
            #expect(read.conflicts.count == 1)
            let beside = try #require(try test.get("d0", revision: read.conflicts[0]))
            #expect(!beside.isDeleted)
            #expect(beside.body != read.body)
            try test.check()
        }
        #expect(one.store.summary.digest == other.store.summary.digest)
        #expect(try one.get("d0")?.revision == (try other.get("d0")?.revision))
    }

    @Test func resolvingEndsTheOthersEverywhere() throws {
        let (one, other) = try apart(2, policy: "manual")
        let loser = try #require(try one.get("d0")?.conflicts.first)
        let id = try DocumentID("d0")
        let body = try one.get("d0", revision: loser)?.body
        let kept = try one.store.write { (transaction) throws(StoreError) in try transaction.resolve(id, keep: loser) }
        #expect(kept.revision == loser)
        try other.pull(one)
        for test in [one, other] {
            #expect(try test.get("d0")?.body == body)
            #expect(try test.get("d0")?.conflicts.isEmpty == true)
            #expect(test.store.summary.conflicts == 1)
            try test.check()
        }
        #expect(
            failure {
                _ = try one.store.write { (transaction) throws(StoreError) in
                    try transaction.resolve(id, keep: kept.revision)
                }
                let gone = RevisionID("9-00000000000000000000000000000000")!
                _ = try one.store.write { (transaction) throws(StoreError) in try transaction.resolve(id, keep: gone) }
            } == .conflict)
    }

    @Test func aNewPolicyMergesTheConflictsInSteps() throws {
        let (one, other) = try apart(25, policy: "manual")
        #expect(try one.setPolicy("latest", number: 2))
        #expect(!(try one.setPolicy("latest", number: 2)), "it is set already")
        #expect(one.store.summary.conflicts == 25)
        var steps = 0
        func maintain() throws -> Bool {
            steps += 1
            return try one.store.write { (transaction) throws(StoreError) in try transaction.maintain(limit: 10) }
        }
        #expect(try maintain())
        #expect(one.store.summary.conflicts == 15)
        try one.reopen()
        while try maintain() {}
        #expect(steps == 3)
        #expect(one.store.summary.conflicts == 0)
        #expect(try one.body("d7") == #"{"its":1,"mine":1,"x":2}"#)
        #expect(try one.reader.policy().name == "latest")
        try one.check()
        try other.setPolicy("latest", number: 2)
        try other.pull(one)
        #expect(other.store.summary.conflicts == 0)
        #expect(one.store.summary.digest == other.store.summary.digest)
    }

    @Test func aPolicyByPathMergesTheConflictsAndIsThereAfterARestart() throws {
        let (one, other) = try apart(12, policy: "from-the-future")
        let json = Array(#"{"default":"latest","paths":{"/x":"min"},"together":[["/mine","/its"]]}"#.utf8)
        let policy = StoredPolicy(number: 2, name: MergePolicies.name(ofPolicy: json), statement: json)
        for test in [one, other] {
            #expect(test.store.summary.conflicts == 12)
            let isTaken = try test.store.write { (transaction) throws(StoreError) in
                try transaction.setPolicy(policy)
            }
            #expect(isTaken)
            try test.reopen()
            #expect(try test.reader.policy().policy is PathPolicy)
            while try test.store.write({ (transaction) throws(StoreError) in try transaction.maintain(limit: 5) }) {}
            #expect(test.store.summary.conflicts == 0)
            // The least number of either; of the group what the later has.
            #expect(try test.body("d7") == #"{"its":1,"x":1}"#)
            try test.check()
        }
        #expect(one.store.summary.digest == other.store.summary.digest)
        // A statement that is not understood leaves conflicts alone.
        let newer = Array(#"{"default":"latest","paths":{"/x":"median"}}"#.utf8)
        #expect(StoredPolicy(number: 3, name: "paths", statement: newer).policy is ManualPolicy)
    }

    @Test func anUnknownPolicyLeavesConflictsAlone() throws {
        let (one, _) = try apart(2, policy: "from-the-future")
        #expect(one.store.summary.conflicts == 2)
    }

    @Test func overruledBodiesAreKeptForAWhile() throws {
        let (one, other) = (try TestStore(seed: 1), try TestStore(seed: 2))
        let id = try DocumentID("d0")
        try one.put("d0", #"{"x":1,"mine":1}"#)
        other.world.now += 1
        try other.put("d0", #"{"x":2,"its":1}"#)
        // The other merges, and the one whose leaf lost gets the merge.
        try other.pull(one)
        try one.pull(other)
        for test in [one, other] {
            #expect(try test.body("d0") == #"{"its":1,"mine":1,"x":2}"#)
            let kept = try #require(try test.reader.history(id)?.keptBodies)
            try #require(kept.count == 1)
            let lost = try kept.compactMap { try test.reader.get(id, revision: $0.revision) }
                .map { String(decoding: $0.body, as: UTF8.self) }
            // Of the leaf with the higher stamp nothing is hidden, so it is not kept.
            #expect(lost == [#"{"mine":1,"x":1}"#])
            #expect(kept.allSatisfy { $0.until == test.world.now + 30 * 24 * 3600 * 1000 })
            func maintain() throws {
                _ = try test.store.write { (transaction) throws(StoreError) in try transaction.maintain() }
            }
            test.world.now += 30 * 24 * 3600 * 1000 - 1
            try maintain()
            #expect(try test.reader.history(id)?.keptBodies.count == 1)
            test.world.now += 1
            try maintain()
            #expect(try test.reader.history(id)?.keptBodies.isEmpty == true)
            #expect(try test.reader.get(id, revision: kept[0].revision) == nil)
            try test.check()
        }
    }

    @Test func purgingRemovesKeptBodiesToo() throws {
        let (one, _) = try apart(1, policy: "latest")
        try one.purge("d0")
        let bodies = try one.reader.connection.number("SELECT count(*) FROM bodies")
        #expect(bodies == 0)
    }

    @Test func deletingOneSideOfAConflictLeavesTheOther() throws {
        let (one, _) = try apart(1, policy: "manual")
        let before = try #require(try one.get("d0"))
        try one.delete("d0", if: before.revision)
        let after = try #require(try one.get("d0"))
        #expect(after.revision == before.conflicts[0])
        #expect(!after.isDeleted)
        #expect(one.store.summary.conflicts == 0)
        try one.check()
        try one.delete("d0")
        #expect(try one.get("d0")?.isDeleted == true)
        let bodies = try one.reader.connection.number("SELECT count(*) FROM bodies")
        #expect(bodies == 0)
        try one.check()
    }
}

/// A file that comes with the policy of what it was before.
@Suite struct ReplacedPolicyTests {
    @Test func thePolicyOfWhoKnowsItTakesThePlaceOfAHigherOne() throws {
        let (one, other) = (try TestStore(seed: 1), try TestStore(seed: 2))
        try one.setPolicy("manual", number: 7)
        try one.put("a", #"{"x":1}"#)
        try other.put("a", #"{"y":1}"#)
        try one.pull(other)
        #expect(one.store.summary.conflicts == 1)
        #expect(try one.setPolicy("latest", number: 1), "whoever sets it knows it for certain")
        #expect(!(try one.setPolicy("latest", number: 1)))
        while try one.store.write({ (transaction) throws(StoreError) in try transaction.maintain() }) {}
        #expect(one.store.summary.conflicts == 0)
        #expect(try one.body("a") == #"{"x":1,"y":1}"#)
        try one.reopen()
        #expect(!(try one.setPolicy("latest", number: 1)), "it is on disk")
    }
}
