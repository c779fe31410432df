import KithCrypto
import KithDocument
import KithTestSupport
import Testing

@testable import KithTransport

@Suite struct StatementTests {
    let group: TestGroup
    let second: Identity

    init() throws {
        group = try TestGroup()
        second = try group.secondAdmin()
    }

    private func policy(_ number: UInt64, _ text: String = "{}", by admin: GroupAdmin? = nil) throws -> SignedStatement
    {
        try SignedStatement(
            .policy(database: "notes", number: number, json: Array(text.utf8)), by: admin ?? group.admin,
            trust: group.trust)
    }

    @Test func `statements of the root and of admins survive the wire`() throws {
        let node = try group.member().nodeID
        let statements = [
            try SignedStatement(.revocation(of: node), by: group.root),
            try SignedStatement(.revocation(of: node), by: group.admin, trust: group.trust),
            try policy(3, #"{"default":"manual"}"#),
        ]
        for statement in statements {
            #expect(try SignedStatement(encoded: statement.encoded, trust: group.trust) == statement)
        }
        #expect(statements[0].signer == .root)
        #expect(statements[1].signer == .admin(group.first.nodeID))
        #expect(try policy(3, #"{"default":"manual"}"#) == statements[2], "one statement has one encoding")
    }

    @Test func `a statement of another group is refused`() throws {
        let other = try TestGroup()
        let node = try group.member().nodeID
        let statement = try SignedStatement(.revocation(of: node), by: other.admin, trust: other.trust)
        let byRoot = try SignedStatement(.revocation(of: node), by: other.root)
        for statement in [statement, byRoot] {
            #expect(throws: TransportError.self) { try SignedStatement(encoded: statement.encoded, trust: group.trust) }
        }
    }

    @Test func `a node that is no admin can't sign`() throws {
        let member = try group.member()
        // A statement that shows a node's certificate, signed by the node's key.
        let node = try #require(NodeID(bytes: [UInt8](repeating: 1, count: 32)))
        var body = FieldWriter()
        body.write(fixed: Array("KS".utf8) + [1, 1])
        body.write(string: node.bytes)
        body.write(string: member.certificate.der)
        body.write(string: try member.key.sign([1, 2, 3]))
        #expect(throws: TransportError.self) { try SignedStatement(encoded: body.bytes, trust: group.trust) }
    }

    @Test func `no damaged statement is taken for a whole one`() throws {
        let statement = try policy(7, #"{"default":"latest"}"#)
        for count in 0..<statement.encoded.count {
            #expect(throws: TransportError.self) {
                try SignedStatement(encoded: Array(statement.encoded.prefix(count)), trust: group.trust)
            }
        }
        #expect(throws: TransportError.self) {
            try SignedStatement(encoded: statement.encoded + [0], trust: group.trust)
        }
        for index in statement.encoded.indices {
            var forged = statement.encoded
            forged[index] ^= 0x01
            #expect(throws: TransportError.self, "byte \(index)") {
                try SignedStatement(encoded: forged, trust: group.trust)
            }
        }
        #expect(throws: TransportError.self) {
            try SignedStatement(
                encoded: [UInt8](repeating: 0, count: TransportLimits.statementBytes + 1), trust: group.trust)
        }
    }

    @Test func `a policy's name and size are bounded`() throws {
        for (name, size) in [
            ("", 2), (String(repeating: "a", count: 239), 2), ("notes", TransportLimits.policyBytes + 1),
        ] {
            #expect(throws: TransportError.self) {
                try SignedStatement(
                    .policy(database: name, number: 1, json: [UInt8](repeating: 32, count: size)), by: group.root)
            }
        }
    }

    @Test func `an admin revokes nodes and no admin; the root revokes anyone, and all whom an admin signed`() throws {
        let member = try group.member()
        let other = try group.member()
        let ofSecond = try group.member(admin: second.admin)
        var list = RevocationList()
        let isNew1 = list.insert(
            try SignedStatement(.revocation(of: member.nodeID), by: group.admin, trust: group.trust))
        #expect(isNew1)
        #expect(list.revokes(member.peer) && !list.revokes(other.peer))

        let isNew2 = list.insert(
            try SignedStatement(.revocation(of: second.nodeID), by: group.admin, trust: group.trust))
        #expect(isNew2)
        #expect(!list.revokes(second.peer) && !list.revokes(ofSecond.peer))

        let isNew3 = list.insert(try SignedStatement(.revocation(of: second.nodeID), by: group.root))
        #expect(isNew3)
        #expect(list.revokes(second.peer) && list.revokes(ofSecond.peer))
        #expect(!list.revokes(group.first.peer) && !list.revokes(other.peer))
        #expect(list.revokes(admin: second.nodeID) && !list.revokes(admin: group.first.nodeID))
    }

    @Test func `a revocation outlives its signer`() throws {
        let member = try group.member()
        let byAdmin = try SignedStatement(
            .revocation(of: member.nodeID), by: #require(second.admin), trust: group.trust)
        let ofAdmin = try SignedStatement(.revocation(of: second.nodeID), by: group.root)
        for order in [[byAdmin, ofAdmin], [ofAdmin, byAdmin]] {
            var list = RevocationList()
            for statement in order { _ = list.insert(statement) }
            #expect(list.revokes(member.peer))
        }
    }

    @Test func `lists that took the same statements in any order are equal`() throws {
        var random = SeededGenerator(seed: 5)
        var statements: [SignedStatement] = []
        for _ in 0..<10 {
            let node = try group.member().nodeID
            statements.append(try SignedStatement(.revocation(of: node), by: group.root))
            statements.append(try SignedStatement(.revocation(of: node), by: group.admin, trust: group.trust))
        }
        var encoded: [[UInt8]]?
        for _ in 0..<5 {
            var list = RevocationList()
            let added = random.shuffle(statements).map { list.insert($0) }
            #expect(added.allSatisfy { $0 })
            let again = statements.map { list.insert($0) }
            #expect(!again.contains(true))
            #expect(encoded == nil || list.encoded == encoded)
            encoded = list.encoded
        }
        #expect(encoded?.count == 20)
    }

    @Test func `the policy with the highest number counts, whatever came first`() throws {
        let statements = [
            try policy(1, "1"), try policy(5, "5"), try policy(3, "3", by: second.admin),
            try policy(5, "5 again", by: second.admin),
        ]
        var results: Set<[UInt8]> = []
        var random = SeededGenerator(seed: 6)
        for _ in 0..<10 {
            var book = PolicyBook()
            for statement in random.shuffle(statements) { _ = book.insert(statement) }
            #expect(book.policy(of: "notes", revocations: RevocationList())?.number == 5)
            results.insert(try #require(book.policy(of: "notes", revocations: RevocationList())).json)
        }
        #expect(results.count == 1)
    }

    @Test func `a statement that was verified once is not verified for each link, also where it changed nothing`()
        throws
    {
        let membership = Membership(trust: group.trust)
        let newer = try policy(5, "5").encoded
        let older = try policy(1, "1").encoded
        #expect(membership.take([newer]).policies == ["notes"])
        #expect(membership.take([older]).isEmpty)
        #expect(membership.verify([newer, older]).count == 0)
        // A forged one is turned down each time.
        var forged = older
        forged[forged.count - 1] ^= 1
        for _ in 0..<2 { #expect(membership.take([forged]).refused == 1) }
    }

    @Test func `verified statements are remembered within a bound, those of late first`() {
        var verified = VerifiedStatements(bound: 10)
        let hashes = (0..<100).map { SHA256.hash([UInt8($0)]) }
        for hash in hashes {
            verified.insert(hash)
            #expect(verified.count <= 20)
            // What is asked for again and again stays.
            let isKept = verified.contains(hashes[0])
            #expect(isKept)
        }
        let isLate = hashes.suffix(5).allSatisfy { verified.contains($0) }
        #expect(isLate)
        let isOld = verified.contains(hashes[50])
        #expect(!isOld)
    }

    @Test func `the policies of a revoked admin count no more`() throws {
        let membership = Membership(trust: group.trust)
        #expect(membership.take(try policy(1, "first")).policies == ["notes"])
        #expect(membership.take(try policy(.max, "hostile", by: second.admin)).policies == ["notes"])
        #expect(membership.policy(of: "notes")?.json == Array("hostile".utf8))
        let changes = membership.take(try SignedStatement(.revocation(of: second.nodeID), by: group.root))
        #expect(changes.revocations && changes.policies == ["notes"])
        #expect(membership.policy(of: "notes")?.json == Array("first".utf8))
        // What nobody but a revoked admin said is told from what nobody said.
        _ = membership.take(
            try SignedStatement(
                .policy(database: "plans", number: 1, json: []), by: #require(second.admin), trust: group.trust))
        #expect(membership.policy(of: "plans") == nil && membership.hasPolicies(of: "plans"))
        #expect(!membership.hasPolicies(of: "others"))
    }
}
