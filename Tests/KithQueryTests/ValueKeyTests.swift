import KithDocument
import KithQuery
import KithTestSupport
import Testing

/// The collation key against the order of values, and that against a slow model.
@Suite struct ValueKeyTests {
    private func number(_ text: String) -> QueryValue { .number(RandomValues.number(text)) }

    private func check(_ one: QueryValue, _ two: QueryValue) {
        let expected = ValueModel.order(one, two)
        let (key, other) = (ValueKey(one), ValueKey(two))
        #expect(one.order(to: two).rawValue == expected, "\(one) and \(two)")
        #expect(two.order(to: one).rawValue == -expected, "\(one) and \(two)")
        #expect((key < other) == (expected < 0), "\(one) and \(two): \(key.bytes) \(other.bytes)")
        #expect((key == other) == (expected == 0), "\(one) and \(two): \(key.bytes) \(other.bytes)")
    }

    private func checkReading(_ value: QueryValue) {
        let key = ValueKey(value)
        guard let back = key.value else {
            Issue.record("no value in the key of \(value): \(key.bytes)")
            return
        }
        #expect(back == value, "\(value) came back as \(back)")
        #expect(ValueKey(back) == key)
    }

    private static let ascendingNumbers: [String] = [
        "-1" + String(repeating: "0", count: 400), "-1.7976931348623157e308", "-9007199254740993", "-9007199254740992",
        "-1", "-0.1", "-5e-324", "0", "5e-324", "1e-300", "0.1", "0.12", "1", "2", "10", "12", "9007199254740991",
        "9007199254740992", "9007199254740993", "1e21", "1000000000000000000001", "1e23", "1.7976931348623157e308",
        "1" + String(repeating: "0", count: 400), "1" + String(repeating: "0", count: 399) + "1",
    ]

    @Test func theEdgesStandInOrder() {
        let strings = ["", "\0", "\0\0", "\u{1}", "a", "a\0", "a\0a", "aa", "b", "é", "\u{10FFFF}"]
        let arrays: [String] = [
            "[]", "[null]", "[null,null]", "[false]", "[1]", "[1,2]", "[2]", "[\"\"]", "[\"a\"]", "[\"a\",1]",
            "[\"a\\u0000\"]", "[[]]", "[[],1]", "[[1]]", "{}", "{\"\":null}", "{\"a\":null}", "{\"a\":1}",
            "{\"a\":1,\"b\":1}", "{\"a\":2}", "{\"a\\u0000\":1}", "{\"b\":null}",
        ]
        var ascending: [QueryValue] = [.missing, .null, .bool(false), .bool(true)]
        ascending += Self.ascendingNumbers.map { number($0) }
        ascending += strings.map { .string($0) }
        ascending += arrays.map { QueryValue(try! JSONValue(parsing: $0)) }
        for (index, one) in ascending.enumerated() {
            for (place, two) in ascending.enumerated() {
                #expect(ValueOrder(rawValue: index < place ? -1 : index > place ? 1 : 0) == one.order(to: two))
                check(one, two)
            }
            checkReading(one)
        }
    }

    @Test func equalNumbersHaveOneKey() {
        for (one, two) in [
            ("1", "1.0"), ("-0", "0"), ("100", "1e2"), ("1e21", "1000000000000000000000"), ("0.5", "5e-1"),
        ] {
            #expect(number(one) == number(two))
            #expect(ValueKey(number(one)) == ValueKey(number(two)))
        }
        #expect(QueryValue.array([1.0, "é"]) == .array([1, "é"]))
        #expect(QueryValue.string("é") != .string("e\u{301}"))
    }

    @Test func everyPairOfNumbersAtTheEdges() {
        for one in RandomValues.numbers {
            checkReading(number(one))
            for two in RandomValues.numbers { check(number(one), number(two)) }
        }
    }

    @Test(arguments: 0..<10) func keysCompareAsValuesDo(seed: UInt64) {
        var values = RandomValues(seed: seed)
        var all = (0..<24).map { _ in values.any() }
        // Numbers that lie close together.
        let double = Double(bitPattern: values.random.next())
        if double.isFinite {
            for near in [double, double.nextUp, double.nextDown, -double] { all.append(.number(near)) }
        }
        let integer = Int64(bitPattern: values.random.next()) >> 8
        for near in [integer, integer + 1, -integer] { all.append(.number(near)) }
        all.append(.number(Double(integer)))
        for one in all {
            checkReading(one)
            for two in all { check(one, two) }
        }
        for _ in 0..<60 {
            let rows = (0..<2).map { _ in (0..<3).map { _ in values.any(depth: 1) } }
            let order = zip(rows[0], rows[1]).lazy.map { ValueModel.order($0, $1) }.first { $0 != 0 } ?? 0
            #expect((ValueKey(rows[0]) < ValueKey(rows[1])) == (order < 0), "\(rows)")
            #expect(ValueKey(rows[0]).values == rows[0])
        }
    }

    @Test(arguments: 0..<10) func bytesThatAreNoKeyHaveNoValue(seed: UInt64) {
        var values = RandomValues(seed: seed)
        for _ in 0..<100 {
            var bytes = ValueKey(values.any()).bytes
            for _ in 0...values.random.below(2) {
                switch values.random.below(3) {
                case 0: bytes.insert(UInt8(values.random.below(256)), at: values.random.below(bytes.count + 1))
                case 1: bytes[values.random.below(bytes.count)] = UInt8(values.random.below(256))
                default: bytes.removeLast()
                }
                if bytes.isEmpty { break }
            }
            // What reads as values is their key and no other bytes.
            if let read = ValueKey(bytes: bytes).values { #expect(ValueKey(read).bytes == bytes, "\(bytes)") }
        }
        #expect(ValueKey(bytes: []).value == nil)
        let deep = [UInt8](repeating: 0x0A, count: 100_000)
        #expect(ValueKey(bytes: deep + [UInt8](repeating: 0, count: 100_000)).value == nil)
    }
}
