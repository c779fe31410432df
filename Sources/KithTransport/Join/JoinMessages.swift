import KithCrypto
import KithDocument

/// What a joiner says: the proof of the secret, and the public key with which it would sign others were it made an admin.
/// The node's own key is proved by TLS.
struct JoinRequest: Equatable {
    var proof: [UInt8]
    /// DER SubjectPublicKeyInfo.
    var adminPublicKeyInfo: [UInt8]

    private static let magic: [UInt8] = Array("KJ".utf8) + [1]
    private static let publicKeyBytes = 1_024

    var encoded: [UInt8] {
        var writer = FieldWriter()
        writer.write(fixed: Self.magic)
        writer.write(string: proof)
        writer.write(string: adminPublicKeyInfo)
        return writer.bytes
    }

    init(proof: [UInt8], adminPublicKeyInfo: [UInt8]) {
        self.proof = proof
        self.adminPublicKeyInfo = adminPublicKeyInfo
    }

    init(encoded: [UInt8]) throws(TransportError) {
        var reader = FieldReader(encoded, "a request to join")
        guard try reader.readFixed(3) == Self.magic else { throw .malformed("a request to join of another version") }
        proof = try reader.readString(atMost: 32)
        adminPublicKeyInfo = try reader.readString(atMost: Self.publicKeyBytes)
        try reader.expectEnd()
    }
}

/// What the inviter answers.
enum JoinAnswer: Equatable {
    /// A writer's or reader's certificate, and that of the admin who signed it.
    case node(groupName: String, certificate: [UInt8], issuer: [UInt8])
    /// An admin's certificate, with which the joiner signs its own node's with this number.
    case admin(groupName: String, certificate: [UInt8], number: UInt64)
    case refused(JoinRefusal)

    private static let magic: [UInt8] = Array("KA".utf8) + [1]

    var encoded: [UInt8] {
        var writer = FieldWriter()
        writer.write(fixed: Self.magic)
        switch self {
        case .node(let groupName, let certificate, let issuer):
            writer.write(byte: 1)
            writer.write(string: Array(groupName.utf8))
            writer.write(string: certificate)
            writer.write(string: issuer)
        case .admin(let groupName, let certificate, let number):
            writer.write(byte: 2)
            writer.write(string: Array(groupName.utf8))
            writer.write(string: certificate)
            writer.write(number: number)
        case .refused(let refusal):
            writer.write(byte: 3)
            writer.write(byte: refusal.rawValue)
        }
        return writer.bytes
    }

    init(encoded: [UInt8]) throws(TransportError) {
        var reader = FieldReader(encoded, "the answer to a join")
        guard try reader.readFixed(3) == Self.magic else {
            throw .malformed("the answer to a join is of another version")
        }
        switch try reader.readByte() {
        case 1:
            self = .node(
                groupName: try reader.readText(atMost: TransportLimits.nameBytes),
                certificate: try reader.readString(atMost: CryptoLimits.certificateBytes),
                issuer: try reader.readString(atMost: CryptoLimits.certificateBytes))
        case 2:
            self = .admin(
                groupName: try reader.readText(atMost: TransportLimits.nameBytes),
                certificate: try reader.readString(atMost: CryptoLimits.certificateBytes),
                number: try reader.readNumber())
        case 3:
            guard let refusal = JoinRefusal(rawValue: try reader.readByte()) else {
                throw .malformed("the inviter refused for a reason that this version does not know")
            }
            self = .refused(refusal)
        default: throw .malformed("the answer to a join is of an unknown kind")
        }
        try reader.expectEnd()
    }
}

/// Cuts a stream of bytes into messages after their 32-bit counts; at most one message is held.
struct JoinFraming {
    private var bytes: [UInt8] = []

    static func frame(_ message: [UInt8]) -> [UInt8] {
        var writer = FieldWriter()
        writer.write(string: message)
        return writer.bytes
    }

    /// Takes bytes in and gives the first message when it is whole.
    /// - Throws: `.malformed` when it would be too long, or something follows it.
    mutating func take(_ more: UnsafeRawBufferPointer) throws(TransportError) -> [UInt8]? {
        guard bytes.count + more.count <= 4 + TransportLimits.joinMessageBytes else {
            throw .malformed("a message of a join is too long")
        }
        bytes.append(contentsOf: more)
        guard bytes.count >= 4 else { return nil }
        var reader = FieldReader(bytes, "a message of a join")
        let count = try reader.readCount(atMost: TransportLimits.joinMessageBytes)
        guard reader.remaining >= count else { return nil }
        let message = try reader.readFixed(count)
        try reader.expectEnd()
        return message
    }
}
