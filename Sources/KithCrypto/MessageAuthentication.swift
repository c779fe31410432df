import COpenSSL

/// HMAC with SHA-256 (RFC 2104).
package enum HMACSHA256 {
    /// 32 bytes that only a holder of the key can make for this message.
    package static func code(for message: [UInt8], key: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, initialized in
            var count: UInt32 = 0
            let done = HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, buffer.baseAddress, &count)
            precondition(done != nil && count == 32, "HMAC-SHA-256 is not available")
            initialized = 32
        }
    }
}

/// Comparison that takes the same time wherever two secrets differ.
package enum ConstantTime {
    /// Whether both hold the same bytes. Only the counts may be learnt from the time it takes.
    package static func equal(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
    }
}
