import KithDocument
import Testing

@testable import KithTransport

@Suite struct InviteBookTests {
    let trust: GroupTrust
    let node = NodeID(bytes: [UInt8](repeating: 7, count: 32))!
    let exported = [UInt8](repeating: 3, count: 32)
    var book = InviteBook()

    init() throws { trust = try TestGroup().trust }

    private func proof(_ code: InviteCode, exported: [UInt8]? = nil, node: NodeID? = nil) -> [UInt8] {
        InviteProof.make(
            verifier: InviteProof.verifier(ofSecret: code.secret), exported: exported ?? self.exported,
            node: node ?? self.node)
    }

    private mutating func refusal(_ proof: [UInt8], now: Int64) -> JoinRefusal? {
        do throws(JoinRefusal) {
            _ = try book.redeem(proof: proof, exported: exported, node: node, now: now)
            return nil
        } catch { return error }
    }

    @Test mutating func `an invite is used once`() throws {
        let code = InviteCode.create(for: trust)
        try book.open(code, id: 1, role: .reader, expiresAt: 1_000, now: 0)
        #expect(book.hasOpen(now: 0))
        #expect(try book.redeem(proof: proof(code), exported: exported, node: node, now: 10).role == .reader)
        #expect(!book.hasOpen(now: 10))
        #expect(refusal(proof(code), now: 20) == .used)
    }

    @Test mutating func `an invite expires at its time, and its code says so for a day`() throws {
        let code = InviteCode.create(for: trust)
        try book.open(code, id: 1, role: .writer, expiresAt: 1_000, now: 0)
        #expect(book.hasOpen(now: 999) && !book.hasOpen(now: 1_000))
        #expect(book.answersJoins(now: 1_000))
        #expect(refusal(proof(code), now: 1_000) == .expired)
        let day = TransportLimits.closedInviteMilliseconds
        #expect(book.answersJoins(now: 999 + day) && !book.answersJoins(now: 1_000 + day))
        #expect(refusal(proof(code), now: 1_000 + day) == .unknown)
        #expect(book.invites.isEmpty)
    }

    @Test mutating func `five wrong proofs burn every open invite`() throws {
        let code = InviteCode.create(for: trust)
        let wrong = InviteCode.create(for: trust)
        try book.open(code, id: 1, role: .writer, expiresAt: 1_000, now: 0)
        for _ in 0..<4 { #expect(refusal(proof(wrong), now: 1) == .unknown) }
        #expect(book.hasOpen(now: 1))
        #expect(refusal(proof(wrong), now: 1) == .unknown)
        #expect(!book.hasOpen(now: 1))
        #expect(refusal(proof(code), now: 2) == .burnt)
        let later = InviteCode.create(for: trust)
        try book.open(later, id: 2, role: .writer, expiresAt: 1_000, now: 3)
        #expect(refusal(proof(code), now: 4) == .burnt, "a burnt code counts against no other")
        #expect(refusal(proof(later), now: 4) == nil)
    }

    @Test mutating func `a proof holds for its connection and its key alone`() throws {
        let code = InviteCode.create(for: trust)
        let other = NodeID(bytes: [UInt8](repeating: 8, count: 32))!
        try book.open(code, id: 1, role: .writer, expiresAt: 1_000, now: 0)
        #expect(refusal(proof(code, exported: [UInt8](repeating: 4, count: 32)), now: 1) == .unknown)
        #expect(refusal(proof(code, node: other), now: 1) == .unknown)
        #expect(refusal([], now: 1) == .unknown)
        #expect(refusal(proof(code), now: 1) == nil)
    }

    @Test mutating func `the number of invites is bounded, and closed ones make room`() throws {
        let first = InviteCode.create(for: trust)
        try book.open(first, id: 0, role: .writer, expiresAt: 1_000, now: 0)
        #expect(refusal(proof(first), now: 0) == nil)
        for id in 1...TransportLimits.invites {
            try book.open(InviteCode.create(for: trust), id: UInt64(id), role: .writer, expiresAt: 1_000, now: 0)
        }
        #expect(book.invites.count == TransportLimits.invites)
        #expect(throws: TransportError.self) {
            var book = book
            try book.open(InviteCode.create(for: trust), id: 99, role: .writer, expiresAt: 1_000, now: 0)
        }
        try book.open(InviteCode.create(for: trust), id: 99, role: .writer, expiresAt: 5_000, now: 2_000)
    }

    @Test mutating func `the book survives the disk without the secrets`() throws {
        let code = InviteCode.create(for: trust)
        try book.open(code, id: 1, role: .admin, expiresAt: .max, now: .min)
        try book.open(InviteCode.create(for: trust), id: 2, role: .writer, expiresAt: -5, now: -10)
        _ = refusal(proof(InviteCode.create(for: trust)), now: 0)
        let copy = try InviteBook(encoded: book.encoded)
        #expect(copy == book)
        #expect(!contains(book.encoded, code.secret))
        for count in 0..<book.encoded.count {
            #expect(throws: TransportError.self) { try InviteBook(encoded: Array(book.encoded.prefix(count))) }
        }
    }

    private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        bytes.indices.contains { bytes[$0...].starts(with: part) }
    }
}
