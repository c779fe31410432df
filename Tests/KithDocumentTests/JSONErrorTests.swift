import Glibc
import KithDocument
import KithTestSupport
import Testing

@Suite struct JSONErrorTests {
    @Test(arguments: [
        ("", 1, 1, "the text ends too early"),
        ("   ", 1, 4, "the text ends too early"),
        ("[1]", 1, 1, "the document is not a JSON object"),
        ("1", 1, 1, "the document is not a JSON object"),
        ("\"{}\"", 1, 1, "the document is not a JSON object"),
        ("\u{feff}{}", 1, 1, "the text begins with a byte order mark; save it as UTF-8 without one"),
        ("{} {}", 1, 4, "there is text after the end of the value"),
        ("{}\u{0}", 1, 3, "there is text after the end of the value"),
        ("{\n  \"a\": 1,\n  \"b\": tru\n}", 3, 8, "expected a value"),
        ("{\"ä\": x}", 1, 8, "expected a value"),
        ("{a:1}", 1, 2, "expected a key in double quotes"),
        ("{'a':1}", 1, 2, "expected a key in double quotes"),
        ("{\"a\":1,}", 1, 8, "expected a key in double quotes"),
        ("{,}", 1, 2, "expected a key in double quotes"),
        ("{\"a\" 1}", 1, 6, "expected a colon after the key"),
        ("{\"a\",1}", 1, 5, "expected a colon after the key"),
        ("{\"a\":1 \"b\":2}", 1, 8, "expected a comma or the closing bracket"),
        ("{\"a\":1]", 1, 7, "expected a comma or the closing bracket"),
        ("{\"a\":[1}}", 1, 8, "expected a comma or the closing bracket"),
        ("{\"a\":[1,]}", 1, 9, "expected a value"),
        ("{\"a\":[,1]}", 1, 7, "expected a value"),
        ("{\"a\":[1 2]}", 1, 9, "expected a comma or the closing bracket"),
        ("{\"a\":}", 1, 6, "expected a value"),
        ("{\"a\":\u{a0}1}", 1, 6, "expected a value"),
        ("{\"a\":1 // no\n}", 1, 8, "expected a comma or the closing bracket"),
        ("{\"a\":01}", 1, 6, "a number must not begin with a zero before other digits"),
        ("{\"a\":1,\"a\":2}", 1, 8, "a key occurs twice in one object"),
        ("{\"b\":0,\"a\":1,\"c\":3,\"a\":2}", 1, 20, "a key occurs twice in one object"),
        ("{\"a\":1,\"\\u0061\":2}", 1, 8, "a key occurs twice in one object"),
        ("{\"x\":{\"\\u00e9\":1,\"é\":2}}", 1, 18, "a key occurs twice in one object"),
        ("{\"x\":[{\"\\n\":1,\"b\":1,\"\\u000A\":2}]}", 1, 21, "a key occurs twice in one object"),
        ("{\"\":1,\"\":2}", 1, 7, "a key occurs twice in one object"),
        ("{\"_id\":1}", 1, 2, "top-level names that begin with _ are reserved"),
        ("{\"a\":1,\"\\u005fid\":1}", 1, 8, "top-level names that begin with _ are reserved"),
        ("{\"a\":\"\\x\"}", 1, 7, "unknown escape in a string"),
        ("{\"a\":\"\\u12g4\"}", 1, 7, "unknown escape in a string"),
        ("{\"a\":\"\\U0041\"}", 1, 7, "unknown escape in a string"),
        ("{\"a\":\"\\ud83d\"}", 1, 7, "a \\u escape is half of a surrogate pair"),
        ("{\"a\":\"\\ud83dx\"}", 1, 7, "a \\u escape is half of a surrogate pair"),
        ("{\"a\":\"\\ud83d\\n\"}", 1, 7, "a \\u escape is half of a surrogate pair"),
        ("{\"a\":\"\\ud83d\\ud83d\"}", 1, 7, "a \\u escape is half of a surrogate pair"),
        ("{\"a\":\"\\ude00\"}", 1, 7, "a \\u escape is half of a surrogate pair"),
        ("{\"a\":\"\\ude00\\ud83d\"}", 1, 7, "a \\u escape is half of a surrogate pair"),
        ("{\"a\":\"x\ny\"}", 1, 8, "a control character in a string must be escaped"),
    ])
    func `An error names its place and its reason`(text: String, line: Int, column: Int, reason: String) {
        let offset =
            text.utf8.split(separator: 10, omittingEmptySubsequences: false).prefix(line - 1)
            .reduce(0) { $0 + $1.count + 1 } + column - 1
        #expect(throws: DocumentError.invalidJSON(reason, line: line, column: column, offset: offset)) {
            try CanonicalJSON.object(from: Array(text.utf8))
        }
        #expect(!isCanonical(text))
    }

    @Test(
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80],
            [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xFE], [0xC3], [0xC3, 0x41], [0xE2, 0x82], [0xE2, 0x41, 0x82],
            [0xF0, 0x9F, 0x98], [0xF0, 0x9F, 0x41, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80],
        ] as [[UInt8]])
    func `Broken UTF-8 is refused in values and keys`(bytes: [UInt8]) {
        for padding in 0..<9 {
            let before = [UInt8](repeating: UInt8(ascii: "x"), count: padding)
            let value = Array("{\"a\":\"".utf8) + before + bytes + Array("\"}".utf8)
            let key = Array("{\"".utf8) + before + bytes + Array("\":1}".utf8)
            #expect(
                canonical(bytes: value) == "invalid JSON at line 1, column \(7 + padding): the text is not valid UTF-8")
            #expect(
                canonical(bytes: key) == "invalid JSON at line 1, column \(3 + padding): the text is not valid UTF-8")
            #expect(!isCanonical(value) && !isCanonical(key))
        }
    }

    @Test func `Every character of Unicode stands in a string`() {
        for code in UInt32(0x20)...0x10FFFF where code != 0x22 && code != 0x5C {
            guard let scalar = Unicode.Scalar(code) else { continue }
            let text = Array("{\"a\":\"".utf8) + Array(String(Character(scalar)).utf8) + Array("\"}".utf8)
            if !isCanonical(text) { Issue.record("U+\(String(code, radix: 16))") }
        }
    }

    private static let sample = Array(
        #"{"b": [1.50, -2e-3, true, null, "x\u00e9\ud83d\ude00\n\/é漢😀"], "a": {"z": {}, "y": [], "\u0061": false}, "c": "longer than eight bytes"}"#
            .utf8)

    @Test func `A text cut at any byte is an error and never a trap`() {
        for length in 0..<Self.sample.count {
            let cut = Array(Self.sample.prefix(length))
            #expect(canonical(bytes: cut).hasSuffix("the text ends too early"), "\(length)")
            #expect(!isCanonical(cut))
        }
        #expect(canonical(bytes: Self.sample).hasPrefix("{\"a\":"))
    }

    @Test func `Mutated texts are read or refused, never trapped on`() {
        let count = getenv("KITH_LONG_TESTS") == nil ? 100_000 : 3_000_000
        let seed: UInt64 = 3
        var texts = SeededText(seed: seed)
        var seeds = (0..<200).map { _ in Array(texts.object(depth: 4).utf8) } + [Self.sample]
        let interesting = Array("{}[]\",:\\u0eE+-.19_/ \n\u{0}tfnd8".utf8) + [0x80, 0xC3, 0xE2, 0xED, 0xF0, 0xFF]
        for round in 0..<count {
            var text = texts.random.pick(seeds)
            for _ in 0..<texts.random.within(1...4) { mutate(&text, with: interesting, &texts.random) }
            do throws(DocumentError) {
                let once = try CanonicalJSON.object(from: text)
                let again = try CanonicalJSON.object(from: once)
                if again != once || !isCanonical(once) {
                    Issue.record("seed \(seed), round \(round): \(String(decoding: text, as: UTF8.self))")
                }
                walk(once)
                if texts.random.chance(1, in: 50) { seeds[texts.random.below(seeds.count)] = text }
            } catch {
                if isCanonical(text) { Issue.record("seed \(seed), round \(round): refused and canonical") }
                walk(text)
            }
        }
    }

    private func mutate(_ text: inout [UInt8], with interesting: [UInt8], _ random: inout SeededGenerator) {
        guard !text.isEmpty else { return text.append(random.pick(interesting)) }
        let index = random.below(text.count)
        switch random.below(5) {
        case 0: text[index] = random.pick(interesting)
        case 1: text.insert(random.pick(interesting), at: index)
        case 2: text.remove(at: index)
        case 3: text[index] = UInt8(truncatingIfNeeded: random.next())
        default:
            let length = min(random.within(1...12), text.count - index)
            text.insert(contentsOf: Array(text[index..<(index + length)]), at: random.below(text.count + 1))
        }
    }

    /// The functions that trust their bytes must stay within them all the same.
    private func walk(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { text in
            CanonicalJSON.forEachLeaf(of: text) { _, value in
                if value.upperBound > text.count { Issue.record("a leaf ends beyond the text") }
            }
            if let range = CanonicalJSON.member("a", of: text), range.upperBound > text.count {
                Issue.record("a member ends beyond the text")
            }
        }
    }

    @Test func `Nesting goes as deep as the limit and no deeper, within a small stack`() throws {
        let arrays = nested(open: "[", close: "]", depth: 511)
        let objects = nested(open: "{\"b\":", inner: "{}", close: ",\"a\":1}", depth: 510)
        onSmallStack {
            #expect(isCanonical("{\"a\":\(arrays)}"))
            #expect(canonical("{\"a\":[\(arrays)]}").hasSuffix("nested deeper than 512 levels"))
            let sorted = canonical("{\"a\":\(objects)}")
            #expect(sorted == "{\"a\":" + nested(open: "{\"a\":1,\"b\":", inner: "{}", close: "}", depth: 510) + "}")
            #expect(canonical("{\"a\":{\"a\":\(objects)}}").hasSuffix("nested deeper than 512 levels"))
            let deep = String(repeating: "[", count: 100_000)
            #expect(canonical("{\"a\":\(deep)").hasSuffix("nested deeper than 512 levels"))
        }
        #expect(canonical("{\"a\":[[]]}", JSONLimits(maximumDepth: 2)).hasSuffix("deeper than 2 levels"))
        #expect(canonical("{\"a\":[]}", JSONLimits(maximumDepth: 2)) == "{\"a\":[]}")
        #expect(canonical("{}", JSONLimits(maximumDepth: 0)).hasSuffix("deeper than 0 levels"))
    }

    private func nested(open: String, inner: String = "", close: String, depth: Int) -> String {
        String(repeating: open, count: depth) + inner + String(repeating: close, count: depth)
    }

    @Test func `Size is limited, of the text and of its canonical form`() {
        let limits = JSONLimits(maximumBytes: 20)
        #expect(canonical("{\"a\":\"345678901234\"}", limits) == "{\"a\":\"345678901234\"}")
        #expect(canonical("{\"a\":\"3456789012345\"}", limits).hasSuffix("the document is larger than 20 bytes"))
        #expect(canonical("{\"a\":\"34567890123\"  }", limits).hasSuffix("the document is larger than 20 bytes"))
        #expect(canonical("{\"a\":1e13}", limits) == "{\"a\":10000000000000}")
        #expect(canonical("{\"a\":1e14}", limits).hasSuffix("the document is larger than 20 bytes"))
        #expect(canonical("{\"a\":[1e20,1e20]}", limits).hasSuffix("the document is larger than 20 bytes"))
    }

    @Test func `The caller may let reserved names pass at the top, and below they are ordinary`() {
        #expect(canonical("{\"_id\":1}", JSONLimits(allowsReservedNames: true)) == "{\"_id\":1}")
        #expect(canonical("{\"a\":{\"_id\":[{\"_x\":1}]}}") == "{\"a\":{\"_id\":[{\"_x\":1}]}}")
    }

    @Test func `A check tells a duplicate key from a wrong order`() {
        #expect(throws: DocumentError.invalidJSON("a key occurs twice in one object", line: 1, column: 14, offset: 13))
        {
            try Array("{\"a\":1,\"b\":1,\"a\":1}".utf8).withUnsafeBytes { try CanonicalJSON.checkObject($0) }
        }
        #expect(
            throws: DocumentError.invalidJSON(
                "the text is valid JSON but not in canonical form", line: 1, column: 8, offset: 7)
        ) {
            try Array("{\"b\":1,\"a\":1}".utf8).withUnsafeBytes { try CanonicalJSON.checkObject($0) }
        }
    }
}
