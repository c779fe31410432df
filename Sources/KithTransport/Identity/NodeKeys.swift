import KithCrypto

/// What a node is made with: its own key, and the one that it signs others with if it becomes an admin.
package struct NodeKeys: Sendable {
    package let node: PrivateKey
    package let admin: PrivateKey

    package init(node: PrivateKey, admin: PrivateKey) {
        self.node = node
        self.admin = admin
    }

    /// New ones.
    package static func generate() throws(TransportError) -> NodeKeys {
        try crypto { () throws(CryptoError) in NodeKeys(node: try .generate(), admin: try .generate()) }
    }
}
