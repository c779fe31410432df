/// Bounds on what is taken from outside, before memory is taken for it.
package enum CryptoLimits {
    /// Bytes of one certificate in DER. Ours have about 400; foreign ones seldom pass 2,000.
    package static let certificateBytes = 8 * 1024
    /// Bytes of a PEM text: a key and a chain with room to spare.
    package static let pemBytes = 128 * 1024
    /// Certificates in one PEM text or one chain. A chain of ours has 3.
    package static let certificates = 8
    /// Bytes of a signature. Ed25519 has 64, any RSA key of sense fewer than this.
    package static let signatureBytes = 1024
    /// Bytes of the seed of an Ed25519 key (RFC 8032, 5.1.5).
    package static let keySeedBytes = 32
    /// Contexts of SHA-256 that are kept for the next hasher: more than threads that hash at one time.
    package static let idleHashContexts = 64
}
