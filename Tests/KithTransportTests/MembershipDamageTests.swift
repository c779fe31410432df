import KithDocument
import KithTestSupport
import Testing

@testable import KithTransport

/// Files of the group's members and of invites in which a byte is another.
@Suite struct MembershipDamageTests {
    let group: TestGroup
    let membership: Membership

    init() throws {
        group = try TestGroup()
        membership = Membership(trust: group.trust)
        for member in try [group.member(), group.member(.reader)] { _ = membership.admit(member.chain) }
        let statements = [
            try SignedStatement(.revocation(of: try group.member().nodeID), by: group.root),
            try SignedStatement(.revocation(of: try group.member().nodeID), by: group.admin, trust: group.trust),
            try SignedStatement(
                .policy(database: "notes", number: 3, json: Array(#"{"default":"manual"}"#.utf8)), by: group.admin,
                trust: group.trust),
        ]
        for statement in statements { _ = membership.take(statement) }
    }

    @Test func `no flipped bit is read as another member`() throws {
        let whole = membership.encoded
        for place in stride(from: 3, to: whole.count, by: 5) {
            var bytes = whole
            bytes[place] ^= 1 << UInt8(place % 8)
            #expect(throws: TransportError.self, "byte \(place)") { try Membership(trust: group.trust, encoded: bytes) }
        }
    }

    @Test func `every statement but the damaged one is taken out of the file`() throws {
        let whole = membership.encoded
        let known = Set(membership.snapshot.statements)
        for place in stride(from: 0, to: whole.count, by: 41) {
            var bytes = whole
            bytes[place] ^= 0x10
            let salvaged = Membership(trust: group.trust)
            let count = salvaged.salvage(bytes)
            let found = Set(salvaged.snapshot.statements)
            #expect(count >= known.count - 1 && found.isSubset(of: known), "byte \(place): \(count)")
            #expect(salvaged.isAll(of: bytes) ? found == known : true, "byte \(place)")
        }
        // Cut short, and put together of two halves.
        let cut = Membership(trust: group.trust)
        #expect(cut.salvage(Array(whole.prefix(whole.count / 2))) < known.count)
        #expect(!cut.isAll(of: Array(whole.prefix(whole.count / 2))))
        let checksum = Membership(trust: group.trust)
        var bytes = whole
        bytes[bytes.count - 1] ^= 1
        #expect(checksum.salvage(bytes) == known.count && checksum.isAll(of: bytes))
        #expect(checksum.members.allSatisfy { $0.admittedBy == nil }, "what is not signed is not taken")
    }

    @Test func `a file with one more statement holds it, and nothing was taken in`() throws {
        let statement = try SignedStatement(
            .policy(database: "notes", number: 4, json: Array(#"{"default":"latest"}"#.utf8)), by: group.admin,
            trust: group.trust)
        let (before, count) = (membership.encoded, membership.changeCount)
        let bytes = try #require(membership.encoded(adding: statement))
        #expect(membership.encoded == before && membership.changeCount == count)
        let read = try Membership(trust: group.trust, encoded: bytes)
        #expect(read.policy(of: "notes")?.number == 4 && membership.policy(of: "notes")?.number == 3)
        #expect(read.members == membership.members)
        #expect(!membership.take(statement).isEmpty)
        #expect(membership.encoded == bytes)
        #expect(membership.encoded(adding: statement) == nil, "it would change nothing")
    }

    @Test func `statements of another group are none`() throws {
        let other = try TestGroup()
        let stranger = Membership(trust: other.trust)
        #expect(stranger.salvage(membership.encoded) == 0 && stranger.snapshot.statements.isEmpty)
    }

    @Test func `one alone is let in while its word is awaited, and the revoked never`() throws {
        let (one, two) = (try group.member(), try group.member())
        membership.awaited = one.nodeID
        #expect((try? membership.admit(one.chain).get()) != nil)
        #expect(membership.admit(two.chain) == .failure(.notHeardYet))
        _ = membership.take(try SignedStatement(.revocation(of: one.nodeID), by: group.root))
        #expect(membership.admit(one.chain) == .failure(.revoked(one.nodeID)))
        membership.awaited = nil
        #expect((try? membership.admit(two.chain).get()) != nil)
    }

    @Test func `no flipped bit is read as another invite`() throws {
        var book = InviteBook()
        let code = InviteCode.create(for: group.trust)
        try book.open(code, id: 7, role: .reader, expiresAt: 5_000, now: 0)
        for place in 3..<book.encoded.count {
            var bytes = book.encoded
            bytes[place] ^= 1
            #expect(throws: TransportError.self, "byte \(place)") { try InviteBook(encoded: bytes) }
        }
    }
}
