import KithCrypto
import KithDocument

/// What a statement says.
package enum StatementContent: Hashable, Sendable {
    /// The node's membership has ended, for ever. Signed by an admin it counts while the node is no admin; signed by the
    /// root it counts against anyone, and against all that the node signed as an admin.
    case revocation(of: NodeID)
    /// How a database merges: the policy as JSON, which this target does not read. The highest number counts.
    case policy(database: String, number: UInt64, json: [UInt8])
    /// The node is a reader or a writer from now on, whatever its certificate says. It counts where its number is above
    /// that of the certificate and of other statements, of equal numbers the lower role; never for an admin.
    case role(of: NodeID, role: Role, number: UInt64)

    fileprivate var kind: UInt8 {
        switch self {
        case .revocation: 1
        case .policy: 2
        case .role: 3
        }
    }
}

/// Who signed a statement.
package enum StatementSigner: Hashable, Sendable, Comparable {
    case root
    case admin(NodeID)

    package static func < (one: Self, other: Self) -> Bool {
        switch (one, other) {
        case (.root, .admin): true
        case (_, .root): false
        case (.admin(let one), .admin(let other)): one < other
        }
    }
}

/// Bytes that the root or an admin of a group signed, which travel from node to node. A value of this type was verified:
/// it is made by signing or by `init(encoded:trust:)` only.
///
/// Encoded: `KS`, version 1, kind, the content as a byte string, the admin's certificate as a byte string (empty: the
/// root signed), the signature as a byte string. Signed: a label, the root's fingerprint, kind, content. A statement of
/// one group is therefore none of another.
package struct SignedStatement: Hashable, Sendable {
    package let content: StatementContent
    package let signer: StatementSigner
    /// The statement as it travels and is kept.
    package let encoded: [UInt8]

    static let magic: [UInt8] = Array("KS".utf8) + [1]

    /// How long a statement is that such bytes begin with, as far as its own counts tell.
    static func length(of bytes: ArraySlice<UInt8>) throws(TransportError) -> Int {
        var reader = FieldReader(bytes, "a statement")
        _ = try reader.readFixed(magic.count + 1)
        for _ in 0..<3 { _ = try reader.readString(atMost: TransportLimits.statementBytes) }
        return bytes.count - reader.remaining
    }

    /// The root says something.
    package init(_ content: StatementContent, by root: GroupRoot) throws(TransportError) {
        try self.init(content, signer: .root, certificate: [], key: root.key, root: root.certificate)
    }

    /// An admin says something.
    package init(_ content: StatementContent, by admin: GroupAdmin, trust: GroupTrust) throws(TransportError) {
        try self.init(
            content, signer: .admin(admin.node), certificate: admin.certificate.der, key: admin.key, root: trust.root)
    }

    private init(
        _ content: StatementContent, signer: StatementSigner, certificate: [UInt8], key: PrivateKey, root: Certificate
    ) throws(TransportError) {
        try Self.check(content)
        let body = Self.body(of: content)
        let signed = Self.signedBytes(kind: content.kind, body: body, root: root)
        let signature = try crypto { () throws(CryptoError) in try key.sign(signed) }
        var writer = FieldWriter()
        writer.write(fixed: Self.magic)
        writer.write(byte: content.kind)
        writer.write(string: body)
        writer.write(string: certificate)
        writer.write(string: signature)
        self.content = content
        self.signer = signer
        encoded = writer.bytes
    }

    /// Reads and verifies a statement of the group.
    /// - Throws: `.malformed`, `.refused` when an admin's certificate is none, `.crypto` when the signature does not fit.
    package init(encoded: [UInt8], trust: GroupTrust) throws(TransportError) {
        guard encoded.count <= TransportLimits.statementBytes else { throw .malformed("a statement is too long") }
        var reader = FieldReader(encoded, "a statement")
        guard try reader.readFixed(3) == Self.magic else { throw .malformed("a statement of another version") }
        let kind = try reader.readByte()
        let body = try reader.readString(atMost: TransportLimits.statementBytes)
        let certificate = try reader.readString(atMost: CryptoLimits.certificateBytes)
        let signature = try reader.readString(atMost: CryptoLimits.signatureBytes)
        try reader.expectEnd()
        let content = try Self.content(kind: kind, body: body)

        let signingCertificate: Certificate
        if certificate.isEmpty {
            signer = .root
            signingCertificate = trust.root
        } else {
            let admin = try crypto { () throws(CryptoError) in try Certificate(der: certificate) }
            do throws(Refusal) { signer = .admin(try trust.verifyAdmin(admin)) } catch { throw .refused(error) }
            signingCertificate = admin
        }
        let signed = Self.signedBytes(kind: kind, body: body, root: trust.root)
        try crypto { () throws(CryptoError) in try signingCertificate.verify(signature, of: signed) }
        self.content = content
        self.encoded = encoded
    }

    private static func signedBytes(kind: UInt8, body: [UInt8], root: Certificate) -> [UInt8] {
        var writer = FieldWriter()
        writer.write(fixed: Array("kith statement 1\0".utf8))
        writer.write(fixed: root.fingerprint)
        writer.write(byte: kind)
        writer.write(string: body)
        return writer.bytes
    }

    private static func body(of content: StatementContent) -> [UInt8] {
        var writer = FieldWriter()
        switch content {
        case .revocation(let node): writer.write(fixed: node.bytes)
        case .policy(let database, let number, let json):
            writer.write(string: Array(database.utf8))
            writer.write(number: number)
            writer.write(string: json)
        case .role(let node, let role, let number):
            writer.write(fixed: node.bytes)
            writer.write(byte: role.rawValue)
            writer.write(number: number)
        }
        return writer.bytes
    }

    private static func content(kind: UInt8, body: [UInt8]) throws(TransportError) -> StatementContent {
        var reader = FieldReader(body, "a statement")
        let content: StatementContent
        switch kind {
        case 1:
            guard let node = NodeID(bytes: try reader.readFixed(32)) else {
                throw .malformed("a revocation names no node")
            }
            content = .revocation(of: node)
        case 2:
            content = .policy(
                database: try reader.readText(atMost: DocumentLimits.databaseNameBytes),
                number: try reader.readNumber(),
                json: try reader.readString(atMost: TransportLimits.policyBytes))
        case 3:
            guard let node = NodeID(bytes: try reader.readFixed(32)), let role = Role(rawValue: try reader.readByte())
            else { throw .malformed("a statement gives a role that there is not") }
            content = .role(of: node, role: role, number: try reader.readNumber())
        default: throw .malformed("a statement of an unknown kind")
        }
        try reader.expectEnd()
        try check(content)
        return content
    }

    private static func check(_ content: StatementContent) throws(TransportError) {
        if case .role(_, .admin, _) = content { throw .malformed("only the root's certificate makes an admin") }
        guard case .policy(let database, _, let json) = content else { return }
        guard !database.isEmpty, database.utf8.count <= DocumentLimits.databaseNameBytes else {
            throw .invalidName("a database's name has 1 to \(DocumentLimits.databaseNameBytes) bytes")
        }
        guard json.count <= TransportLimits.policyBytes else {
            throw .malformed("a policy has at most \(TransportLimits.policyBytes) bytes")
        }
    }
}
