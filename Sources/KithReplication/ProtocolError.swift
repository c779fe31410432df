/// A rule of the changes protocol that the peer broke: the link ends with a goodbye that says which.
package struct ProtocolError: Error, Hashable, Sendable {
    /// One sentence without content of documents.
    package let message: String

    package init(_ message: String) { self.message = message }
}
