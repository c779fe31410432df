import Glibc
import KithSimulation
import KithTestSupport
import Testing

/// The states that runs must reach now and then.
@Suite struct MarkTests {
    private static let page = String(#filePath[..<#filePath.lastIndex(of: "/")!]) + "/../../docs/simulation.md"

    /// The page lists them all, in their order. To write them anew: `KITH_ACCEPT_GOLDEN=1`.
    @Test func thePageListsThemAll() throws {
        let page = try #require(TestFile.text(of: Self.page)).split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
        let first = try #require(page.firstIndex { $0.hasPrefix("- a conflict of two leaves") })
        let count = page[first...].prefix { !$0.isEmpty }.count
        let marks = Mark.allCases.map { "- \($0.rawValue)" }
        if getenv("KITH_ACCEPT_GOLDEN") != nil {
            let text = (page[..<first] + marks + page[(first + count)...]).joined(separator: "\n")
            try #require(PlanFile.write(text, to: Self.page))
            return
        }
        #expect(Array(page[first..<first + count]) == marks)
    }

    @Test func aFewShortRunsReachAQuarterOfThem() {
        var met = Tally()
        for seed in UInt64(1)...8 {
            met.add(Simulation.run(PlanGenerator.plan(seed: seed, .short)).marks)
        }
        let marks = Mark.allCases.filter { met[$0.rawValue] > 0 }
        // Those that hang on nothing but that clients write and nodes meet.
        for mark in [Mark.merge, .conflictOfTwo, .foundEqual, .checkpointChecked, .groupOfWrites] {
            #expect(marks.contains(mark), "\(mark.rawValue)")
        }
        #expect(marks.count > Mark.allCases.count / 4, "\(marks)")
        #expect(met.sorted.allSatisfy { Mark(rawValue: $0.name) != nil })
    }
}
