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
