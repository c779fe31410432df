import COpenSSL
import KithCrypto
import KithDocument

/// One side of one TLS connection without any I/O: it is fed ciphertext and gives ciphertext. It belongs to one thread at
/// a time.
package final class TLSEngine {
    /// Which side this is.
    package enum Side: Sendable { case client, server }

    /// What reading gave.
    package enum ReadResult: Equatable, Sendable {
        case bytes(Int)
        case needsInput
        /// The peer said that it sends no more.
        case finished
    }

    /// The other end, from the end of the handshake on.
    package private(set) var peer: AuthenticatedPeer?
    /// What is spoken, from the hello messages on.
    package private(set) var linkProtocol: LinkProtocol?

    private let context: TLSContext
    private let side: Side
    private let expecting: NodeID?
    private let ssl: OpaquePointer
    private let input: OpaquePointer
    private let output: OpaquePointer
    private var outputTaken = 0
    private var refusal: Refusal?
    private var judged: AuthenticatedPeer?
    private var bytesUnderKey: UInt64 = 0
    /// A failure that was met behind bytes that had to be delivered first.
    private var heldFailure: TransportError?

    /// - Parameter expecting: the only node that will do.
    package init(_ context: TLSContext, _ side: Side, expecting: NodeID? = nil) throws(TransportError) {
        OpenSSLErrors.clear()
        guard let ssl = SSL_new(context.pointer), let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem())
        else {
            throw .tls("no memory for a connection")
        }
        self.context = context
        self.side = side
        self.expecting = expecting
        self.ssl = ssl
        self.input = input
        self.output = output
        // The SSL owns both BIOs from here on.
        SSL_set_bio(ssl, input, output)
        SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        switch side {
        case .client: SSL_set_connect_state(ssl)
        case .server: SSL_set_accept_state(ssl)
        }
    }

    deinit { SSL_free(ssl) }

    static func of(_ ssl: OpaquePointer) -> TLSEngine? {
        SSL_get_ex_data(ssl, 0).map { Unmanaged<TLSEngine>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Ciphertext

    /// Takes ciphertext from the peer, in pieces of any size. Read until `needsInput` before the next, so that no more than
    /// this piece and one record are held.
    package func feed(_ ciphertext: UnsafeRawBufferPointer) {
        guard !ciphertext.isEmpty else { return }
        let taken = BIO_write(input, ciphertext.baseAddress, Int32(ciphertext.count))
        precondition(Int(taken) == ciphertext.count, "a memory BIO takes all it is given")
    }

    /// Bytes that wait to be sent to the peer.
    package var outputCount: Int {
        var start: UnsafePointer<UInt8>?
        return Int(kith_bio_contents(output, &start)) - outputTaken
    }

    /// Lends what waits to be sent; `body` says how much of it went out.
    package func takeOutput<Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) {
        var start: UnsafePointer<UInt8>?
        let count = Int(kith_bio_contents(output, &start))
        guard count > outputTaken, let start else { return }
        let taken = try body(UnsafeRawBufferPointer(start: start + outputTaken, count: count - outputTaken))
        outputTaken += taken
        if outputTaken == count {
            kith_bio_reset(output)
            outputTaken = 0
        }
    }

    // MARK: Steps

    /// Goes on with the handshake as far as the input allows.
    /// - Returns: whether it is complete. A client's is complete before the server has judged it.
    /// - Throws: `.refused`, `.refusedByPeer`, `.tls`; an alert for the peer may wait as output.
    package func handshake() throws(TransportError) -> Bool {
        if peer != nil { return true }
        OpenSSLErrors.clear()
        let result = SSL_do_handshake(ssl)
        guard result == 1 else {
            if SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ { return false }
            throw failure()
        }
        guard let judged, linkProtocol == selectedProtocol(), linkProtocol != nil else {
            throw .refused(.wrongProtocol)
        }
        peer = judged
        return true
    }

    /// Decrypts into the buffer, as many records as fit.
    /// - Throws: `.tls`, `.refusedByPeer`.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransportError) -> ReadResult {
        precondition(peer != nil, "nothing is read before the handshake is complete")
        if let heldFailure { throw heldFailure }
        var total = 0
        OpenSSLErrors.clear()
        while total < buffer.count {
            var count = 0
            let result = SSL_read_ex(ssl, buffer.baseAddress.map { $0 + total }, buffer.count - total, &count)
            if result == 1 {
                total += count
                continue
            }
            switch SSL_get_error(ssl, result) {
            case SSL_ERROR_WANT_READ: return total > 0 ? .bytes(total) : .needsInput
            case SSL_ERROR_ZERO_RETURN: return total > 0 ? .bytes(total) : .finished
            default:
                let failure = failure()
                heldFailure = failure
                guard total > 0 else { throw failure }
                return .bytes(total)
            }
        }
        return .bytes(total)
    }

    /// Encrypts all of it; the ciphertext waits as output.
    package func write(_ plaintext: UnsafeRawBufferPointer) throws(TransportError) {
        precondition(peer != nil, "nothing is written before the handshake is complete")
        guard !plaintext.isEmpty else { return }
        OpenSSLErrors.clear()
        renewKeyWhenDue(plaintext.count)
        var count = 0
        guard SSL_write_ex(ssl, plaintext.baseAddress, plaintext.count, &count) == 1 else { throw failure() }
        precondition(count == plaintext.count, "a memory BIO takes all it is given")
    }

    /// Tells the peer that no more will come. Reading goes on.
    package func finish() {
        guard peer != nil else { return }
        OpenSSLErrors.clear()
        SSL_shutdown(ssl)
        OpenSSLErrors.clear()
    }

    /// 32 bytes that both sides of this connection know and nobody else (RFC 8446, 7.5).
    package func exportKey(label: String) throws(TransportError) -> [UInt8] {
        precondition(peer != nil, "the key exists when the handshake is complete")
        OpenSSLErrors.clear()
        var key = [UInt8](repeating: 0, count: 32)
        let text = Array(label.utf8).map(CChar.init(bitPattern:))
        guard SSL_export_keying_material(ssl, &key, key.count, text, text.count, nil, 0, 0) == 1 else {
            throw .tls(OpenSSLErrors.take())
        }
        return key
    }

    /// The cipher suite, for people.
    package var cipherSuite: String { kith_ssl_cipher(ssl).map(String.init(cString:)) ?? "none" }

    private func renewKeyWhenDue(_ count: Int) {
        bytesUnderKey += UInt64(count)
        guard bytesUnderKey >= TransportLimits.keyUpdateBytes else { return }
        bytesUnderKey = 0
        // Where it fails the connection goes on under the old key, far from its true limit.
        _ = kith_ssl_key_update(ssl)
    }

    private func failure() -> TransportError {
        let error = ERR_peek_error()
        let reason = OpenSSLErrors.take()
        if let refusal { return .refused(refusal) }
        // libssl numbers what the peer's alerts say as 1000 and the alert.
        let code = Int(ERR_GET_REASON(error))
        if ERR_GET_LIB(error) == ERR_LIB_SSL, (1001..<1256).contains(code) { return .refusedByPeer(alert: code - 1000) }
        if code == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE { return .refused(.noCertificate) }
        return .tls(reason.isEmpty ? "the connection broke down" : reason)
    }

    // MARK: Called from within OpenSSL

    func accepts(_ spoken: LinkProtocol) -> Bool {
        guard context.configuration.accepts(spoken) else {
            if spoken == .join { refusal = .noInviteOpen }
            return false
        }
        linkProtocol = spoken
        return true
    }

    /// Nothing that the client speaks is spoken here.
    func noProtocolFits() { refusal = refusal ?? .wrongProtocol }

    /// Nil: the peer's certificates hold.
    func judge(_ store: OpaquePointer) -> Refusal? {
        let result = judgement(store)
        switch result {
        case .success(let peer): judged = peer
        case .failure(let refusal): self.refusal = refusal
        }
        return refusal
    }

    private func judgement(_ store: OpaquePointer) -> Result<AuthenticatedPeer, Refusal> {
        let shown: [Certificate]
        do throws(CryptoError) { shown = try Certificate.shown(in: store) } catch {
            return .failure(.malformedCertificate(error.description))
        }
        if side == .client { linkProtocol = selectedProtocol() }
        guard let spoken = linkProtocol else { return .failure(.wrongProtocol) }
        let result = context.configuration.judge(shown, spoken)
        if let expecting, case .success(.member(let peer)) = result, peer.nodeID != expecting {
            return .failure(.wrongNode(peer.nodeID))
        }
        return result
    }

    private func selectedProtocol() -> LinkProtocol? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        return LinkProtocol(
            rawValue: String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self))
    }
}
