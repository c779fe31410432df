import KithDocument
import KithTestSupport
import Testing

/// Numbers compared as the decimals that their canonical texts stand for.
@Suite struct DecimalTextTests {
    /// Ascending; each text is canonical.
    private static let ascending = [
        "-1.7976931348623157e+308", "-123456789012345678901234567891", "-123456789012345678901234567890", "-1e+22",
        "-9223372036854775809", "-9223372036854775808", "-10", "-9.5", "-9", "-1", "-0.1", "-0.01", "-1e-7", "-5e-324",
        "0", "5e-324", "1e-7", "0.000001", "0.01", "0.1", "0.10000000000000002", "0.5", "1", "1.5", "2", "9", "10",
        "10.5",
        "11", "99", "100", "9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808",
        "999999999999999999999", "1000000000000000000000", "1e+21", "1000000000000000000001",
        "99999999999999999999999", "1e+23", "100000000000000000000001", "1.7976931348623157e+308",
    ]

    @Test func `Numbers of any kind and size are in one order`() throws {
        let numbers = try Self.ascending.map { try #require(DecimalText(canonical: Array($0.utf8))) }
        for (index, one) in numbers.enumerated() {
            for (other, its) in numbers.enumerated() {
                #expect((one < its) == (index < other), "\(Self.ascending[index]) and \(Self.ascending[other])")
                #expect((one == its) == (index == other))
            }
        }
        #expect(
            Self.ascending.allSatisfy { text in Array(text.utf8).withUnsafeBytes { CanonicalJSON.isCanonicalValue($0) }
            })
    }

    @Test(arguments: ["true", "null", "\"1\"", "[1]", "{}", ""]) func `What is no number has no place in it`(
        text: String
    ) {
        #expect(DecimalText(canonical: Array(text.utf8)) == nil)
    }

    @Test func `Doubles are in the order of their texts`() throws {
        let seed: UInt64 = 80
        var random = SeededGenerator(seed: seed)
        for _ in 0..<5000 {
            let (one, other) = (Double(bitPattern: random.next()), Double(bitPattern: random.next()))
            guard let mine = JSONNumber(one), let its = JSONNumber(other) else { continue }
            let left = try #require(DecimalText(canonical: Array(mine.text.utf8)))
            let right = try #require(DecimalText(canonical: Array(its.text.utf8)))
            #expect((left < right) == (one < other), "seed \(seed): \(mine) and \(its)")
        }
    }

    @Test(arguments: [
        ("[]", []), ("[1]", ["1"]),
        (#"[1,"a,]\"",[2,[3]],{"x":[4,5]},null]"#, ["1", #""a,]\"""#, "[2,[3]]", #"{"x":[4,5]}"#, "null"]),
        ("{}", []), ("1", []), ("\"[1]\"", []),
    ]) func `The elements of an array are its values`(array: String, elements: [String]) {
        #expect(CanonicalJSON.elements(of: Array(array.utf8)).map { String(decoding: $0, as: UTF8.self) } == elements)
    }
}
