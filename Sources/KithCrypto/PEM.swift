import COpenSSL

/// PEM text by way of memory BIOs.
enum PEM {
    /// Reads one object; `read` gives a pointer that the caller owns.
    static func read(
        _ text: String, _ what: String, _ read: (OpaquePointer) -> OpaquePointer?
    ) throws(CryptoError) -> OpaquePointer {
        let bytes = Array(text.utf8)
        guard bytes.count <= CryptoLimits.pemBytes else { throw CryptoError(.malformed, "\(what) in PEM is too long") }
        OpenSSLErrors.clear()
        // The BIO only points at the bytes, so it must end before they do.
        let object = bytes.withUnsafeBytes { buffer -> OpaquePointer? in
            guard let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count)) else { return nil }
            defer { BIO_free(bio) }
            return read(bio)
        }
        guard let object else { throw .last(.malformed, "reading \(what) in PEM") }
        return object
    }

    /// Writes one object.
    static func write(_ what: String, _ write: (OpaquePointer) -> Int32) throws(CryptoError) -> String {
        OpenSSLErrors.clear()
        guard let bio = BIO_new(BIO_s_mem()) else { throw .last(.library, "writing \(what)") }
        defer { BIO_free(bio) }
        guard write(bio) == 1 else { throw .last(.library, "writing \(what)") }
        var bytes: UnsafePointer<UInt8>?
        let count = kith_bio_contents(bio, &bytes)
        return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    }
}

/// DER by OpenSSL's `i2d` functions.
enum DER {
    /// Calls the function twice: for the count, and for the bytes.
    static func write(
        _ what: String, _ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    ) throws(CryptoError) -> [UInt8] {
        OpenSSLErrors.clear()
        let count = Int(encode(nil))
        guard count > 0 else { throw .last(.library, "encoding \(what)") }
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            var place = buffer.baseAddress
            initialized = max(0, Int(encode(&place)))
        }
        guard bytes.count == count else { throw .last(.library, "encoding \(what)") }
        return bytes
    }
}
