import COpenSSL

/// The library under everything that is cryptography.
package enum CryptoLibrary {
    /// Its name and version.
    package static var version: String { String(cString: OpenSSL_version(0)) }
}
