import Glibc
import KithDocument
import KithMerge
import Testing

/// Random histories against the promises of docs/merge.md. A failure prints its seed; `KITH_MERGE_SEED=N` runs that one
/// alone, `KITH_MERGE_RUNS=N` that many.
@Suite struct HistoryTests {
    private static let parts = 16

    private static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

    /// The seeds of one of the parts into which a test is cut, to run beside each other.
    private static func seeds(_ part: Int, of runs: Int) -> [UInt64] {
        if let seed = number("KITH_MERGE_SEED") { return part == 0 ? [UInt64(seed)] : [] }
        let runs = number("KITH_MERGE_RUNS") ?? runs
        return stride(from: part, to: runs, by: parts).map { UInt64($0) }
    }

    private func run(
        _ seeds: [UInt64], policy: any MergePolicy = LatestPolicy(), reference: ReferencePolicy? = ReferencePolicy(),
        changesPolicy: Bool = false, trim: TrimLimits = TrimLimits(), allowing allowed: Set<History.Verdict> = []
    ) {
        for seed in seeds {
            var history = History(
                seed: seed, policy: policy, reference: reference, changesPolicy: changesPolicy, trim: trim)
            let (verdict, details) = history.verdict()
            if verdict != .converged && !allowed.contains(verdict) {
                Issue.record("KITH_MERGE_SEED=\(seed): \(verdict.rawValue): \(details)")
            }
        }
    }

    @Test(arguments: 0..<parts)
    func `Replicas converge, no edit is lost and nothing deleted comes back`(part: Int) {
        run(Self.seeds(part, of: 2000))
    }

    @Test(arguments: 0..<parts)
    func `With versions cut short all converge and nothing is lost, though what was seen may come back`(part: Int) {
        run(
            Self.seeds(part, of: 250), trim: TrimLimits(versionEntries: 2, absentStamps: 256),
            allowing: [.zombie, .fieldZombie])
    }

    @Test(arguments: 0..<parts)
    func `With few removals remembered all converge, though a removed field may come back`(part: Int) {
        run(
            Self.seeds(part, of: 250), trim: TrimLimits(versionEntries: 3, absentStamps: 1),
            allowing: [.zombie, .fieldZombie, .fieldLost])
    }

    @Test(arguments: 0..<parts)
    func `A resolver whose result is no join comes to an end, and nothing is lost`(part: Int) {
        run(Self.seeds(part, of: 250), policy: ConcatenatingPolicy(), reference: nil)
    }

    /// Policies for the paths of a history, with each rule at a path that competes with others and at one that does not.
    private static let policies = [
        ReferencePolicy(paths: [(["e"], "union"), (["h"], "max")], groups: [[["a"], ["f", "g"]]]),
        ReferencePolicy(paths: [(["a"], "max"), (["f", "g"], "union")], groups: [[["e"], ["h"]]]),
        ReferencePolicy(
            paths: [(["a", "b"], "union"), (["e"], "min"), (["f", "g"], "max")], groups: [[["a", "d"], ["h"]]]),
        ReferencePolicy(paths: [(["a"], "union"), (["h"], "min")], groups: [[["e"], ["f"]]]),
    ]

    @Test(arguments: 0..<parts)
    func `With policies by path all converge, and each path holds what its policy promises`(part: Int) throws {
        for (index, reference) in Self.policies.enumerated() {
            run(
                Self.seeds(part, of: 640).filter { Int($0) / Self.parts % Self.policies.count == index },
                policy: try reference.real(), reference: reference)
        }
    }

    @Test(arguments: 0..<parts)
    func `A policy that replicas hear of one after the other makes them converge all the same`(part: Int) throws {
        for (index, reference) in Self.policies.enumerated() {
            run(
                Self.seeds(part, of: 320).filter { Int($0) / Self.parts % Self.policies.count == index },
                policy: try reference.real(), reference: reference, changesPolicy: true)
        }
    }
}

/// A custom resolver that is neither commutative by itself nor idempotent: it strings together what differs.
struct ConcatenatingPolicy: MergePolicy {
    static let name = "concatenating"
    let resolver = "concatenating/1"

    func merge(_ leaves: [MergeLeaf]) -> Fields? {
        var entries: [FieldPath: [Fields.Entry]] = [:]
        for leaf in leaves {
            for entry in leaf.fields.entries { entries[entry.path, default: []].append(entry) }
        }
        let merged = entries.keys.sorted().map { path in
            let all = entries[path] ?? []
            let stamp = all.map(\.stamp).max() ?? .zero
            var text: [UInt8] = []
            for entry in all {
                guard case .present(let value) = entry.value else { continue }
                text += value.filter { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
            }
            let isPresent = all.contains { $0.value != .absent }
            let isOne = all.allSatisfy { $0.value == all[0].value }
            // Bounded, or the text of merges of merges doubles each time.
            let value = isOne ? all[0].value : .present(Array("\"".utf8) + text.suffix(30) + Array("\"".utf8))
            return Fields.Entry(path: path, stamp: stamp, value: isPresent ? value : .absent)
        }
        return Fields(ascending: merged)
    }
}
