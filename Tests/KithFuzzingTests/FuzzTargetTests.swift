import KithFuzzing
import KithTestSupport
import Testing

@Suite struct FuzzTargetTests {
    @Test("What must hold does for the seeds", arguments: FuzzTarget.allCases)
    func seedsHold(_ target: FuzzTarget) async throws {
        for seed in target.seeds {
            // The request of a control socket waits for its answer: not on a thread that the answer may need.
            try await onThread { () throws(FuzzFailure) in try target.run(seed) }
        }
    }

    @Test("What must hold does for mutations of the seeds", arguments: FuzzTarget.allCases)
    func mutationsHold(_ target: FuzzTarget) async {
        let start = UInt64.random(in: 1...1_000_000)
        for seed in start..<start + (target == .control ? 150 : 1_000) {
            var generator = SeededGenerator(seed: seed)
            let input = Mutation.mutated(generator.pick(target.seeds), other: generator.pick(target.seeds), &generator)
            do throws(FuzzFailure) {
                try await onThread { () throws(FuzzFailure) in try target.run(input) }
            } catch { Issue.record("\(target.rawValue), seed \(seed): \(error.description)") }
        }
    }

    @Test("What was found once holds now", arguments: FuzzTarget.allCases)
    func findingsHold(_ target: FuzzTarget) async throws {
        let folder =
            #filePath.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/Findings/\(target.rawValue)"
        for name in TemporaryDirectory.names(in: folder) {
            let input = try #require(TestFile.bytes(of: "\(folder)/\(name)"))
            do throws(FuzzFailure) {
                try await onThread { () throws(FuzzFailure) in try target.run(input) }
            } catch { Issue.record("\(name): \(error.description)") }
        }
    }
}

/// Changes of an input as a fuzzer makes them.
private enum Mutation {
    static func mutated(_ seed: [UInt8], other: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = seed
        for _ in 0..<generator.within(1...4) {
            let place = generator.below(bytes.count + 1)
            switch generator.below(6) {
            case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8(generator.below(8))
            case 1 where place < bytes.count: bytes[place] = UInt8(truncatingIfNeeded: generator.next())
            case 2: bytes.insert(UInt8(truncatingIfNeeded: generator.next()), at: place)
            case 3: bytes.removeSubrange(place..<min(bytes.count, place + generator.within(0...8)))
            case 4: bytes = Array(bytes.prefix(place)) + other.suffix(generator.below(other.count + 1))
            default: bytes.insert(contentsOf: bytes.prefix(place), at: place)
            }
        }
        return bytes
    }
}
