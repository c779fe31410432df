import KithCrypto
import KithDocument

/// What a certificate of a group says in Kith's private extension.
///
/// The extension holds one DER OCTET STRING with: version 1, kind (1 node, 2 admin), the role (of an admin's: 3), the
/// number in 8 bytes, and for an admin's certificate the 32 bytes of the node id that it belongs to. See docs/security.md.
enum Claims: Equatable {
    case node(role: Role, number: UInt64)
    /// An admin's intermediate certificate. It names its node, so that only the root makes admins.
    case admin(node: NodeID, number: UInt64)

    /// An object identifier of our own without a registry: 2.25 and a random UUID as a number (ITU-T X.667).
    static let identifier = "2.25.312063774588850484569972320026499856594"

    private static let octetString: UInt8 = 0x04
    private static let version: UInt8 = 1

    var content: [UInt8] {
        var writer = FieldWriter()
        writer.write(byte: Self.version)
        switch self {
        case .node(let role, let number):
            writer.write(byte: 1)
            writer.write(byte: role.rawValue)
            writer.write(number: number)
        case .admin(let node, let number):
            writer.write(byte: 2)
            writer.write(byte: Role.admin.rawValue)
            writer.write(number: number)
            writer.write(fixed: node.bytes)
        }
        return [Self.octetString, UInt8(writer.bytes.count)] + writer.bytes
    }

    init(of certificate: Certificate) throws(TransportError) {
        guard let content = certificate.extensionContent(Self.identifier) else {
            throw .malformed("the certificate has no role")
        }
        try self.init(content: content)
    }

    init(content: [UInt8]) throws(TransportError) {
        var reader = FieldReader(content, "the role of a certificate")
        guard try reader.readByte() == Self.octetString, Int(try reader.readByte()) == reader.remaining,
            try reader.readByte() == Self.version
        else { throw .malformed("the role of a certificate is written in another way than this version knows") }
        let kind = try reader.readByte()
        guard let role = Role(rawValue: try reader.readByte()) else {
            throw .malformed("the certificate has an unknown role")
        }
        let number = try reader.readNumber()
        switch kind {
        case 1: self = .node(role: role, number: number)
        case 2:
            guard role == .admin, let node = NodeID(bytes: try reader.readFixed(32)) else {
                throw .malformed("an admin's certificate names no node")
            }
            self = .admin(node: node, number: number)
        default: throw .malformed("the certificate is of an unknown kind")
        }
        try reader.expectEnd()
    }
}
