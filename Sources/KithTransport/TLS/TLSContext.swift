import COpenSSL
import Glibc
import KithCrypto
import KithDocument

/// The protocols that are spoken over TLS, as ALPN names them (RFC 7301).
package enum LinkProtocol: String, Hashable, Sendable, CaseIterable {
    /// Replication between members.
    case link = "kith/1"
    /// Admission of a node with an invite code.
    case join = "kith-join/1"
}

/// Who is at the other end of a connection after the handshake.
package enum AuthenticatedPeer: Hashable, Sendable {
    /// A member of this node's group.
    case member(PeerIdentity)
    /// A node without membership that holds the key of this id: it may only try to join.
    case applicant(publicKeyInfo: [UInt8])
    /// A member of the group that an invite code names, with that group's root.
    case inviter(PeerIdentity, root: Certificate)
}

/// What a side of TLS shows and whom it accepts.
package struct TLSConfiguration: Sendable {
    /// What is shown, the leaf first; empty only in tests of how strangers fare.
    package var chain: [Certificate]
    /// The key of the leaf.
    package var key: PrivateKey?
    /// What a client asks for; nil asks for nothing, as strangers do.
    package var asksFor: LinkProtocol?
    /// What a server agrees to, asked once a handshake.
    package var accepts: @Sendable (LinkProtocol) -> Bool
    /// Judges what the peer shows; an empty list is refused before.
    package var judge: @Sendable ([Certificate], LinkProtocol) -> Result<AuthenticatedPeer, Refusal>

    package init(
        chain: [Certificate], key: PrivateKey?, asksFor: LinkProtocol?,
        accepts: @escaping @Sendable (LinkProtocol) -> Bool,
        judge: @escaping @Sendable ([Certificate], LinkProtocol) -> Result<AuthenticatedPeer, Refusal>
    ) {
        self.chain = chain
        self.key = key
        self.asksFor = asksFor
        self.accepts = accepts
        self.judge = judge
    }

    /// A member of a group, on either side.
    /// - Parameter acceptsJoin: whether an invite is open now.
    package static func member(
        _ identity: Identity, membership: Membership, acceptsJoin: @escaping @Sendable () -> Bool
    ) -> TLSConfiguration {
        TLSConfiguration(
            chain: identity.chain, key: identity.key, asksFor: .link,
            accepts: { $0 == .link || acceptsJoin() },
            judge: { shown, spoken in
                switch spoken {
                case .link: membership.admit(shown).map(AuthenticatedPeer.member)
                case .join: Self.applicant(shown)
                }
            })
    }

    /// A node that wants to join the group whose root's fingerprint begins with these 16 bytes. It shows a certificate that
    /// its own key signed: TLS then proves that it holds the key.
    package static func joiner(
        key: PrivateKey, shortFingerprint: [UInt8]
    ) throws(TransportError) -> TLSConfiguration {
        let template = CertificateTemplate(commonName: "Kith Node", usage: .endEntity)
        let certificate = try crypto { () throws(CryptoError) in try Certificate.selfSigned(template, key: key) }
        return TLSConfiguration(
            chain: [certificate], key: key, asksFor: .join, accepts: { _ in false },
            judge: { shown, _ in
                guard let root = shown.first(where: { Array($0.fingerprint.prefix(16)) == shortFingerprint }) else {
                    return .failure(.wrongGroup)
                }
                do throws(Refusal) {
                    return .success(.inviter(try GroupTrust(root: root).verify(shown), root: root))
                } catch { return .failure(error) }
            })
    }

    private static func applicant(_ shown: [Certificate]) -> Result<AuthenticatedPeer, Refusal> {
        do throws(CryptoError) {
            return .success(.applicant(publicKeyInfo: try shown[0].publicKeyInfo()))
        } catch { return .failure(.malformedCertificate(error.description)) }
    }
}

/// OpenSSL's settings for many connections: TLS 1.3 alone, both certificates, no tickets, no resumption, no early data.
package final class TLSContext: @unchecked Sendable {
    // Sendable: the pointer is set once and configured before it is shared; OpenSSL counts and locks an SSL_CTX itself.
    let pointer: OpaquePointer
    let configuration: TLSConfiguration

    /// - Throws: `.tls` when OpenSSL turns the certificate or the key down.
    package init(_ configuration: TLSConfiguration) throws(TransportError) {
        OpenSSLErrors.clear()
        guard let pointer = SSL_CTX_new(TLS_method()) else { throw .tls(OpenSSLErrors.take()) }
        self.pointer = pointer
        self.configuration = configuration
        guard Self.setParameters(pointer), Self.setIdentity(pointer, configuration) else {
            throw .tls(OpenSSLErrors.take())
        }
        SSL_CTX_set_cert_verify_callback(pointer, verifyPeer, nil)
        SSL_CTX_set_alpn_select_cb(pointer, selectProtocol, nil)
        if let asksFor = configuration.asksFor {
            let name = Array(asksFor.rawValue.utf8)
            guard SSL_CTX_set_alpn_protos(pointer, [UInt8(name.count)] + name, UInt32(name.count + 1)) == 0 else {
                throw .tls(OpenSSLErrors.take())
            }
        }
    }

    deinit { SSL_CTX_free(pointer) }

    private static func setParameters(_ pointer: OpaquePointer) -> Bool {
        SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        kith_ssl_ctx_set_options(pointer)
        kith_ssl_ctx_no_session_cache(pointer)
        kith_ssl_ctx_limit_certificates(pointer, TransportLimits.certificateBytes)
        kith_ssl_ctx_read_ahead(pointer)
        SSL_CTX_set_default_read_buffer_len(pointer, 64 * 1024)
        return kith_ssl_ctx_tls13_only(pointer) == 1 && SSL_CTX_set_num_tickets(pointer, 0) == 1
            && SSL_CTX_set_max_early_data(pointer, 0) == 1
            && SSL_CTX_set_ciphersuites(pointer, cipherSuites) == 1
            && kith_ssl_ctx_set_groups(pointer, "X25519:P-256") == 1
    }

    private static func setIdentity(_ pointer: OpaquePointer, _ configuration: TLSConfiguration) -> Bool {
        guard let leaf = configuration.chain.first, let key = configuration.key else { return true }
        return leaf.withPointer { SSL_CTX_use_certificate(pointer, $0) } == 1
            && key.withPointer { SSL_CTX_use_PrivateKey(pointer, $0) } == 1
            && configuration.chain.dropFirst().allSatisfy {
                $0.withPointer { kith_ssl_ctx_add_chain(pointer, $0) } == 1
            }
    }

    /// AES where the processor has instructions for it, else ChaCha20, which is several times faster in plain code. The
    /// server follows a client that prefers ChaCha20, so the weaker machine decides.
    private static var cipherSuites: String {
        let aes = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384"
        let chacha = "TLS_CHACHA20_POLY1305_SHA256"
        #if arch(arm64) && os(Linux)
        let hasAES = getauxval(UInt(AT_HWCAP)) & (1 << 3) != 0
        return hasAES ? "\(aes):\(chacha)" : "\(chacha):\(aes)"
        #elseif arch(x86_64) || arch(arm64)
        return "\(aes):\(chacha)"
        #else
        return "\(chacha):\(aes)"
        #endif
    }
}

/// libssl asks whether the peer's certificates hold. The engine that runs the handshake remembers the answer.
private func verifyPeer(_ store: OpaquePointer?, _: UnsafeMutableRawPointer?) -> Int32 {
    guard let store, let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
        let engine = TLSEngine.of(OpaquePointer(ssl))
    else { return 0 }
    guard let refusal = engine.judge(store) else {
        X509_STORE_CTX_set_error(store, X509_V_OK)
        return 1
    }
    // libssl makes the alert from the error.
    let error =
        switch refusal {
        case .revoked: X509_V_ERR_CERT_REVOKED
        case .notInGroup, .noCertificate, .wrongGroup: X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY
        default: X509_V_ERR_CERT_REJECTED
        }
    X509_STORE_CTX_set_error(store, error)
    return 0
}

/// libssl asks which of the client's protocols this side takes.
private func selectProtocol(
    _ ssl: OpaquePointer?, _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ count: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?, _ offeredCount: UInt32,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let ssl, let engine = TLSEngine.of(ssl) else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    let names = UnsafeBufferPointer(start: offered, count: Int(offeredCount))
    var place = 0
    while place < names.count {
        let end = place + 1 + Int(names[place])
        guard end <= names.count else { break }
        let name = String(decoding: names[(place + 1)..<end], as: UTF8.self)
        if let spoken = LinkProtocol(rawValue: name), engine.accepts(spoken) {
            selected?.pointee = names.baseAddress.map { $0 + place + 1 }
            count?.pointee = names[place]
            return SSL_TLSEXT_ERR_OK
        }
        place = end
    }
    engine.noProtocolFits()
    return SSL_TLSEXT_ERR_ALERT_FATAL
}
