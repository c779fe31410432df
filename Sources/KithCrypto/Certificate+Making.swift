import COpenSSL

/// What a new certificate says.
package struct CertificateTemplate: Sendable {
    /// What the holder of the certificate may do.
    package enum Usage: Sendable {
        /// Sign other certificates, with so many authorities below it at most.
        case authority(pathLength: Int)
        /// Speak TLS, on either side.
        case endEntity
    }

    /// The subject's common name, the same for all certificates of one usage: it names nobody.
    package var commonName: String
    package var usage: Usage
    /// Private extensions, not critical: object identifier in dotted numbers, content in DER.
    package var extensions: [(identifier: String, content: [UInt8])] = []
    /// ASN.1 GeneralizedTime. The default says nothing about when or where the certificate was made.
    package var notBefore = "20000101000000Z"
    /// ASN.1 GeneralizedTime. The default is RFC 5280's word for "no end".
    package var notAfter = "99991231235959Z"

    package init(commonName: String, usage: Usage) {
        self.commonName = commonName
        self.usage = usage
    }
}

extension Certificate {
    /// Makes a certificate that its own key signs: a root, or a stand-in of a node that has none yet.
    package static func selfSigned(_ template: CertificateTemplate, key: PrivateKey) throws(CryptoError) -> Certificate
    {
        try make(template, subjectKey: key.pointer, issuer: nil, issuerKey: key)
    }

    /// Makes a certificate for the public key in `publicKeyInfo` (DER SubjectPublicKeyInfo), signed by `issuer`.
    /// - Throws: `.malformed` when the key is none or no Ed25519 key.
    package static func issued(
        _ template: CertificateTemplate, publicKeyInfo: [UInt8], issuer: Certificate, issuerKey: PrivateKey
    ) throws(CryptoError) -> Certificate {
        OpenSSLErrors.clear()
        let key = publicKeyInfo.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var place = buffer.baseAddress
            return d2i_PUBKEY(nil, &place, buffer.count)
        }
        guard let key else { throw .last(.malformed, "reading a public key") }
        defer { EVP_PKEY_free(key) }
        guard EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519 else {
            throw CryptoError(.malformed, "the public key is not an Ed25519 key")
        }
        return try make(template, subjectKey: key, issuer: issuer, issuerKey: issuerKey)
    }

    /// The public key as DER SubjectPublicKeyInfo.
    package func publicKeyInfo() throws(CryptoError) -> [UInt8] {
        try DER.write("a public key") { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(pointer), $0) }
    }

    private static func make(
        _ template: CertificateTemplate, subjectKey: OpaquePointer, issuer: Certificate?, issuerKey: PrivateKey
    ) throws(CryptoError) -> Certificate {
        OpenSSLErrors.clear()
        guard let pointer = X509_new() else { throw .last(.library, "making a certificate") }
        let issuerPointer = issuer?.pointer ?? pointer
        let made =
            X509_set_version(pointer, 2) == 1
            && ASN1_TIME_set_string_X509(X509_getm_notBefore(pointer), template.notBefore) == 1
            && ASN1_TIME_set_string_X509(X509_getm_notAfter(pointer), template.notAfter) == 1
            && addName(template.commonName, to: X509_get_subject_name(pointer))
            && X509_set_issuer_name(pointer, X509_get_subject_name(issuerPointer)) == 1
            && X509_set_pubkey(pointer, subjectKey) == 1
            && addStandardExtensions(template.usage, to: pointer, issuer: issuerPointer)
            && template.extensions.allSatisfy { addExtension($0.identifier, $0.content, to: pointer) }
            && X509_sign(pointer, issuerKey.pointer, nil) > 0 && setSerial(pointer)
            && X509_sign(pointer, issuerKey.pointer, nil) > 0
        guard made else {
            X509_free(pointer)
            throw .last(.library, "making a certificate")
        }
        return try Certificate(owning: pointer)
    }

    /// 16 bytes, positive, of a hash of the certificate without them: X.509 wants the numbers of one issuer to differ, and so
    /// a certificate is a function of the keys and of what it says.
    private static func setSerial(_ pointer: OpaquePointer) -> Bool {
        guard let content = try? DER.write("a certificate", { i2d_X509(pointer, $0) }) else { return false }
        var bytes = Array(SHA256.hash(content).bytes.prefix(16))
        bytes[0] = bytes[0] & 0x7f | 0x40
        guard let number = BN_bin2bn(bytes, Int32(bytes.count), nil) else { return false }
        defer { BN_free(number) }
        return BN_to_ASN1_INTEGER(number, X509_get_serialNumber(pointer)) != nil
    }

    private static func addName(_ name: String, to subject: OpaquePointer?) -> Bool {
        let bytes = Array(name.utf8)
        return X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, bytes, Int32(bytes.count), -1, 0) == 1
    }

    private static func addStandardExtensions(
        _ usage: CertificateTemplate.Usage, to pointer: OpaquePointer, issuer: OpaquePointer
    ) -> Bool {
        let constraints: String
        let keyUsage: String
        switch usage {
        case .authority(let pathLength):
            constraints = "critical,CA:TRUE,pathlen:\(pathLength)"
            keyUsage = "critical,keyCertSign,cRLSign,digitalSignature"
        case .endEntity:
            constraints = "critical,CA:FALSE"
            keyUsage = "critical,digitalSignature"
        }
        return kith_x509_add_extension(pointer, issuer, NID_basic_constraints, constraints) == 1
            && kith_x509_add_extension(pointer, issuer, NID_key_usage, keyUsage) == 1
            && kith_x509_add_extension(pointer, issuer, NID_subject_key_identifier, "hash") == 1
            && kith_x509_add_extension(pointer, issuer, NID_authority_key_identifier, "keyid:always") == 1
    }

    private static func addExtension(_ identifier: String, _ content: [UInt8], to pointer: OpaquePointer) -> Bool {
        guard let object = OBJ_txt2obj(identifier, 1), let value = ASN1_OCTET_STRING_new() else { return false }
        defer { ASN1_OBJECT_free(object) }
        defer { ASN1_OCTET_STRING_free(value) }
        guard ASN1_OCTET_STRING_set(value, content, Int32(content.count)) == 1,
            let made = X509_EXTENSION_create_by_OBJ(nil, object, 0, value)
        else { return false }
        defer { X509_EXTENSION_free(made) }
        return X509_add_ext(pointer, made, -1) == 1
    }
}
