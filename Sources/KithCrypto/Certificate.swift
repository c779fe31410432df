import COpenSSL

/// An X.509 certificate (RFC 5280), made or read once and never changed.
package final class Certificate: @unchecked Sendable, Hashable {
    // Sendable: the pointer is set once; OpenSSL locks what it caches inside a certificate.
    let pointer: OpaquePointer
    /// The certificate as it is signed and sent.
    package let der: [UInt8]
    /// SHA-256 of `der`.
    package let fingerprint: [UInt8]
    /// SHA-256 of the public key as DER SubjectPublicKeyInfo: what names the holder of the key.
    package let publicKeyHash: [UInt8]

    /// Reads DER; nothing may follow it.
    /// - Throws: `.malformed`.
    package convenience init(der: [UInt8]) throws(CryptoError) {
        guard der.count <= CryptoLimits.certificateBytes else {
            throw CryptoError(.malformed, "a certificate is too long")
        }
        OpenSSLErrors.clear()
        var consumed = 0
        let pointer = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var place = buffer.baseAddress
            let pointer = d2i_X509(nil, &place, buffer.count)
            if let place, let start = buffer.baseAddress { consumed = place - start }
            return pointer
        }
        guard let pointer else { throw .last(.malformed, "reading a certificate") }
        guard consumed == der.count else {
            X509_free(pointer)
            throw CryptoError(.malformed, "bytes follow a certificate")
        }
        try self.init(owning: pointer)
    }

    /// Reads the first certificate of a PEM text.
    /// - Throws: `.malformed`.
    package convenience init(pem: String) throws(CryptoError) {
        try self.init(owning: try PEM.read(pem, "a certificate") { PEM_read_bio_X509($0, nil, nil, nil) })
    }

    /// Takes a count of its own of a certificate that OpenSSL holds.
    package convenience init(sharing pointer: OpaquePointer) throws(CryptoError) {
        X509_up_ref(pointer)
        try self.init(owning: pointer)
    }

    init(owning pointer: OpaquePointer) throws(CryptoError) {
        do throws(CryptoError) {
            let der = try DER.write("a certificate") { i2d_X509(pointer, $0) }
            guard der.count <= CryptoLimits.certificateBytes else {
                throw CryptoError(.malformed, "a certificate is too long")
            }
            let key = try DER.write("a public key") { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(pointer), $0) }
            self.der = der
            fingerprint = SHA256.hash(der).bytes
            publicKeyHash = SHA256.hash(key).bytes
            self.pointer = pointer
        } catch {
            X509_free(pointer)
            throw error
        }
    }

    deinit { X509_free(pointer) }

    /// The certificate as PEM.
    package func pem() throws(CryptoError) -> String {
        try PEM.write("a certificate") { PEM_write_bio_X509($0, pointer) }
    }

    /// Whether this is the certificate of that key.
    package func belongs(to key: PrivateKey) -> Bool { X509_check_private_key(pointer, key.pointer) == 1 }

    /// Whether it may sign other certificates.
    package var isAuthority: Bool { X509_check_ca(pointer) == 1 }

    /// The content of the extension with this object identifier (dotted numbers); nil where it stands not exactly once.
    package func extensionContent(_ identifier: String) -> [UInt8]? {
        guard let object = OBJ_txt2obj(identifier, 1) else { return nil }
        defer { ASN1_OBJECT_free(object) }
        let index = X509_get_ext_by_OBJ(pointer, object, -1)
        guard index >= 0, X509_get_ext_by_OBJ(pointer, object, index) < 0,
            let value = X509_EXTENSION_get_data(X509_get_ext(pointer, index)), let bytes = ASN1_STRING_get0_data(value)
        else { return nil }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(ASN1_STRING_length(value))))
    }

    /// Checks a signature over these bytes by this certificate's key.
    /// - Throws: `.badSignature` when it does not fit.
    package func verify(_ signature: [UInt8], of bytes: [UInt8]) throws(CryptoError) {
        guard let key = X509_get0_pubkey(pointer) else { throw .last(.malformed, "reading the key of a certificate") }
        try Signature.verify(signature, of: bytes, by: key)
    }

    /// Everything that the certificate shows, as OpenSSL prints it.
    package func text() throws(CryptoError) -> String { try PEM.write("a certificate") { X509_print($0, pointer) } }

    /// Lends the `X509` to the wrapper of libssl.
    package func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result { body(pointer) }

    package static func == (one: Certificate, other: Certificate) -> Bool { one.der == other.der }

    package func hash(into hasher: inout Hasher) { hasher.combine(fingerprint) }
}
