import KithDocument
import KithMerge
import KithTestSupport
import Testing

/// Policies by path over leaves as any history may have left them.
@Suite struct PathPolicyTests {
    private static let paths: [ReferenceFields.Path] = [
        ["a"], ["a", "b"], ["a", "b", "c"], ["d"], ["e"], ["e", "f"], ["g"], ["h"],
    ]

    /// One of the rules for each of some paths, and up to two groups; no two overlap.
    private func policy(_ random: inout SeededGenerator) -> ReferencePolicy {
        var policy = ReferencePolicy()
        var free = random.shuffle(Self.paths)
        func take() -> ReferenceFields.Path? {
            guard let path = free.popLast() else { return nil }
            free.removeAll { $0.starts(with: path) || path.starts(with: $0) }
            return path
        }
        for _ in 0..<random.below(4) {
            if let path = take() { policy.paths.append((path, random.pick(["max", "min", "union"]))) }
        }
        for _ in 0..<random.below(3) {
            let group = (0..<random.within(1...3)).compactMap { _ in take() }
            if !group.isEmpty { policy.groups.append(group) }
        }
        return policy
    }

    private func value(_ random: inout SeededGenerator) -> String {
        switch random.below(8) {
        case 0: "{}"
        case 1: "\"s\""
        case 2: "[]"
        case 3...5: "[\((0..<random.within(1...3)).map { _ in "\(random.below(12))" }.joined(separator: ","))]"
        default: "\(random.below(30) - 9)"
        }
    }

    /// Few stamps, so that equal ones meet.
    private func fields(_ random: inout SeededGenerator) -> Fields {
        var entries: [Fields.Entry] = []
        for path in Self.paths where random.chance(1, in: 2) {
            let value: Fields.Value = random.chance(1, in: 5) ? .absent : .present(Array(value(&random).utf8))
            let stamp = Stamp(time: UInt64(random.below(4)), writer: UInt64(random.below(2)))
            entries.append(Fields.Entry(path: FieldPath(keys: path), stamp: stamp, value: value))
        }
        return Fields(ascending: entries.sorted { $0.path < $1.path })
    }

    private func merge(_ fields: [Fields], _ policy: any MergePolicy) -> Fields? {
        policy.merge(
            fields.map {
                MergeLeaf(id: RevisionID("1-00000000000000000000000000000000")!, fields: $0, version: Version())
            })
    }

    @Test func `Merging is a join in any order and grouping, and is what the reference says`() throws {
        let seed: UInt64 = 70
        var random = SeededGenerator(seed: seed)
        for run in 0..<3000 {
            let reference = policy(&random)
            let policy = try reference.real()
            let leaves = (0..<random.within(2...5)).map { _ in fields(&random) }
            let merged = try #require(merge(leaves, policy))
            let words = "seed \(seed) run \(run) \(reference.json)"
            #expect(ReferenceFields(merged) == reference.merge(leaves.map { ReferenceFields($0) }), "\(words)")
            #expect(merge(random.shuffle(leaves + leaves.prefix(2)), policy) == merged, "\(words)")
            #expect(
                merge([merged, merged], policy) == merged && merge([merged] + leaves, policy) == merged, "\(words)")
            let cut = random.within(1...leaves.count - 1)
            let parts = [leaves[..<cut], leaves[cut...]].compactMap { merge(Array($0), policy) }
            #expect(merge(parts, policy) == merged, "\(words)")
            let (body, stamps) = merged.split()
            #expect(Fields(body: body, stamps: stamps) == merged, "\(words)")
            var version = Version()
            for entry in merged.entries { version.set(entry.stamp.writer, to: 9) }
            try Revision(parent: nil, kind: .merge, body: body, stamps: stamps, version: version).verify()
        }
    }

    @Test func `Leaves that arrive in any order are merged into one revision`() throws {
        let seed: UInt64 = 71
        var random = SeededGenerator(seed: seed)
        for run in 0..<300 {
            let policy = try policy(&random).real()
            let leaves = (0..<random.within(2...4)).map { number in
                let (body, stamps) = fields(&random).split()
                return Revision(
                    parent: nil, kind: .edit, body: body, stamps: stamps,
                    version: Version(writer: UInt64(number), time: 9))
            }
            let merges = (0..<4).map { _ in
                var document = Document(id: DocumentID(unchecked: "d"))
                for leaf in random.shuffle(leaves) {
                    _ = document.receive(Delivery.Item(revision: leaf, ancestors: []))
                }
                return document.settle(policy).merge
            }
            #expect(merges[0] != nil && merges.allSatisfy { $0 == merges[0] }, "seed \(seed) run \(run)")
        }
    }

    // MARK: By hand

    /// What two leaves of a policy merge to: `PATH VALUE TIME` each.
    private func body(_ json: String, _ one: [(String, String?, UInt64)], _ other: [(String, String?, UInt64)]) throws
        -> String
    {
        func fields(_ entries: [(String, String?, UInt64)], _ writer: WriterID) throws -> Fields {
            Fields(
                ascending: try entries.map { pointer, value, time in
                    Fields.Entry(
                        path: FieldPath(encoded: try FieldPathCoding.encode(pointer: pointer)),
                        stamp: Stamp(time: time, writer: writer),
                        value: value.map { .present(Array($0.utf8)) } ?? .absent)
                }.sorted { $0.path < $1.path })
        }
        let policy = try MergePolicies.described(by: Array(json.utf8)).policy
        let merged = merge([try fields(one, 1), try fields(other, 2)], policy)
        #expect(merged == merge([try fields(other, 2), try fields(one, 1)], policy))
        return String(decoding: merged?.body ?? [], as: UTF8.self)
    }

    @Test(arguments: [
        ("max", "7", "10", "10"), ("max", "10", "7", "10"), ("min", "7", "10", "7"), ("min", "-7", "3", "-7"),
        ("max", "\"n/a\"", "3", "3"), ("max", "5", nil, "5"), ("max", "\"a\"", "\"b\"", "\"b\""),
        ("max", "9007199254740993", "9007199254740992", "9007199254740993"),
        ("max", "123456789012345678901234567890", "1e+29", "123456789012345678901234567890"),
        ("min", "0", "-0.5", "-0.5"), ("min", "5e-324", "0.1", "5e-324"), ("max", "[9]", "1", "1"),
        ("union", "[1,3]", "[3,2]", "[1,2,3]"), ("union", "[3,1,1]", "[3,1,1]", "[3,1,1]"),
        ("union", "[]", "[\"b\",\"a\"]", "[\"a\",\"b\"]"),
        ("union", "[[1,2],{\"a\":\",\"}]", "[[1,2]]", "[[1,2],{\"a\":\",\"}]"),
        ("union", "[1]", "2", "[1]"), ("union", "[1]", nil, "[1]"), ("union", "1", "2", "2"),
    ]) func `A path merges by its rule, whichever leaf is later`(
        rule: String, one: String, other: String?, merged: String
    ) throws {
        let shown = try body(
            "{\"default\":\"latest\",\"paths\":{\"/x\":\"\(rule)\"}}", [("/x", one, 1), ("/y", "1", 5)],
            [("/x", other, 4)])
        #expect(shown == "{\"x\":\(merged),\"y\":1}")
    }

    @Test func `Paths together are of one leaf, with what is missing there`() throws {
        let policy = #"{"default":"latest","together":[["/status","/completedAt"]]}"#
        // One completes, the other reopens later and removes the date.
        #expect(
            try body(
                policy, [("/status", "\"done\"", 5), ("/completedAt", "9", 5), ("/title", "1", 5)],
                [("/status", "\"open\"", 6), ("/completedAt", nil, 3), ("/title", "0", 1)])
                == #"{"status":"open","title":1}"#)
        // The later edit of one of the fields brings the other as its leaf has it.
        #expect(
            try body(
                policy, [("/status", "\"done\"", 5), ("/completedAt", "9", 5)],
                [("/status", "\"open\"", 1), ("/completedAt", "2", 7)])
                == #"{"completedAt":2,"status":"open"}"#)
        #expect(try body(policy, [("/status", "1", 5)], []) == #"{"status":1}"#)
        // An object is one register.
        #expect(
            try body(
                #"{"default":"latest","together":[["/at"]]}"#, [("/at/x", "1", 5), ("/at/y", "1", 1)],
                [("/at/x", "2", 2), ("/at/y", "2", 4), ("/at/z", "2", 4)])
                == #"{"at":{"x":1,"y":1}}"#)
    }

    @Test func `A deeper path that is written later takes the place of a number`() throws {
        let policy = #"{"default":"latest","paths":{"/x":"max"}}"#
        #expect(try body(policy, [("/x", "9", 3)], [("/x", nil, 6), ("/x/a", "1", 6)]) == #"{"x":{"a":1}}"#)
        #expect(try body(policy, [("/x", "9", 3)], [("/x", "2", 7), ("/x/a", "1", 6)]) == #"{"x":9}"#)
    }

    // MARK: What a policy may say

    @Test(arguments: [
        (#"{"paths":{}}"#, "NAME"), (#"{"default":"newest"}"#, "latest, manual"), (#"{"default":"paths"}"#, "latest"),
        (#"{"default":"latest","more":1}"#, #""more""#), (#"{"default":"latest","paths":[]}"#, #""paths""#),
        (#"{"default":"latest","paths":{"/count":"most"}}"#, #""/count""#),
        (#"{"default":"latest","paths":{"/count":1}}"#, "max, min, union"),
        (#"{"default":"latest","paths":{"count":"max"}}"#, #""count""#),
        (#"{"default":"latest","paths":{"":"max"}}"#, "\"\""),
        (#"{"default":"latest","paths":{"/a~b":"max"}}"#, #""/a~b""#),
        (#"{"default":"latest","paths":{"/_id":"max"}}"#, #""/_id""#),
        (#"{"default":"latest","together":["/a"]}"#, #""together""#),
        (#"{"default":"latest","together":[[]]}"#, #""together""#),
        (#"{"default":"latest","together":[[1]]}"#, #""together""#),
        (#"{"default":"latest","together":[["/a","/a"]]}"#, #""/a" twice"#),
        (#"{"default":"latest","together":[["/a","/b"],["/c","/b"]]}"#, #""/b" twice"#),
        (#"{"default":"latest","paths":{"/a":"max"},"together":[["/a/b"]]}"#, #""/a/b" is under "/a""#),
        (#"{"default":"latest","paths":{"/a":"max","/a!":"max","/a/b":"min"}}"#, #""/a/b" is under "/a""#),
        (#"{"default":"manual","paths":{"/a":"max"}}"#, "manual"),
        (#"{"default":"latest","default":"manual"}"#, "twice"), ("manual", "line 1"),
    ]) func `A policy that is not understood is refused with its path, and leaves conflicts alone`(
        json: String, words: String
    ) {
        let error = #expect(throws: DocumentError.self) { try MergePolicies.validated(Array(json.utf8)) }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "none")")
        let name = MergePolicies.name(ofPolicy: Array(json.utf8))
        #expect(MergePolicies.named(name, statement: Array(json.utf8)) == nil, "\(name)")
    }

    @Test func `A policy names a bounded number of paths`() throws {
        func policy(_ count: Int) -> [UInt8] {
            let rules = (0..<count).map { "\"/p\($0)\":\"max\"" }.joined(separator: ",")
            return Array("{\"default\":\"latest\",\"paths\":{\(rules)}}".utf8)
        }
        #expect(throws: Never.self) { try MergePolicies.validated(policy(MergeLimits.policyPaths)) }
        #expect(throws: DocumentError.self) { try MergePolicies.validated(policy(MergeLimits.policyPaths + 1)) }
    }

    @Test func `A policy that is understood has its canonical form and its name`() throws {
        let json = Array(#" {"together":[["/b", "/c"]], "paths":{"/a":"max"}, "default":"latest"}"#.utf8)
        let canonical = try MergePolicies.validated(json)
        #expect(
            String(decoding: canonical, as: UTF8.self)
                == #"{"default":"latest","paths":{"/a":"max"},"together":[["/b","/c"]]}"#)
        #expect(MergePolicies.name(ofPolicy: canonical) == PathPolicy.name)
        #expect(MergePolicies.named(PathPolicy.name, statement: canonical) is PathPolicy)
        #expect(MergePolicies.name(ofPolicy: Array(#"{"default":"manual","paths":{}}"#.utf8)) == "manual")
    }

    @Test func `A merge that would be larger than a document is not written`() throws {
        let half = String(repeating: "x", count: DocumentLimits.documentBytes * 2 / 3)
        let policy = try MergePolicies.described(by: Array(#"{"default":"latest","paths":{"/x":"union"}}"#.utf8)).policy
        let leaves = ["a", "b"].map { letter in
            Fields(
                ascending: [
                    Fields.Entry(
                        path: FieldPath(keys: ["x"]), stamp: Stamp(time: 1, writer: 1),
                        value: .present(Array("[\"\(letter)\(half)\"]".utf8)))
                ])
        }
        #expect(merge(leaves, policy) == nil)
    }
}
