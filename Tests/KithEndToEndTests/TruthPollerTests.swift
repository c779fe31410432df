import KithTestSupport
import Testing

/// Who asks all nodes what they say of each other must find a lie, and only that.
@Suite struct TruthPollerTests {
    private typealias Sample = TruthPoller.Sample

    /// What a node said six times a second.
    private func said(
        _ node: String, from start: Double, until end: Double, _ digest: String, inSync: Set<String> = [],
        apart: [String: Set<String>] = [:]
    ) -> [Sample] {
        stride(from: start, to: end, by: 0.16).map {
            Sample(
                asked: $0, answered: $0 + 0.01, node: node, digests: ["notes": digest], inSync: inSync, apart: apart)
        }
    }

    /// What `ada` said until `other` had what it has.
    private func lies(_ ada: [Sample], _ ben: [Sample]) -> [TruthPoller.Lie] {
        TruthPoller.Record(["ada": ada, "ben": ben]).lies
    }

    @Test func whoCallsAnotherInSyncThatHasSomethingElseIsFound() throws {
        let ada = said("a", from: 0, until: 2, "1", inSync: ["b"]) + said("a", from: 2, until: 6, "2", inSync: ["b"])
        let ben = said("b", from: 0, until: 6, "1")
        let found = lies(ada, ben)
        let lie = try #require(found.first)
        #expect(found.count == 1 && lie.speaker == "ada" && lie.of == "ben" && lie.database == "notes")
        #expect(lie.from > 2 && lie.seconds > 1.5 && lie.seconds < 4, "\(lie)")
        // Of one that was stopped, and of one that came to it much later, it is no less a lie.
        #expect(lies(ada, said("b", from: 0, until: 2, "1")).count == 1)
        let late = Sample(asked: 2, answered: 6, node: "b", digests: ["notes": "2"], inSync: [])
        #expect(lies(ada, said("b", from: 0, until: 2, "1") + [late]).count == 1)
    }

    @Test func aMomentIsNoLie() {
        let before = said("a", from: 0, until: 2, "1", inSync: ["b"])
        let ben = said("b", from: 0, until: 2.9, "1") + said("b", from: 2.9, until: 6, "2")
        #expect(lies(before + said("a", from: 2, until: 6, "2", inSync: ["b"]), ben).isEmpty)
        // Nor is it one to say that nothing is known, or that purged documents are apart.
        let other = said("b", from: 0, until: 6, "1")
        #expect(lies(before + said("a", from: 2, until: 6, "2"), other).isEmpty)
        let apart = said("a", from: 2, until: 6, "2", inSync: ["b"], apart: ["b": ["notes"]])
        #expect(lies(before + apart, other).isEmpty)
        // Nor to have been away in between.
        let lives =
            said("a", from: 2, until: 2.5, "2", inSync: ["b"]) + said("a", from: 5, until: 5.5, "2", inSync: ["b"])
        #expect(lies(before + lives, other).isEmpty)
    }

    @Test func aCopyIsJudgedAsWhoItIs() {
        let ada = said("a", from: 0, until: 6, "2", inSync: ["b"])
        let ben = said("b", from: 0, until: 6, "2")
        // It has the directory of another and is not in step; then it is a node of its own.
        let copy = said("b", from: 0, until: 3, "1") + said("c", from: 3, until: 6, "1")
        #expect(TruthPoller.Record(["ada": ada, "ben": ben, "copy": copy]).lies.isEmpty)
    }
}
