import COpenSSL

extension Certificate {
    /// Builds the chain from the first of these certificates to `root` and checks all of X.509 but the dates: a machine
    /// without a clock must still be able to join its group.
    ///
    /// The other certificates are only proposals for what stands between.
    /// - Parameter intermediates: how many may stand between at most. (X.509's own path length does not count those whose
    ///   issuer bears their own name, as all of Kith's admins do.)
    /// - Returns: the chain, the leaf first, `root` last.
    /// - Throws: `.untrusted` with OpenSSL's reason.
    package static func verifiedChain(
        _ certificates: [Certificate], root: Certificate, intermediates: Int
    ) throws(CryptoError) -> [Certificate] {
        OpenSSLErrors.clear()
        guard let leaf = certificates.first else { throw CryptoError(.untrusted, "no certificate was shown") }
        guard certificates.count <= CryptoLimits.certificates else {
            throw CryptoError(.untrusted, "too many certificates were shown")
        }
        let store = X509_STORE_new()
        let context = X509_STORE_CTX_new()
        let others = OPENSSL_sk_new_null()
        defer { X509_STORE_free(store) }
        defer { X509_STORE_CTX_free(context) }
        defer { OPENSSL_sk_free(others) }
        for certificate in certificates.dropFirst() {
            // The stack does not own them; `certificates` outlives it.
            OPENSSL_sk_push(others, UnsafeRawPointer(certificate.pointer))
        }
        guard let store, let context, let others, X509_STORE_add_cert(store, root.pointer) == 1,
            X509_STORE_CTX_init(context, store, leaf.pointer, others) == 1
        else { throw .last(.library, "preparing to verify a certificate") }
        X509_STORE_CTX_set_flags(context, UInt(X509_V_FLAG_NO_CHECK_TIME))
        X509_STORE_CTX_set_depth(context, Int32(intermediates))
        guard X509_verify_cert(context) == 1 else {
            let error = X509_STORE_CTX_get_error(context)
            OpenSSLErrors.clear()
            throw CryptoError(
                .untrusted, "the certificate is not trusted",
                reason: String(cString: X509_verify_cert_error_string(Int(error))))
        }
        let chain = X509_STORE_CTX_get0_chain(context)
        var verified: [Certificate] = []
        for index in 0..<kith_sk_count(UnsafeRawPointer(chain)) {
            guard let pointer = kith_sk_value(UnsafeRawPointer(chain), index) else { continue }
            verified.append(try Certificate(sharing: OpaquePointer(pointer)))
        }
        return verified
    }

    /// The certificates that a peer showed in a handshake, as libssl hands them to a verification callback, the leaf
    /// first.
    /// - Throws: `.malformed` where there are none or too many.
    package static func shown(in context: OpaquePointer) throws(CryptoError) -> [Certificate] {
        guard let leaf = X509_STORE_CTX_get0_cert(context) else {
            throw CryptoError(.malformed, "no certificate was shown")
        }
        var certificates = [try Certificate(sharing: leaf)]
        let others = UnsafeRawPointer(X509_STORE_CTX_get0_untrusted(context))
        guard kith_sk_count(others) <= CryptoLimits.certificates else {
            throw CryptoError(.malformed, "too many certificates were shown")
        }
        for index in 0..<kith_sk_count(others) {
            guard let pointer = kith_sk_value(others, index) else { continue }
            let certificate = try Certificate(sharing: OpaquePointer(pointer))
            if certificate != certificates[0] { certificates.append(certificate) }
        }
        return certificates
    }
}
