import Glibc
import KithDocument
import KithTestSupport
import Testing

@Suite struct JSONNumberTextTests {
    @Test(arguments: [
        ("0", "0"), ("-0", "0"), ("-0.0", "0"), ("0.0", "0"), ("0e0", "0"), ("-0e-5", "0"), ("0.000", "0"),
        ("0e999999999999999999999", "0"),
        ("1", "1"), ("-1", "-1"), ("1.0", "1"), ("10", "10"), ("100.00", "100"), ("1e0", "1"), ("1e2", "100"),
        ("1E2", "100"), ("1e+2", "100"), ("1e-2", "0.01"), ("0.1", "0.1"), ("-0.10", "-0.1"), ("1.50", "1.5"),
        ("12.34e1", "123.4"), ("12.34e5", "1234000"), ("0.000001", "0.000001"), ("1e-6", "0.000001"),
        ("1e-7", "1e-7"), ("0.0000001", "1e-7"), ("1.5e-7", "1.5e-7"), ("123e-9", "1.23e-7"),
        ("1e20", "100000000000000000000"),
        ("1e21", "1e+21"), ("1.5e21", "1.5e+21"), ("123456789e15", "1.23456789e+23"), ("1e22", "1e+22"),
        ("1e23", "1e+23"),
        ("1e16", "10000000000000000"), ("10000000000000000", "10000000000000000"), ("1.0e16", "10000000000000000"),
        ("9007199254740993", "9007199254740993"), ("9007199254740993.0", "9007199254740992"),
        ("9223372036854775807", "9223372036854775807"), ("-9223372036854775808", "-9223372036854775808"),
        ("18446744073709551616", "18446744073709551616"), ("0.00760939025925927263", "0.007609390259259273"),
        ("7.43104517505788343e-06", "0.0000074310451750578834"), ("5e-324", "5e-324"), ("4.9e-324", "5e-324"),
        ("2.4703282292062328e-324", "5e-324"), ("2.4703282292062327e-324", "0"), ("1e-400", "0"), ("-1e-400", "0"),
        ("1e-99999999999999999999", "0"), ("2.2250738585072014e-308", "2.2250738585072014e-308"),
        ("2.2250738585072011e-308", "2.225073858507201e-308"), ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("1.7976931348623158e308", "1.7976931348623157e+308"), ("0.1e-5", "0.000001"), ("1e5", "100000"),
        ("333333333.33333329", "333333333.3333333"), ("295147905179352830000.0", "295147905179352830000"),
        ("1424953923781206.25", "1424953923781206.2"), ("9.999999999999999e22", "1e+23"),
        ("9.999999999999997e22", "9.999999999999997e+22"),
        ("0.30000000000000004", "0.30000000000000004"), ("0.3000000000000000444", "0.30000000000000004"),
        ("123456789012345.6789", "123456789012345.67"), ("1.00000000000000000000000000000000001", "1"),
        ("1.000000000000000111022302462515654042363166809082031250", "1"),
        ("1.000000000000000111022302462515654042363166809082031251", "1.0000000000000002"),
        ("100000000000000000000000000000.5e-25", "10000"),
    ])
    func `Integers stay exactly, other numbers are the shortest text of their double`(text: String, expected: String) {
        #expect(canonicalValue(text) == expected)
        #expect(canonicalValue(expected) == expected)
        #expect(canonical("{\"a\":[\(text),\(text)]}") == "{\"a\":[\(expected),\(expected)]}")
        #expect(isCanonical("{\"a\":\(text)}") == (text == expected))
    }

    @Test(arguments: [
        ("1e400", "beyond the range"), ("-1e400", "beyond the range"), ("1e309", "beyond the range"),
        ("1.7976931348623159e308", "beyond the range"), ("1e99999999999999999999", "beyond the range"),
        ("01", "zero"), ("-01", "zero"), ("00", "zero"), ("00.5", "zero"), ("1.", "ends too early"), ("1.x", "digit"),
        (".5", "value"),
        ("1e", "ends too early"), ("1e+", "ends too early"), ("1ex", "digit"), ("-", "ends too early"), ("-x", "digit"),
        ("+1", "value"), ("NaN", "value"), ("Infinity", "value"), ("-Infinity", "digit"), ("0x10", "after the end"),
        ("1_000", "after the end"), ("1.2.3", "after the end"), ("1e2e3", "after the end"), ("1e2.5", "after the end"),
        ("nul", "ends too early"), ("nulx", "value"), ("True", "value"), ("１", "value"),
    ])
    func `What is no JSON number or beyond a double is an error`(text: String, reason: String) {
        #expect(canonicalValue(text).contains(reason), "\(canonicalValue(text))")
        #expect(canonical("{\"a\":\(text)}").hasPrefix("invalid JSON"))
    }

    @Test func `An integer of any length is kept`() {
        for length in [19, 20, 21, 40, 400, 10_000] {
            let digits = String(repeating: "9876543210", count: length / 10 + 1).prefix(length)
            #expect(canonicalValue("-\(digits)") == "-\(digits)")
        }
        // The same as a fraction is a double.
        #expect(canonicalValue("1" + String(repeating: "0", count: 400)).count == 401)
        #expect(canonicalValue("1" + String(repeating: "0", count: 400) + ".0").contains("beyond the range"))
        #expect(canonicalValue("1" + String(repeating: "0", count: 400) + ".0e-400") == "1")
        #expect(canonicalValue("0." + String(repeating: "0", count: 400) + "1e401") == "1")
    }

    @Test func `Digits beyond any that matter are read in linear time and rounded right`() {
        // Half of the way from 1 to the next double, and a digit after a million zeros that decides.
        let half = "1.00000000000000011102230246251565404236316680908203125"
        let zeros = String(repeating: "0", count: 1_000_000)
        #expect(canonicalValue(half + zeros + "0") == "1")
        #expect(canonicalValue(half + zeros + "1") == "1.0000000000000002")
        #expect(canonicalValue("0." + String(repeating: "3", count: 1_000_000)) == "0.3333333333333333")
    }

    @Test func `Doubles of random bits read back as the same double`() {
        let count = getenv("KITH_LONG_TESTS") == nil ? 1_000_000 : 10_000_000
        let seed: UInt64 = 1
        var generator = SeededGenerator(seed: seed)
        var failures: [String] = []
        for _ in 0..<count {
            let double = Double(bitPattern: generator.next())
            guard double.isFinite, let number = JSONNumber(double) else { continue }
            let again = canonicalValue(number.text)
            if number.double != double || again != number.text {
                failures.append("\(double.bitPattern) \(number.text) \(again)")
            }
        }
        #expect(failures.isEmpty, "seed \(seed): \(failures.prefix(5))")
    }

    @Test func `Decimals of few digits agree with the standard library's doubles`() {
        let seed: UInt64 = 2
        var generator = SeededGenerator(seed: seed)
        var failures: [String] = []
        for _ in 0..<200_000 {
            let digits = generator.within(1...22)
            var text = generator.chance(1, in: 2) ? "-" : ""
            text += String(generator.within(1...9))
            for index in 1..<digits + 1 {
                if index == 1 { text += "." }
                text += String(generator.below(10))
            }
            text += "e\(generator.within(-330...308))"
            guard let double = Double(text), double.isFinite else { continue }
            let read = canonicalValue(text)
            if read != JSONNumber(double)?.text || Double(read) != double { failures.append("\(text) -> \(read)") }
        }
        #expect(failures.isEmpty, "seed \(seed): \(failures.prefix(5))")
    }
}
