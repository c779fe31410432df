import Testing

@testable import KithCrypto

@Suite struct CertificateTests {
    @Test func `a key survives PEM`() throws {
        let key = try PrivateKey.generate()
        let copy = try PrivateKey(pem: try key.pem())
        #expect(try key.publicKeyInfo() == copy.publicKeyInfo())
    }
}
