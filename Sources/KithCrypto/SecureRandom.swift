import COpenSSL

/// Random bytes fit for keys and secrets, from OpenSSL's generator (seeded by the system, and anew after a fork).
package enum SecureRandom {
    /// Traps when the system has no randomness to give, for then nothing secret can be made at all.
    package static func bytes(_ count: Int) -> [UInt8] {
        precondition(count >= 0 && count <= Int(Int32.max), "a count of random bytes, got \(count)")
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            guard count > 0 else { return }
            precondition(RAND_bytes(buffer.baseAddress, Int32(count)) == 1, "the system gives no random bytes")
            initialized = count
        }
    }

    /// A number drawn evenly from all 64 bits.
    package static func number() -> UInt64 { bytes(8).reduce(0) { $0 << 8 | UInt64($1) } }
}
