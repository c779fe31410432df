import KithCrypto
import KithDocument

/// A node's membership of a group: its key, the certificates that prove it, and for an admin what it signs with. A value
/// of this type was checked: the parts belong together.
package struct Identity: Sendable {
    /// For people only; no certificate shows it.
    package let groupName: String
    /// For people only; no certificate shows it.
    package let nodeName: String
    package let key: PrivateKey
    /// The node's certificate.
    package let certificate: Certificate
    /// The certificate of the admin who signed it.
    package let issuer: Certificate
    package let trust: GroupTrust
    /// What this node signs others with; nil unless it is an admin.
    package let admin: GroupAdmin?
    /// This node as its peers see it.
    package let peer: PeerIdentity

    package var nodeID: NodeID { peer.nodeID }
    package var role: Role { peer.role }

    /// What is shown in a handshake, the node first, the root last.
    package var chain: [Certificate] { [certificate, issuer, trust.root] }

    /// - Throws: `.identity` when the parts don't belong together, `.invalidName`.
    package init(
        groupName: String, nodeName: String, key: PrivateKey, certificate: Certificate, issuer: Certificate,
        root: Certificate, adminKey: PrivateKey?
    ) throws(TransportError) {
        try Self.check(name: groupName, of: "a group")
        try Self.check(name: nodeName, of: "a node")
        let trust = GroupTrust(root: root)
        do throws(Refusal) { peer = try trust.verify([certificate, issuer]) } catch {
            throw .identity("the node's certificate does not hold: \(error.message)")
        }
        guard certificate.belongs(to: key) else { throw .identity("the node's key is not the key of its certificate") }
        guard peer.isAdmin == (adminKey != nil) else {
            throw .identity(
                peer.isAdmin ? "the admin's key is missing" : "there is an admin's key and the node is no admin")
        }
        if let adminKey {
            admin = try GroupAdmin(certificate: issuer, key: adminKey)
        } else {
            admin = nil
        }
        self.groupName = groupName
        self.nodeName = nodeName
        self.key = key
        self.certificate = certificate
        self.issuer = issuer
        self.trust = trust
    }

    /// A new group with a first admin: a function of the keys and the names.
    /// - Parameters:
    ///   - rootKey: nil for a new one.
    ///   - keys: nil for new ones.
    package static func createGroup(
        name: String, nodeName: String, rootKey: PrivateKey? = nil, keys: NodeKeys? = nil
    ) throws(TransportError) -> (identity: Identity, root: GroupRoot) {
        let root = try GroupRoot.create(key: rootKey)
        let keys = if let keys { keys } else { try NodeKeys.generate() }
        let info = try crypto { () throws(CryptoError) in try keys.node.publicKeyInfo() }
        let admin = try root.makeAdmin(node: nodeID(ofPublicKeyInfo: info), key: keys.admin, number: 1)
        let identity = try Identity(
            groupName: name, nodeName: nodeName, key: keys.node,
            certificate: try admin.issueNode(publicKeyInfo: info, role: .admin, number: 1), issuer: admin.certificate,
            root: root.certificate, adminKey: keys.admin)
        return (identity, root)
    }

    /// The id of the node with this public key (DER SubjectPublicKeyInfo).
    package static func nodeID(ofPublicKeyInfo info: [UInt8]) -> NodeID {
        guard let node = NodeID(bytes: SHA256.hash(info).bytes) else { preconditionFailure("SHA-256 has 32 bytes") }
        return node
    }

    /// - Throws: `.invalidName` unless the name has 1 to 63 bytes and no control characters.
    package static func check(name: String, of what: String) throws(TransportError) {
        guard (1...TransportLimits.nameBytes).contains(name.utf8.count) else {
            throw .invalidName("the name of \(what) has 1 to \(TransportLimits.nameBytes) bytes")
        }
        guard name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) }) else {
            throw .invalidName("the name of \(what) holds a control character")
        }
    }
}
