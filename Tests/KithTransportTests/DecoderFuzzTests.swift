import KithDocument
import KithTestSupport
import Testing

@testable import KithTransport

/// Whatever comes from outside is read or refused; nothing traps, and what is read is written back as it was.
@Suite struct DecoderFuzzTests {
    static let seed = UInt64.random(in: 0..<UInt64.max)

    private func mutate(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0...random.below(4) {
            switch random.below(5) {
            case 0 where !bytes.isEmpty: bytes[random.below(bytes.count)] = UInt8(random.below(256))
            case 1 where !bytes.isEmpty: bytes.remove(at: random.below(bytes.count))
            case 2: bytes.insert(UInt8(random.below(256)), at: random.below(bytes.count + 1))
            case 3 where !bytes.isEmpty: bytes.removeLast(random.below(bytes.count))
            default: bytes.append(contentsOf: bytes.prefix(random.below(bytes.count + 1)))
            }
        }
        return bytes
    }

    private func fuzz(_ samples: [[UInt8]], rounds: Int, _ decode: ([UInt8]) throws -> [UInt8]) {
        var random = SeededGenerator(seed: Self.seed)
        print("seed \(Self.seed)")
        for round in 0..<rounds {
            let bytes = mutate(random.pick(samples), &random)
            guard let again = try? decode(bytes) else { continue }
            #expect(again == bytes, "seed \(Self.seed), round \(round)")
        }
    }

    @Test func `statements`() throws {
        let group = try TestGroup()
        let samples = [
            try SignedStatement(.revocation(of: group.first.nodeID), by: group.root).encoded,
            try SignedStatement(
                .policy(database: "notes", number: 3, json: [123, 125]), by: group.admin, trust: group.trust
            ).encoded,
        ]
        fuzz(samples, rounds: 5_000) { bytes in
            let statement = try SignedStatement(encoded: bytes, trust: group.trust)
            #expect(samples.contains(bytes), "a forged statement was taken, seed \(Self.seed)")
            return statement.encoded
        }
    }

    @Test func `messages of a join`() throws {
        let request = JoinRequest(proof: [UInt8](repeating: 1, count: 32), adminPublicKeyInfo: [1, 2, 3])
        let answers: [JoinAnswer] =
            [
                .node(groupName: "ward", certificate: [1, 2], issuer: [3]),
                .admin(groupName: "ward", certificate: [1, 2], number: 7),
            ] + JoinRefusal.allCases.map { .refused($0) }
        #expect(try JoinRequest(encoded: request.encoded) == request)
        for answer in answers { #expect(try JoinAnswer(encoded: answer.encoded) == answer) }
        fuzz([request.encoded], rounds: 20_000) { try JoinRequest(encoded: $0).encoded }
        fuzz(answers.map(\.encoded), rounds: 20_000) { try JoinAnswer(encoded: $0).encoded }
    }

    @Test func `a message of a join split at every byte comes out once`() throws {
        let message = JoinRequest(proof: [UInt8](repeating: 1, count: 32), adminPublicKeyInfo: [1, 2, 3]).encoded
        let frame = JoinFraming.frame(message)
        for cut in 0...frame.count {
            var framing = JoinFraming()
            let first = try Array(frame[..<cut]).withUnsafeBytes { bytes in try Result { try framing.take(bytes) }.get()
            }
            #expect((first != nil) == (cut == frame.count))
            guard first == nil else { continue }
            let second = try Array(frame[cut...]).withUnsafeBytes { bytes in
                try Result { try framing.take(bytes) }.get()
            }
            #expect(second == message)
        }
    }

    @Test func `the files of invites and members`() throws {
        let group = try TestGroup()
        var book = InviteBook()
        try book.open(.create(for: group.trust), id: 1, role: .reader, expiresAt: 5, now: 0)
        try book.open(.create(for: group.trust), id: 2, role: .admin, expiresAt: 9, now: 0)
        fuzz([book.encoded], rounds: 20_000) { try InviteBook(encoded: $0).encoded }
        let membership = Membership(trust: group.trust)
        _ = try membership.admit(group.first.chain).get()
        _ = membership.take(try SignedStatement(.revocation(of: group.first.nodeID), by: group.root))
        var random = SeededGenerator(seed: Self.seed)
        for _ in 0..<3_000 {
            // What is refused inside it is dropped, so it need not come out as it went in.
            _ = try? Membership(trust: group.trust, encoded: mutate(membership.encoded, &random))
        }
    }

    @Test func `invite codes`() throws {
        let code = InviteCode.create(for: try TestGroup().trust)
        var random = SeededGenerator(seed: Self.seed)
        for round in 0..<20_000 {
            let text = String(decoding: mutate(Array(code.text.utf8), &random), as: UTF8.self)
            guard let read = try? InviteCode(text) else { continue }
            // One check character lets one in 32 of the worst through; what it reads is still a code.
            #expect(try InviteCode(read.text) == read, "seed \(Self.seed), round \(round)")
        }
    }

    @Test func `roles in certificates`() {
        let claims: [Claims] = [
            .node(role: .writer, number: .max),
            .admin(node: NodeID(bytes: [UInt8](repeating: 3, count: 32))!, number: 0),
        ]
        for claim in claims { #expect(try! Claims(content: claim.content) == claim) }
        fuzz(claims.map(\.content), rounds: 20_000) { try Claims(content: $0).content }
    }
}
