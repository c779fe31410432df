import KithCrypto
import KithDocument

/// How the secret of an invite is proved, so that only its holder can, on this connection only, for this key only.
enum InviteProof {
    /// The label under which both sides export the key of their connection.
    static let exporterLabel = "EXPORTER-kith-join-1"

    /// What both sides know of the secret. The secret itself is not kept by the inviter.
    static func verifier(ofSecret secret: [UInt8]) -> [UInt8] {
        SHA256.hash(Array("kith invite 1\0".utf8) + secret).bytes
    }

    /// 32 bytes.
    static func make(verifier: [UInt8], exported: [UInt8], node: NodeID) -> [UInt8] {
        HMACSHA256.code(for: Array("kith join proof 1\0".utf8) + exported + node.bytes, key: verifier)
    }
}

/// The invites of an admin: pure, with the time given in milliseconds since 1970.
///
/// A proof says nothing of which invite it is for, so every wrong one counts against all that are open. Closed invites are
/// remembered for a day, so that their codes fail with their reason.
package struct InviteBook: Hashable, Sendable {
    /// What became of an invite.
    package enum Status: UInt8, Hashable, Sendable {
        case open = 0
        case used = 1
        case burnt = 2
        case expired = 3
    }

    /// One invite.
    package struct Invite: Hashable, Sendable {
        /// Tells invites apart on this node; says nothing about the secret.
        package let id: UInt64
        let verifier: [UInt8]
        package let role: Role
        /// Milliseconds since 1970; from then on it is expired.
        package let expiresAt: Int64
        package fileprivate(set) var status: Status
        /// Wrong proofs while it was open.
        package fileprivate(set) var failures: Int
        /// When it was closed; 0 while open.
        fileprivate var closedAt: Int64
    }

    /// In the order in which they were made.
    package private(set) var invites: [Invite] = []

    package init() {}

    /// Opens an invite for the code's secret.
    /// - Throws: `.identity` when too many are open.
    package mutating func open(
        _ code: InviteCode, id: UInt64, role: Role, expiresAt: Int64, now: Int64
    ) throws(TransportError) {
        tidy(now: now)
        if invites.count >= TransportLimits.invites {
            guard let oldest = invites.firstIndex(where: { $0.status != .open }) else {
                throw .identity("\(TransportLimits.invites) invites are open; wait until one is used or expires")
            }
            invites.remove(at: oldest)
        }
        invites.append(
            Invite(
                id: id, verifier: InviteProof.verifier(ofSecret: code.secret), role: role, expiresAt: expiresAt,
                status: .open, failures: 0, closedAt: 0))
    }

    /// Whether any invite can be used now.
    package func hasOpen(now: Int64) -> Bool { invites.contains { $0.status == .open && now < $0.expiresAt } }

    /// Whether a join is listened to: an invite is open, or was and its code should fail with its reason.
    package func answersJoins(now: Int64) -> Bool { invites.contains { !Self.isForgotten($0, now: now) } }

    /// Judges a proof; `exported` is the key of the connection, `node` who shows it. The invite that it fits is used up; a
    /// wrong one counts against all that are open. The caller makes the book durable before it acts on the answer.
    package mutating func redeem(
        proof: [UInt8], exported: [UInt8], node: NodeID, now: Int64
    ) throws(JoinRefusal) -> Invite {
        tidy(now: now)
        let fitting = invites.indices.filter { index in
            ConstantTime.equal(
                proof, InviteProof.make(verifier: invites[index].verifier, exported: exported, node: node))
        }
        guard let index = fitting.first else {
            countFailure(now: now)
            throw .unknown
        }
        switch invites[index].status {
        case .open: break
        case .used: throw .used
        case .burnt: throw .burnt
        case .expired: throw .expired
        }
        close(index, as: .used, now: now)
        return invites[index]
    }

    private mutating func countFailure(now: Int64) {
        for index in invites.indices where invites[index].status == .open {
            invites[index].failures += 1
            if invites[index].failures >= TransportLimits.joinFailures { close(index, as: .burnt, now: now) }
        }
    }

    private mutating func close(_ index: Int, as status: Status, now: Int64) {
        invites[index].status = status
        invites[index].closedAt = now
    }

    /// Closes what has expired and forgets what was closed long ago.
    private mutating func tidy(now: Int64) {
        for index in invites.indices where invites[index].status == .open && now >= invites[index].expiresAt {
            close(index, as: .expired, now: invites[index].expiresAt)
        }
        invites.removeAll { Self.isForgotten($0, now: now) }
    }

    private static func isForgotten(_ invite: Invite, now: Int64) -> Bool {
        let closedAt = invite.status == .open ? invite.expiresAt : invite.closedAt
        let (age, overflow) = now.subtractingReportingOverflow(closedAt)
        return !overflow && age >= TransportLimits.closedInviteMilliseconds
    }
}

extension InviteBook {
    private static let magic: [UInt8] = Array("KI".utf8) + [2]
    /// The first version had no checksum.
    private static let firstMagic: [UInt8] = Array("KI".utf8) + [1]

    /// The book for the disk: whoever reads it can use the open invites, so the file is closed to others.
    package var encoded: [UInt8] {
        var writer = FieldWriter()
        writer.write(fixed: Self.magic)
        writer.write(count: invites.count)
        for invite in invites {
            writer.write(number: invite.id)
            writer.write(fixed: invite.verifier)
            writer.write(byte: invite.role.rawValue)
            writer.write(number: UInt64(bitPattern: invite.expiresAt))
            writer.write(byte: invite.status.rawValue)
            writer.write(byte: UInt8(invite.failures))
            writer.write(number: UInt64(bitPattern: invite.closedAt))
        }
        return Checksum.append(to: writer.bytes)
    }

    /// Reads what `encoded` gave.
    package init(encoded: [UInt8]) throws(TransportError) {
        var bytes = encoded[...]
        if encoded.starts(with: Self.magic) { bytes = try Checksum.removed(from: encoded, "the file of invites") }
        var reader = FieldReader(bytes, "the file of invites")
        guard [Self.magic, Self.firstMagic].contains(try reader.readFixed(3)) else {
            throw .malformed("the file of invites is of another version")
        }
        for _ in 0..<(try reader.readCount(atMost: TransportLimits.invites)) {
            let id = try reader.readNumber()
            let verifier = try reader.readFixed(32)
            let role = Role(rawValue: try reader.readByte())
            let expiresAt = Int64(bitPattern: try reader.readNumber())
            let status = Status(rawValue: try reader.readByte())
            let failures = Int(try reader.readByte())
            let closedAt = Int64(bitPattern: try reader.readNumber())
            guard let role, let status else { throw .malformed("the file of invites holds an unknown role or status") }
            invites.append(
                Invite(
                    id: id, verifier: verifier, role: role, expiresAt: expiresAt, status: status, failures: failures,
                    closedAt: closedAt))
        }
        try reader.expectEnd()
    }
}
