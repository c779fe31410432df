import KithDocument
import KithTestSupport
import Testing

@testable import KithReplication

@Suite struct CBORTests {
    private func accepts(_ hex: String) -> Bool {
        guard let bytes = Hex.decode(hex.utf8) else { return false }
        return (try? CBORReader.read(bytes) { reader throws(ProtocolError) in try reader.skip() }) != nil
    }

    /// RFC 8949, appendix A: the examples in deterministic encoding.
    static let examples = [
        "00", "01", "0a", "17", "1818", "1819", "1864", "1903e8", "1a000f4240", "1b000000e8d4a51000",
        "1bffffffffffffffff", "c249010000000000000000", "3bffffffffffffffff", "c349010000000000000000", "20", "29",
        "3863", "3903e7", "f90000", "f98000", "f93c00", "fb3ff199999999999a", "f93e00", "f97bff", "fa47c35000",
        "fa7f7fffff", "fb7e37e43c8800759c", "f90001", "f90400", "f9c400", "fbc010666666666666", "f97c00", "f97e00",
        "f9fc00", "f4", "f5", "f6", "f7", "f0", "f8ff", "c074323031332d30332d32315432303a30343a30305a",
        "c11a514b67b0", "c1fb41d452d9e8200000", "d74401020304",
        "d818456449455446", "40", "4401020304", "60", "6161", "6449455446", "62225c", "62c3bc", "63e6b0b4",
        "64f0908591", "80", "83010203", "8301820203820405",
        "98190102030405060708090a0b0c0d0e0f101112131415161718181819", "a0", "a201020304", "a26161016162820203",
        "826161a161626163", "a56161614161626142616361436164614461656145",
    ]

    /// RFC 8949, appendix A and 4.2: indefinite lengths, long heads, unsorted or doubled keys, long floats, bad UTF-8.
    static let refused = [
        "5f42010243030405ff", "7f657374726561646d696e67ff", "9fff", "9f018202039f0405ffff", "bfff",
        "bf61610161629f0203ffff", "1800", "1817", "190000", "1900ff", "1a00000000", "1a0000ffff", "1b0000000000000000",
        "1b00000000ffffffff", "3800", "5800", "5900ff", "7800", "9800", "b800", "a202010102", "a201020103",
        "a2616201616101", "fb3ff8000000000000", "fa3f800000", "fa3fc00000", "f800",
        "f817", "f81f", "1c", "1d", "1e", "1f", "fc", "fd", "fe", "ff", "61ff", "62c328", "63eda080", "", "18", "19ff",
        "44010203", "6261", "8201", "a101", "c1", "0000", "9bffffffffffffffff", "5bffffffffffffffff",
        "bbffffffffffffffff", "9b7fffffffffffffff", "bb7fffffffffffffff",
    ]

    @Test("Deterministic examples of RFC 8949 are read", arguments: examples)
    func readsExamples(hex: String) { #expect(accepts(hex)) }

    @Test("What is not deterministic is refused", arguments: refused)
    func refusesOthers(hex: String) { #expect(!accepts(hex)) }

    @Test("Numbers are written as in RFC 8949 and read back")
    func numbers() throws {
        let examples: [(UInt64, String)] = [
            (0, "00"), (23, "17"), (24, "1818"), (255, "18ff"), (256, "190100"), (65_535, "19ffff"),
            (65_536, "1a00010000"), (4_294_967_295, "1affffffff"), (4_294_967_296, "1b0000000100000000"),
            (.max, "1bffffffffffffffff"),
        ]
        for (number, hex) in examples {
            var writer = CBORWriter()
            writer.append(uint: number)
            #expect(Hex.encode(writer.bytes) == hex)
            #expect(try CBORReader.read(writer.bytes) { r throws(ProtocolError) in try r.uint() } == number)
        }
        for number: Int64 in [0, -1, -10, -100, -1000, .min, .max, 23, 24] {
            var writer = CBORWriter()
            writer.append(int: number)
            #expect(try CBORReader.read(writer.bytes) { r throws(ProtocolError) in try r.int() } == number)
        }
        #expect(throws: ProtocolError.self) {
            try CBORReader.read([0x1B, 0x80, 0, 0, 0, 0, 0, 0, 0]) { r throws(ProtocolError) in try r.int() }
        }
    }

    @Test("Nesting is skipped to its bound and no further")
    func depth() {
        let inside = String(repeating: "81", count: ReplicationLimits.skippedDepth - 1) + "00"
        #expect(accepts(inside))
        #expect(!accepts("81" + inside))
        #expect(!accepts(String(repeating: "81", count: 100_000) + "00"))
        #expect(!accepts(String(repeating: "c1", count: 100_000) + "00"))
        #expect(!accepts(String(repeating: "a100", count: 100_000) + "00"))
    }

    @Test("Random bytes are refused or skipped, and never trap", arguments: [1, 2, 3])
    func fuzz(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let bytes = (0..<random.below(40)).map { _ in UInt8(random.below(256)) }
            _ = try? CBORReader.read(bytes) { reader throws(ProtocolError) in try reader.skip() }
        }
    }
}
