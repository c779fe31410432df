import COpenSSL

/// What went wrong in the cryptographic library. Never carries a key or the data that was worked on.
package struct CryptoError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A stable name for the kind of failure.
    package enum Code: String, Sendable {
        /// The bytes or the text given are no key, certificate or PEM of the kind that was asked for.
        case malformed
        /// The library could not do what it always can: memory, random numbers, a broken installation.
        case library
        /// A signature does not fit the bytes and the key.
        case badSignature
        /// A certificate chain does not lead to the trusted root by the rules of X.509.
        case untrusted
    }

    package let code: Code
    /// What was tried, on what.
    package let what: String
    /// OpenSSL's own words, empty where it gave none.
    package let reason: String

    package init(_ code: Code, _ what: String, reason: String = "") {
        self.code = code
        self.what = what
        self.reason = reason
    }

    package var description: String { reason.isEmpty ? what : "\(what): \(reason)" }

    /// Takes the reason from OpenSSL's error queue of this thread, and empties the queue.
    static func last(_ code: Code, _ what: String) -> CryptoError {
        CryptoError(code, what, reason: OpenSSLErrors.take())
    }
}

/// OpenSSL's queue of errors, one a thread.
package enum OpenSSLErrors {
    /// The reason of the oldest error in the queue, which is the cause of the others; empties the queue.
    package static func take() -> String {
        let error = ERR_get_error()
        ERR_clear_error()
        guard error != 0 else { return "" }
        guard let text = ERR_reason_error_string(error) else { return "error \(error)" }
        return String(cString: text)
    }

    /// Empties the queue, so that the next error is that of the next call.
    package static func clear() { ERR_clear_error() }
}
