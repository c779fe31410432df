import Testing

@testable import KithCrypto

@Suite struct PrimitiveTests {
    @Test func `HMAC-SHA-256 gives the values of RFC 4231`() {
        #expect(
            hex(HMACSHA256.code(for: Array("Hi There".utf8), key: [UInt8](repeating: 0x0b, count: 20)))
                == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
        #expect(
            hex(HMACSHA256.code(for: Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8)))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(
            hex(HMACSHA256.code(for: [UInt8](repeating: 0xdd, count: 50), key: [UInt8](repeating: 0xaa, count: 20)))
                == "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe")
    }

    @Test func `comparison sees every difference`() {
        #expect(ConstantTime.equal([], []))
        #expect(ConstantTime.equal([1, 2], [1, 2]))
        #expect(!ConstantTime.equal([1, 2], [1, 3]))
        #expect(!ConstantTime.equal([1, 2], [1, 2, 0]))
    }

    @Test func `random bytes have the count asked for and do not repeat`() {
        #expect(SecureRandom.bytes(0).isEmpty)
        #expect(Set((0..<100).map { _ in SecureRandom.bytes(16) }).count == 100)
        #expect(SecureRandom.number() != SecureRandom.number())
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            let text = String(byte, radix: 16)
            return byte < 16 ? "0" + text : text
        }.joined()
    }
}
