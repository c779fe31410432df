import COpenSSL
import Synchronization

/// The 32 bytes of a SHA-256 hash, as four words read big-endian, so that none needs an allocation.
package struct SHA256Digest: Hashable, Sendable {
    package let words: (UInt64, UInt64, UInt64, UInt64)

    package init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

    /// 32 bytes.
    package var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            let raw = UnsafeMutableRawBufferPointer(buffer)
            raw.storeBytes(of: words.0.bigEndian, toByteOffset: 0, as: UInt64.self)
            raw.storeBytes(of: words.1.bigEndian, toByteOffset: 8, as: UInt64.self)
            raw.storeBytes(of: words.2.bigEndian, toByteOffset: 16, as: UInt64.self)
            raw.storeBytes(of: words.3.bigEndian, toByteOffset: 24, as: UInt64.self)
            count = 32
        }
    }

    package static func == (left: Self, right: Self) -> Bool { left.words == right.words }

    package func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// SHA-256 (FIPS 180-4) over parts given one after the other.
package struct SHA256: ~Copyable {
    private let context: OpaquePointer

    package init() {
        context = IdleContexts.take()?.pointer ?? Self.newContext()
        restart()
    }

    deinit { IdleContexts.put(HashContext(pointer: context)) }

    private static func newContext() -> OpaquePointer {
        guard let context = EVP_MD_CTX_new() else { fatalError("out of memory") }
        let started = EVP_DigestInit_ex2(context, Algorithm.sha256.pointer, nil)
        precondition(started == 1, "libcrypto has no SHA-256")
        return context
    }

    private func restart() {
        let restarted = EVP_DigestInit_ex2(context, nil, nil)
        precondition(restarted == 1, "libcrypto has no SHA-256")
    }

    package func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        let taken = EVP_DigestUpdate(context, start, bytes.count)
        precondition(taken == 1, "libcrypto refused bytes to hash")
    }

    package func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    /// The hash of all that was given; the hasher is ready for the next message then.
    package func finish() -> SHA256Digest {
        defer { restart() }
        return digest()
    }

    /// The hash of all that was given, from a hasher that has no other message: it costs less.
    package consuming func finishLast() -> SHA256Digest { digest() }

    private func digest() -> SHA256Digest {
        withUnsafeTemporaryAllocation(byteCount: 32, alignment: 8) { buffer in
            let finished = EVP_DigestFinal_ex(context, buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), nil)
            precondition(finished == 1, "libcrypto did not finish a hash")
            return SHA256Digest(
                words: (
                    UInt64(bigEndian: buffer.load(fromByteOffset: 0, as: UInt64.self)),
                    UInt64(bigEndian: buffer.load(fromByteOffset: 8, as: UInt64.self)),
                    UInt64(bigEndian: buffer.load(fromByteOffset: 16, as: UInt64.self)),
                    UInt64(bigEndian: buffer.load(fromByteOffset: 24, as: UInt64.self))
                ))
        }
    }

    package static func hash(_ bytes: UnsafeRawBufferPointer) -> SHA256Digest {
        let hasher = SHA256()
        hasher.update(bytes)
        return hasher.finishLast()
    }

    package static func hash(_ bytes: [UInt8]) -> SHA256Digest { bytes.withUnsafeBytes { hash($0) } }
}

/// A context that belongs to one hasher, or to nobody.
private struct HashContext: @unchecked Sendable {
    // Whoever took it from `IdleContexts` is the only one to use it until it is put back.
    let pointer: OpaquePointer
}

/// Contexts that no hasher uses: making one costs more than hashing a document.
private enum IdleContexts {
    private static let contexts = Mutex<[HashContext]>([])

    static func take() -> HashContext? { contexts.withLock { $0.popLast() } }

    static func put(_ context: HashContext) {
        let isKept = contexts.withLock { contexts in
            guard contexts.count < CryptoLimits.idleHashContexts else { return false }
            contexts.append(context)
            return true
        }
        if !isKept { EVP_MD_CTX_free(context.pointer) }
    }
}

/// libcrypto's algorithm, looked up once: the look-up costs more than hashing a document.
private struct Algorithm: @unchecked Sendable {
    // An EVP_MD is immutable once fetched, and this one is never freed.
    let pointer: OpaquePointer?

    static let sha256 = Algorithm(pointer: EVP_MD_fetch(nil, "SHA256", nil))
}
