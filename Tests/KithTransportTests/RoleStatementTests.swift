import KithCrypto
import KithDocument
import KithTestSupport
import Testing

@testable import KithTransport

/// How the role of a node is changed by statements, and who can't.
@Suite struct RoleStatementTests {
    let group: TestGroup
    let second: Identity
    let membership: Membership

    init() throws {
        group = try TestGroup()
        second = try group.secondAdmin()
        membership = Membership(trust: group.trust)
    }

    private func role(
        _ role: Role, of node: NodeID, _ number: UInt64, by admin: GroupAdmin? = nil
    ) throws -> SignedStatement {
        try SignedStatement(
            .role(of: node, role: role, number: number), by: admin ?? group.admin, trust: group.trust)
    }

    @Test func `a role is lowered and raised by the highest number, before the node has shown itself and after`() throws
    {
        let member = try group.member(.writer)
        #expect(membership.take(try role(.reader, of: member.nodeID, 2)).roles)
        #expect(try membership.admit(member.chain).get().role == .reader)
        #expect(membership.standing(of: member.peer)?.role == .reader)
        #expect(membership.take(try role(.writer, of: member.nodeID, 3, by: second.admin)).roles)
        #expect(membership.standing(of: member.peer)?.role == .writer)
        #expect(membership.highestNumber(of: member.nodeID) == 3)
        // What was outranked comes back and changes nothing.
        _ = membership.take(try role(.reader, of: member.nodeID, 2))
        #expect(membership.standing(of: member.peer)?.role == .writer)
        // A newer certificate outranks both.
        let key = try PrivateKey.generate()
        func chain(_ role: Role, _ number: UInt64) throws -> [Certificate] {
            let certificate = try group.admin.issueNode(
                publicKeyInfo: try key.publicKeyInfo(), role: role, number: number)
            return [certificate, group.admin.certificate]
        }
        let again = try membership.admit(try chain(.writer, 1)).get()
        _ = membership.take(try role(.reader, of: again.nodeID, 2))
        #expect(try membership.admit(try chain(.writer, 3)).get().role == .writer)
    }

    @Test func `of equal numbers the lower role counts, whatever came first and whoever signed`() throws {
        let node = try group.member().nodeID
        let statements = [
            try role(.writer, of: node, 4), try role(.reader, of: node, 4, by: second.admin),
            try role(.writer, of: node, 2), try role(.reader, of: node, 3),
        ]
        var random = SeededGenerator(seed: 8)
        for _ in 0..<10 {
            var book = RoleStatements()
            for statement in random.shuffle(statements) { _ = book.insert(statement) }
            let entry = try #require(book.entry(of: node, revocations: RevocationList()))
            #expect(entry.role == .reader && entry.number == 4)
            #expect(book.encoded.count == 2, "one for each signer")
        }
    }

    @Test func `an admin's role is the root's to give`() throws {
        #expect(throws: TransportError.self) { try role(.admin, of: second.nodeID, 9) }
        _ = membership.take(try role(.reader, of: second.nodeID, .max))
        #expect(try membership.admit(second.chain).get().role == .admin)
    }

    @Test func `the roles that a revoked admin gave count no more`() throws {
        let member = try group.member(.writer)
        _ = try membership.admit(member.chain).get()
        _ = membership.take(try role(.reader, of: member.nodeID, .max, by: second.admin))
        #expect(membership.standing(of: member.peer)?.role == .reader)
        let changes = membership.take(try SignedStatement(.revocation(of: second.nodeID), by: group.root))
        #expect(changes.revocations && changes.roles)
        #expect(membership.standing(of: member.peer)?.role == .writer)
        // Nor those that it gives from then on, here and where the statements come in the other order.
        _ = membership.take(try role(.reader, of: member.nodeID, 7, by: second.admin))
        #expect(membership.standing(of: member.peer)?.role == .writer)
        let copy = try Membership(trust: group.trust, encoded: membership.encoded)
        #expect(copy.standing(of: member.peer)?.role == .writer)
        #expect(copy.encoded == membership.encoded)
    }

    /// A statement with another node's certificate in the place of an admin's, signed by that node's key over the very
    /// bytes that an admin would sign.
    private func forged(_ kind: UInt8, _ body: [UInt8], by member: Identity, for root: Certificate) throws -> [UInt8] {
        var signed = FieldWriter()
        signed.write(fixed: Array("kith statement 1\0".utf8))
        signed.write(fixed: root.fingerprint)
        signed.write(byte: kind)
        signed.write(string: body)
        var writer = FieldWriter()
        writer.write(fixed: Array("KS".utf8) + [1, kind])
        writer.write(string: body)
        writer.write(string: member.certificate.der)
        writer.write(string: try member.key.sign(signed.bytes))
        return writer.bytes
    }

    @Test(arguments: [Role.reader, .writer]) func `readers and writers say nothing that counts`(_ signer: Role) throws {
        let liar = try group.member(signer)
        let victim = try group.member(.writer)
        var changed = FieldWriter()
        changed.write(fixed: victim.nodeID.bytes)
        changed.write(byte: 1)
        changed.write(number: 9)
        var policy = FieldWriter()
        policy.write(string: Array("notes".utf8))
        policy.write(number: 9)
        policy.write(string: Array("{}".utf8))
        for (kind, body) in [(1, victim.nodeID.bytes), (2, policy.bytes), (3, changed.bytes)] as [(UInt8, [UInt8])] {
            let bytes = try forged(kind, body, by: liar, for: group.root.certificate)
            let changes = membership.take([bytes])
            #expect(changes.isEmpty && changes.refused == 1, "kind \(kind)")
        }
        #expect(try membership.admit(victim.chain).get().role == .writer)
    }

    @Test func `a statement is worth nothing in another group, nor under another node's name`() throws {
        let other = try TestGroup()
        let node = try group.member().nodeID
        let foreign = try SignedStatement(
            .role(of: node, role: .reader, number: 5), by: other.admin, trust: other.trust)
        #expect(membership.take([foreign.encoded]).refused == 1)
        // The certificate of one admin over the signature of another.
        let real = try role(.reader, of: node, 5)
        var swapped = FieldWriter()
        var reader = FieldReader(real.encoded, "a statement")
        swapped.write(fixed: try reader.readFixed(4))
        swapped.write(string: try reader.readString(atMost: 1_000))
        _ = try reader.readString(atMost: 4_000)
        swapped.write(string: try #require(second.admin).certificate.der)
        swapped.write(string: try reader.readString(atMost: 1_000))
        #expect(membership.take([swapped.bytes]).refused == 1)
        #expect(membership.members.isEmpty)
    }

    @Test func `one signer fills no other's room`() throws {
        var book = RoleStatements()
        let node = try group.member().nodeID
        var byteSets: [NodeID] = []
        for number in 0..<UInt64(40) {
            var bytes = node.bytes
            bytes[31] = UInt8(number)
            byteSets.append(try #require(NodeID(bytes: bytes)))
        }
        for node in byteSets {
            let isNew = book.insert(try role(.reader, of: node, 2))
            #expect(isNew)
        }
        let again = try byteSets.map { book.insert(try role(.writer, of: $0, 1)) }
        #expect(!again.contains(true), "a lower number is no news")
        #expect(book.nodes == byteSets.sorted())
    }

    @Test func `what is known of members tells who let whom in and who was revoked`() throws {
        let ofFirst = try group.member(.reader)
        let ofSecond = try group.member(admin: second.admin)
        for chain in [ofFirst.chain, ofSecond.chain, second.chain] { _ = try membership.admit(chain).get() }
        membership.note(name: "rita", of: ofFirst.nodeID)
        membership.note(name: "nobody", of: try group.member().nodeID)
        #expect(membership.member(ofFirst.nodeID)?.name == "rita")
        #expect(membership.member(ofFirst.nodeID)?.admittedBy == group.first.nodeID)
        #expect(membership.member(second.nodeID)?.isAdmin == true)
        #expect(membership.members.count == 3)
        _ = membership.take(try SignedStatement(.revocation(of: second.nodeID), by: group.root))
        _ = membership.take(try SignedStatement(.revocation(of: ofFirst.nodeID), by: group.admin, trust: group.trust))
        let copy = try Membership(trust: group.trust, encoded: membership.encoded)
        for membership in [membership, copy] {
            #expect(membership.member(second.nodeID)?.revocation == .itself(by: .root))
            #expect(membership.member(ofSecond.nodeID)?.revocation == .throughAdmin(second.nodeID))
            #expect(membership.member(ofFirst.nodeID)?.revocation == .itself(by: .admin(group.first.nodeID)))
            #expect(membership.isRevoked(ofSecond.nodeID) && !membership.isRevoked(group.first.nodeID))
            #expect(membership.member(ofFirst.nodeID)?.name == "rita")
        }
    }

    @Test func `a file of the first version is read`() throws {
        let member = try group.member(.reader, number: 4)
        let statement = try SignedStatement(.revocation(of: second.nodeID), by: group.root)
        var file = FieldWriter()
        file.write(fixed: Array("KM".utf8) + [1])
        file.write(count: 1)
        file.write(fixed: member.nodeID.bytes)
        file.write(byte: 1)
        file.write(number: 4)
        file.write(count: 1)
        file.write(string: statement.encoded)
        let read = try Membership(trust: group.trust, encoded: file.bytes)
        #expect(read.member(member.nodeID)?.role == .reader && read.highestNumber(of: member.nodeID) == 4)
        #expect(read.isRevoked(second.nodeID))
        // Who let it in is learnt when it shows its certificate.
        _ = try read.admit(member.chain).get()
        #expect(read.member(member.nodeID)?.admittedBy == group.first.nodeID)
    }

    @Test(arguments: [("19900101000000Z", "19910101000000Z"), ("90000101000000Z", "99991231235959Z")])
    func `certificates out of their dates are judged by their signatures alone`(from: String, to: String) throws {
        let member = try group.member {
            $0.notBefore = from
            $0.notAfter = to
        }
        #expect(try membership.admit(member.chain).get() == member.peer)
        _ = membership.take(try SignedStatement(.revocation(of: member.nodeID), by: group.root))
        #expect(membership.admit(member.chain) == .failure(.revoked(member.nodeID)))
    }
}
