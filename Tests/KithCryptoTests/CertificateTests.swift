import KithTestSupport
import Testing

@testable import KithCrypto

@Suite struct CertificateTests {
    let rootKey: PrivateKey
    let root: Certificate
    let middleKey: PrivateKey
    let middle: Certificate
    let leafKey: PrivateKey

    init() throws {
        rootKey = try PrivateKey.generate()
        root = try Certificate.selfSigned(
            CertificateTemplate(commonName: "Root", usage: .authority(pathLength: 1)), key: rootKey)
        middleKey = try PrivateKey.generate()
        middle = try Certificate.issued(
            CertificateTemplate(commonName: "Middle", usage: .authority(pathLength: 0)),
            publicKeyInfo: try middleKey.publicKeyInfo(), issuer: root, issuerKey: rootKey)
        leafKey = try PrivateKey.generate()
    }

    func leaf(_ change: (inout CertificateTemplate) -> Void = { _ in }) throws -> Certificate {
        var template = CertificateTemplate(commonName: "Leaf", usage: .endEntity)
        change(&template)
        return try Certificate.issued(
            template, publicKeyInfo: try leafKey.publicKeyInfo(), issuer: middle, issuerKey: middleKey)
    }

    @Test func `keys and certificates survive PEM and DER`() throws {
        #expect(try PrivateKey(pem: try leafKey.pem()).publicKeyInfo() == leafKey.publicKeyInfo())
        let leaf = try leaf()
        #expect(try Certificate(pem: try leaf.pem()) == leaf)
        #expect(try Certificate(der: leaf.der) == leaf)
        #expect(leaf.belongs(to: leafKey) && !leaf.belongs(to: middleKey))
        #expect(leaf.publicKeyHash == SHA256.hash(try leafKey.publicKeyInfo()).bytes)
        #expect(leaf.fingerprint == SHA256.hash(leaf.der).bytes)
        #expect(middle.isAuthority && !leaf.isAuthority)
    }

    @Test func `a key of a seed is that of RFC 8032, and signs the same each time`() throws {
        let seed: [UInt8] = [
            0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44, 0x49,
            0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60,
        ]
        let key = try PrivateKey(seed: seed)
        // Test 1 of section 7.1.
        let expected: [UInt8] = [
            0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a, 0x0e, 0xe1,
            0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a,
        ]
        #expect(try key.publicKeyInfo().suffix(32) == expected[...])
        let signature = try key.sign([])
        #expect(Array(signature.prefix(4)) == [0xe5, 0x56, 0x43, 0x00] && signature.last == 0x0b)
        #expect(try PrivateKey(pem: try key.pem()).sign([]) == signature)
        for count in [0, 31, 33] {
            #expect(throws: CryptoError.self) { try PrivateKey(seed: [UInt8](repeating: 1, count: count)) }
        }
    }

    @Test func `a certificate is a function of its keys and of what it says`() throws {
        #expect(try leaf() == leaf())
        let other = try leaf { $0.notAfter = "20300101000000Z" }
        #expect(try leaf() != other)
        // The numbers of two differ too.
        func number(_ certificate: Certificate) throws -> String {
            let lines = try certificate.text().split(separator: "\n")
            let place = try #require(lines.firstIndex { $0.contains("Serial Number") })
            return String(lines[place + 1])
        }
        #expect(try number(leaf()) != number(other))
    }

    @Test func `the chain is built from what is shown, in any order, and ends at the root`() throws {
        let leaf = try leaf()
        #expect(try Certificate.verifiedChain([leaf, middle], root: root, intermediates: 2) == [leaf, middle, root])
        #expect(
            try Certificate.verifiedChain([leaf, root, middle], root: root, intermediates: 2) == [leaf, middle, root])
    }

    @Test func `dates are not judged`() throws {
        for (from, to) in [("19900101000000Z", "19910101000000Z"), ("90000101000000Z", "99991231235959Z")] {
            let leaf = try leaf {
                $0.notBefore = from
                $0.notAfter = to
            }
            #expect(try Certificate.verifiedChain([leaf, middle], root: root, intermediates: 2).count == 3)
        }
    }

    @Test func `a chain that X.509 forbids is refused`() throws {
        let leaf = try leaf()
        let otherKey = try PrivateKey.generate()
        let other = try Certificate.selfSigned(
            CertificateTemplate(commonName: "Root", usage: .authority(pathLength: 1)), key: otherKey)
        // Signed by a leaf.
        let below = try Certificate.issued(
            CertificateTemplate(commonName: "Below", usage: .endEntity), publicKeyInfo: try otherKey.publicKeyInfo(),
            issuer: leaf, issuerKey: leafKey)
        // An authority below one that may have none.
        let deepKey = try PrivateKey.generate()
        let deep = try Certificate.issued(
            CertificateTemplate(commonName: "Deep", usage: .authority(pathLength: 0)),
            publicKeyInfo: try deepKey.publicKeyInfo(), issuer: middle, issuerKey: middleKey)
        let underDeep = try Certificate.issued(
            CertificateTemplate(commonName: "Leaf", usage: .endEntity), publicKeyInfo: try otherKey.publicKeyInfo(),
            issuer: deep, issuerKey: deepKey)
        let bad: [([Certificate], Certificate)] = [
            ([], root), ([leaf], root), ([leaf, middle], other), ([other], root), ([below, leaf, middle], root),
            ([underDeep, deep, middle], root), ([leaf] + Array(repeating: middle, count: 9), root),
        ]
        for (shown, root) in bad {
            #expect { try Certificate.verifiedChain(shown, root: root, intermediates: 3) } throws: {
                ($0 as? CryptoError)?.code == .untrusted
            }
        }
    }

    @Test func `a private extension is read where it stands once`() throws {
        let identifier = "2.25.312063774588850484569972320026499856594"
        let content: [UInt8] = [4, 3, 1, 2, 3]
        #expect(try leaf().extensionContent(identifier) == nil)
        #expect(try leaf { $0.extensions = [(identifier, content)] }.extensionContent(identifier) == content)
        let twice = try leaf { $0.extensions = [(identifier, content), (identifier, content)] }
        #expect(twice.extensionContent(identifier) == nil)
    }

    @Test func `a signature fits its bytes and its key alone`() throws {
        let bytes = Array("what was said".utf8)
        let signature = try leafKey.sign(bytes)
        #expect(try leafKey.sign(bytes) == signature, "Ed25519 signs without a random number")
        let leaf = try leaf()
        try leaf.verify(signature, of: bytes)
        #expect(throws: CryptoError.self) { try leaf.verify(signature, of: bytes + [0]) }
        #expect(throws: CryptoError.self) { try middle.verify(signature, of: bytes) }
        for index in signature.indices {
            var forged = signature
            forged[index] ^= 1
            #expect(throws: CryptoError.self) { try leaf.verify(forged, of: bytes) }
        }
        #expect(throws: CryptoError.self) { try leaf.verify([], of: bytes) }
    }

    @Test func `damaged DER and PEM are errors and never a trap`() throws {
        let leaf = try leaf()
        var random = SeededGenerator(seed: 0xce7)
        for count in 0..<leaf.der.count {
            #expect(throws: CryptoError.self) { try Certificate(der: Array(leaf.der.prefix(count))) }
        }
        #expect(throws: CryptoError.self) { try Certificate(der: leaf.der + [0]) }
        #expect(throws: CryptoError.self) { try Certificate(der: [UInt8](repeating: 0x30, count: 100_000)) }
        for _ in 0..<2_000 {
            var der = leaf.der
            for _ in 0...random.below(3) { der[random.below(der.count)] = UInt8(random.below(256)) }
            // Most still parse; none may be trusted but the one that is unchanged.
            guard let changed = try? Certificate(der: der), changed != leaf else { continue }
            #expect(throws: CryptoError.self, "seed 0xce7") {
                try Certificate.verifiedChain([changed, middle], root: root, intermediates: 2)
            }
        }
        for text in ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", try leaf.pem()] {
            #expect(throws: CryptoError.self) { try PrivateKey(pem: text) }
        }
    }

    @Test func `a key of another kind is refused`() throws {
        let pem = """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2
            OF/2NxApJCzGCEDdfSp6VQO30hyhRANCAAQRWz+jn65BtOMvdyHKcvjBeBSDZH2r
            1RTwjmYSi9R/zpBnuQ4EiMnCqfMPWiZqB4QdbAd0E7oH50VpuZ1P087G
            -----END PRIVATE KEY-----

            """
        #expect(throws: CryptoError(.malformed, "the private key is not an Ed25519 key")) { try PrivateKey(pem: pem) }
    }
}
