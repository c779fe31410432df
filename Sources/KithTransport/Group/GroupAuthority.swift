import KithCrypto
import KithDocument

/// The root of a group: the certificate that all members trust, with its key. It makes admins and nothing else.
package struct GroupRoot: Sendable {
    package let certificate: Certificate
    package let key: PrivateKey

    /// - Throws: `.identity` when the key is not that of the certificate.
    package init(certificate: Certificate, key: PrivateKey) throws(TransportError) {
        guard certificate.belongs(to: key) else {
            throw .identity("the root's key is not the key of this group's root")
        }
        self.certificate = certificate
        self.key = key
    }

    /// A new group.
    /// - Parameter key: nil for a new one.
    package static func create(key: PrivateKey? = nil) throws(TransportError) -> GroupRoot {
        let key = try crypto { () throws(CryptoError) in if let key { key } else { try PrivateKey.generate() } }
        let template = CertificateTemplate(commonName: "Kith Root", usage: .authority(pathLength: 1))
        let certificate = try crypto { () throws(CryptoError) in try Certificate.selfSigned(template, key: key) }
        return try GroupRoot(certificate: certificate, key: key)
    }

    /// The certificate that makes a node an admin. `publicKeyInfo` is of the admin's own key, with which it will sign
    /// others, not of the node's key.
    package func issueAdmin(
        node: NodeID, publicKeyInfo: [UInt8], number: UInt64
    ) throws(TransportError) -> Certificate {
        var template = CertificateTemplate(commonName: "Kith Admin", usage: .authority(pathLength: 0))
        template.extensions = [(Claims.identifier, Claims.admin(node: node, number: number).content)]
        return try crypto { () throws(CryptoError) in
            try Certificate.issued(template, publicKeyInfo: publicKeyInfo, issuer: certificate, issuerKey: key)
        }
    }

    /// Makes a node an admin whose keys are both at hand.
    package func makeAdmin(node: NodeID, key adminKey: PrivateKey, number: UInt64) throws(TransportError) -> GroupAdmin
    {
        let info = try crypto { () throws(CryptoError) in try adminKey.publicKeyInfo() }
        return try GroupAdmin(
            certificate: try issueAdmin(node: node, publicKeyInfo: info, number: number), key: adminKey)
    }
}

/// An admin of a group: the intermediate certificate under the root, with its key. It makes nodes.
package struct GroupAdmin: Sendable {
    package let certificate: Certificate
    package let key: PrivateKey
    /// The node that this admin is.
    package let node: NodeID

    /// - Throws: `.identity` when the key is not that of the certificate, `.malformed` when it is no admin's.
    package init(certificate: Certificate, key: PrivateKey) throws(TransportError) {
        guard certificate.belongs(to: key) else { throw .identity("the admin's key is not the key of its certificate") }
        guard case .admin(let node, _) = try Claims(of: certificate) else {
            throw .malformed("the certificate is not an admin's")
        }
        self.certificate = certificate
        self.key = key
        self.node = node
    }

    /// A node's certificate. The dates say nothing and nobody judges them.
    /// - Throws: `.crypto` when the key is no Ed25519 key.
    package func issueNode(publicKeyInfo: [UInt8], role: Role, number: UInt64) throws(TransportError) -> Certificate {
        try issueNode(publicKeyInfo: publicKeyInfo, role: role, number: number) { _ in }
    }

    /// As above, with what tests change about it.
    func issueNode(
        publicKeyInfo: [UInt8], role: Role, number: UInt64, _ change: (inout CertificateTemplate) -> Void
    ) throws(TransportError) -> Certificate {
        var template = CertificateTemplate(commonName: "Kith Node", usage: .endEntity)
        template.extensions = [(Claims.identifier, Claims.node(role: role, number: number).content)]
        change(&template)
        return try crypto { () throws(CryptoError) in
            try Certificate.issued(template, publicKeyInfo: publicKeyInfo, issuer: certificate, issuerKey: key)
        }
    }
}
