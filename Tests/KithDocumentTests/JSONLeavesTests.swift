import KithDocument
import KithTestSupport
import Testing

@Suite struct JSONLeavesTests {
    private func leaves(of canonical: String) -> [(path: [UInt8], value: String)] {
        var leaves: [(path: [UInt8], value: String)] = []
        Array(canonical.utf8).withUnsafeBytes { text in
            CanonicalJSON.forEachLeaf(of: text) { path, value in
                leaves.append((Array(path), String(decoding: text[value], as: UTF8.self)))
            }
        }
        return leaves
    }

    private func listed(_ canonical: String) -> [String] {
        leaves(of: canonical).map { "\(FieldPathCoding.decode($0.path[...])) \($0.value)" }
    }

    private func assembled(_ leaves: [(path: [UInt8], value: String)]) -> String {
        let slices = leaves.map { (path: $0.path[...], value: Array($0.value.utf8)[...]) }
        return String(decoding: CanonicalJSON.assemble(slices), as: UTF8.self)
    }

    @Test(arguments: [
        (#"{}"#, []),
        (#"{"a":1}"#, ["/a 1"]),
        (#"{"a":{}}"#, ["/a {}"]),
        (#"{"a":[]}"#, ["/a []"]),
        (#"{"a":{"b":{"c":null}}}"#, ["/a/b/c null"]),
        (
            #"{"a":{"b":{"c":1},"d":2},"e":[{"f":[1,"]}"]}],"g":"x,\"}"}"#,
            ["/a/b/c 1", "/a/d 2", #"/e [{"f":[1,"]}"]}]"#, #"/g "x,\"}""#]
        ),
        (#"{"":{"":1},"/":2,"~":3}"#, ["// 1", "/~1 2", "/~0 3"]),
        (
            #"{"a":{"x":{}},"b":-1.5,"c":false,"d":"","é\n\\":"é"}"#,
            ["/a/x {}", "/b -1.5", "/c false", #"/d """#, "/é\n\\ \"é\""]
        ),
    ])
    func `Leaves are scalars, arrays and empty objects, with their paths`(canonical: String, expected: [String]) {
        #expect(listed(canonical) == expected)
        #expect(assembled(leaves(of: canonical)) == canonical)
    }

    @Test func `Paths are encoded key by key with a zero at each end`() {
        let found = leaves(of: #"{"a":{"b":1},"a\u0000":2,"é":3}"#)
        #expect(found.map(\.path) == [[0x61, 0, 0x62, 0], [0x61, 0, 0xFF, 0], [0xC3, 0xA9, 0]])
    }

    @Test func `An empty object gives way to what is under it`() throws {
        let path = { try FieldPathCoding.encode(pointer: $0 as String) }
        #expect(assembled([]) == "{}")
        #expect(assembled([(try path("/a"), "{}"), (try path("/a/b"), "1")]) == #"{"a":{"b":1}}"#)
        #expect(
            assembled([
                (try path("/a"), "{}"), (try path("/a/b"), "{}"), (try path("/a/b/c"), "1"), (try path("/a/d"), "{}"),
            ])
                == #"{"a":{"b":{"c":1},"d":{}}}"#)
        // A key that begins like another is no member of it.
        #expect(assembled([(try path("/a"), "{}"), (try path("/ab"), "1")]) == #"{"a":{},"ab":1}"#)
        #expect(assembled([(try path("/a"), "{}"), (try path("/a\0"), "1")]) == #"{"a":{},"a\u0000":1}"#)
        #expect(assembled([(try path("/a/b"), "1"), (try path("/a\0/b"), "2")]) == #"{"a":{"b":1},"a\u0000":{"b":2}}"#)
    }

    @Test func `Taking apart and putting together gives the same bytes, in the order of paths`() {
        let seed: UInt64 = 30
        var texts = SeededText(seed: seed)
        for _ in 0..<5000 {
            let whole = canonical(texts.object(depth: 5), JSONLimits(allowsReservedNames: true))
            if whole.hasPrefix("invalid") { continue }  // A key was drawn twice.
            let found = leaves(of: whole)
            #expect(assembled(found) == whole, "seed \(seed)")
            for (one, next) in zip(found, found.dropFirst()) {
                #expect(one.path.lexicographicallyPrecedes(next.path), "seed \(seed): \(whole)")
                #expect(!FieldPathCoding.isAtOrUnder(next.path[...], one.path[...]), "seed \(seed): \(whole)")
            }
            for leaf in found {
                #expect(FieldPathCoding.isValid(leaf.path[...]))
                let pointer = FieldPathCoding.decode(leaf.path[...])
                #expect((try? FieldPathCoding.encode(pointer: pointer)) == leaf.path)
            }
        }
    }

    @Test func `Byte order of encoded paths is the order of keys, level by level`() {
        let keys = [
            "", "\0", "\0\0", "\0a", "\u{1}", "a", "a\0", "a\0\0", "a\0b", "a\u{1}", "aa", "b", "é", "\u{ff61}", "😀",
        ]
        var paths: [[String]] = [[]]
        for key in keys {
            paths.append([key])
            for second in keys { paths.append([key, second]) }
        }
        func encoded(_ path: [String]) -> [UInt8] {
            var bytes: [UInt8] = []
            for key in path { FieldPathCoding.append(key: key.utf8, to: &bytes) }
            return bytes
        }
        func precedes(_ one: [String], _ other: [String]) -> Bool {
            for (mine, its) in zip(one, other) where !mine.utf8.elementsEqual(its.utf8) {
                return mine.utf8.lexicographicallyPrecedes(its.utf8)
            }
            return one.count < other.count
        }
        for one in paths {
            for other in paths {
                let (left, right) = (encoded(one), encoded(other))
                #expect(left.lexicographicallyPrecedes(right) == precedes(one, other), "\(one) \(other)")
                let isUnder = one.count >= other.count && zip(one, other).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
                #expect(FieldPathCoding.isAtOrUnder(left[...], right[...]) == isUnder, "\(one) \(other)")
            }
        }
    }

    @Test func `Encoded paths from outside are checked`() {
        for good in [[], [0], [0, 0], [0x61, 0], [0, 0xFF, 0], [0x61, 0, 0xFF, 0, 0xFF, 0x62, 0], [0xC3, 0xA9, 0]]
            as [[UInt8]]
        {
            #expect(FieldPathCoding.isValid(good[...]), "\(good)")
        }
        for bad in [
            [0x61], [0xFF, 0], [0x61, 0xFF, 0], [0, 0xFF], [0, 0xFF, 0xFF, 0], [0xC3, 0], [0xC3, 0, 0xA9, 0],
            [0xED, 0xA0, 0x80, 0],
            [0x80, 0], [0xC3, 0, 0xFF, 0],
        ] as [[UInt8]] {
            #expect(!FieldPathCoding.isValid(bad[...]), "\(bad)")
        }
    }

    @Test func `Values put together from arbitrary paths never trap`() {
        let seed: UInt64 = 31
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let leaves = (0..<random.below(6)).map { _ in
                (
                    path: (0..<random.below(5)).map { _ in random.pick([0, 0xFF, 0x61, 0x62, 0x80] as [UInt8]) },
                    value: "1"
                )
            }
            let sorted = leaves.sorted { $0.path.lexicographicallyPrecedes($1.path) }
            let unique = sorted.indices.filter { $0 == 0 || sorted[$0].path != sorted[$0 - 1].path }.map { sorted[$0] }
            _ = assembled(unique)
        }
    }

    @Test(
        arguments: [
            ("", []), ("/", [0]), ("/foo", [0x66, 0x6F, 0x6F, 0]), ("/a~1b", [0x61, 0x2F, 0x62, 0]),
            ("/m~0n", [0x6D, 0x7E, 0x6E, 0]),
            ("/~01", [0x7E, 0x31, 0]), ("//", [0, 0]), ("/a/b", [0x61, 0, 0x62, 0]), ("/ ", [0x20, 0]),
            ("/\0", [0, 0xFF, 0]),
        ] as [(String, [UInt8])])
    func `JSON Pointers name paths`(pointer: String, expected: [UInt8]) throws {
        #expect(try FieldPathCoding.encode(pointer: pointer) == expected)
        #expect(FieldPathCoding.decode(expected[...]) == pointer)
    }

    @Test(arguments: ["a", "a/b", "~", "/~", "/~2", "/a~", " /a"])
    func `What is no JSON Pointer is refused`(pointer: String) {
        #expect(throws: DocumentError.self) { try FieldPathCoding.encode(pointer: pointer) }
    }

    @Test func `A member is found by its key`() {
        let text = Array(#"{"a":1,"b\n":{"a":2},"c":[1,2],"é":"x"}"#.utf8)
        func member(_ key: String) -> String? {
            text.withUnsafeBytes { bytes in
                CanonicalJSON.member(key, of: bytes).map { String(decoding: bytes[$0], as: UTF8.self) }
            }
        }
        #expect(member("a") == "1")
        #expect(member("b\n") == #"{"a":2}"#)
        #expect(member("c") == "[1,2]")
        #expect(member("é") == "\"x\"")
        #expect(member("e\u{301}") == nil)
        #expect(member("d") == nil)
        #expect([UInt8]("{}".utf8).withUnsafeBytes { CanonicalJSON.member("a", of: $0) } == nil)
    }
}
