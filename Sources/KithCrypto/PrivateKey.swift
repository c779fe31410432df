import COpenSSL

/// An Ed25519 key (RFC 8032), the only kind that Kith makes.
///
/// Ed25519 rather than P-256 because signing draws no random number: a cloned machine that repeats its random numbers
/// does not give its key away, and one statement has one signature. Keys and certificates are also the smallest.
///
/// The key never leaves the process but through `pem()`; `description` of errors never shows it.
package final class PrivateKey: @unchecked Sendable {
    // Sendable: the pointer is set once, and OpenSSL locks what it counts or caches inside a key.
    let pointer: OpaquePointer

    private init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { EVP_PKEY_free(pointer) }

    /// A new key.
    package static func generate() throws(CryptoError) -> PrivateKey {
        OpenSSLErrors.clear()
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_keygen(context, &key) == 1, let key else {
            throw .last(.library, "making a key")
        }
        return PrivateKey(owning: key)
    }

    /// The key that a seed of 32 bytes stands for (RFC 8032, 5.1.5). Whoever has the seed has the key: it is for what has to
    /// be the same each time, and protects nothing there.
    /// - Throws: `.malformed` when the seed has another length.
    package init(seed: [UInt8]) throws(CryptoError) {
        guard seed.count == CryptoLimits.keySeedBytes else {
            throw CryptoError(.malformed, "the seed of a key has \(CryptoLimits.keySeedBytes) bytes")
        }
        OpenSSLErrors.clear()
        guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count) else {
            throw .last(.library, "making a key of a seed")
        }
        pointer = key
    }

    /// Reads a key from unencrypted PKCS#8 PEM.
    /// - Throws: `.malformed` when the text holds no such key, or one of another kind.
    package init(pem: String) throws(CryptoError) {
        OpenSSLErrors.clear()
        let key = try PEM.read(pem, "a private key") { PEM_read_bio_PrivateKey($0, nil, nil, nil) }
        guard EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 else {
            EVP_PKEY_free(key)
            throw CryptoError(.malformed, "the private key is not an Ed25519 key")
        }
        pointer = key
    }

    /// The key as unencrypted PKCS#8 PEM: a secret.
    package func pem() throws(CryptoError) -> String {
        try PEM.write("a private key") { PEM_write_bio_PKCS8PrivateKey($0, pointer, nil, nil, 0, nil, nil) }
    }

    /// The public half as DER SubjectPublicKeyInfo, whose SHA-256 is a node's id.
    package func publicKeyInfo() throws(CryptoError) -> [UInt8] {
        try DER.write("a public key") { i2d_PUBKEY(pointer, $0) }
    }

    /// 64 bytes that only the holder of this key can make for these bytes.
    package func sign(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        OpenSSLErrors.clear()
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var count = 64
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSignInit(context, nil, nil, nil, pointer) == 1,
            EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1, count == 64
        else { throw .last(.library, "signing") }
        return signature
    }

    /// Lends the `EVP_PKEY` to the wrapper of libssl.
    package func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result { body(pointer) }
}

/// Verifies signatures by a public key.
enum Signature {
    static func verify(_ signature: [UInt8], of bytes: [UInt8], by key: OpaquePointer) throws(CryptoError) {
        OpenSSLErrors.clear()
        guard signature.count <= CryptoLimits.signatureBytes else {
            throw CryptoError(.badSignature, "an overlong signature")
        }
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else {
            throw .last(.library, "preparing to verify a signature")
        }
        guard EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1 else {
            OpenSSLErrors.clear()
            throw CryptoError(.badSignature, "the signature does not fit")
        }
    }
}
