import KithCrypto
import KithDocument
import KithTestSupport
import Testing

@testable import KithTransport

@Suite struct MembershipTests {
    let group: TestGroup

    init() throws { group = try TestGroup() }

    private func refusal(_ chain: [Certificate]) -> Refusal? {
        do throws(Refusal) {
            _ = try group.trust.verify(chain)
            return nil
        } catch { return error }
    }

    @Test(arguments: Role.allCases.filter { $0 < .admin })
    func `a member is who its certificates say`(role: Role) throws {
        let member = try group.member(role, number: 12)
        #expect(
            try group.trust.verify(member.chain)
                == PeerIdentity(nodeID: member.nodeID, role: role, number: 12, admittedBy: group.first.nodeID))
        #expect(member.nodeID.bytes == SHA256.hash(try member.key.publicKeyInfo()).bytes)
        #expect(!member.peer.isAdmin && group.first.peer.isAdmin)
    }

    @Test func `an admin can't make admins`() throws {
        let key = try PrivateKey.generate()
        let certificate = try group.admin.issueNode(publicKeyInfo: try key.publicKeyInfo(), role: .admin, number: 2)
        #expect(refusal([certificate, group.admin.certificate]) == .roleNotGranted)
        // Nor an authority below itself.
        let template = CertificateTemplate(commonName: "Kith Admin", usage: .authority(pathLength: 0))
        let below = try Certificate.issued(
            template, publicKeyInfo: try key.publicKeyInfo(), issuer: group.admin.certificate,
            issuerKey: group.admin.key)
        let leafKey = try PrivateKey.generate()
        let leaf = try Certificate.issued(
            CertificateTemplate(commonName: "Kith Node", usage: .endEntity), publicKeyInfo: try leafKey.publicKeyInfo(),
            issuer: below, issuerKey: key)
        let longer = refusal([leaf, below, group.admin.certificate])
        guard case .notInGroup? = longer else {
            Issue.record("\(String(describing: longer))")
            return
        }
    }

    @Test func `certificates that don't make a member are refused`() throws {
        let key = try PrivateKey.generate()
        let info = try key.publicKeyInfo()
        #expect(refusal([]) == .noCertificate)
        // Signed by the root itself.
        let direct = try Certificate.issued(
            CertificateTemplate(commonName: "Kith Node", usage: .endEntity), publicKeyInfo: info,
            issuer: group.root.certificate, issuerKey: group.root.key)
        #expect(refusal([direct]) == .malformedCertificate("the chain is not node, admin, root"))
        #expect(
            refusal([group.admin.certificate]) == .malformedCertificate("the chain is not node, admin, root"))
        #expect(refusal([group.root.certificate]) != nil)
        // Without a role, and with roles that are damaged.
        for content in [nil, [], [4], [4, 11, 1, 1, 9, 0, 0, 0, 0, 0, 0, 0, 1], [4, 3, 1, 1, 2]] as [[UInt8]?] {
            let leaf = try group.admin.issueNode(publicKeyInfo: info, role: .writer, number: 1) {
                $0.extensions = content.map { [(Claims.identifier, $0)] } ?? []
            }
            guard case .malformedCertificate? = refusal([leaf, group.admin.certificate]) else {
                Issue.record("\(String(describing: content))")
                continue
            }
        }
    }

    @Test func `the root makes a second admin, whose nodes are members`() throws {
        let second = try group.secondAdmin()
        let member = try group.member(admin: second.admin)
        #expect(member.peer.admittedBy == second.nodeID)
        #expect(refusal(member.chain) == nil)
    }

    @Test func `of two certificates the higher number counts, of equal numbers the lower role`() throws {
        let node = try group.member().nodeID
        let seen: [(Role, UInt64)] = [(.writer, 3), (.reader, 3), (.admin, 2), (.writer, 1), (.writer, 3)]
        var random = SeededGenerator(seed: 3)
        for _ in 0..<20 {
            var registry = RoleRegistry()
            for (role, number) in random.shuffle(seen) { _ = registry.see(node, role: role, number: number) }
            #expect(registry[node] == RoleRegistry.Entry(role: .reader, number: 3))
        }
        var registry = RoleRegistry()
        let changed = (0..<2).map { _ in registry.see(node, role: .writer, number: 1).changed }
        #expect(changed == [true, false])
    }

    @Test func `a lowered role stays lowered when the old certificate is shown again`() throws {
        let membership = Membership(trust: group.trust)
        let key = try PrivateKey.generate()
        func chain(_ role: Role, _ number: UInt64) throws -> [Certificate] {
            [
                try group.admin.issueNode(publicKeyInfo: try key.publicKeyInfo(), role: role, number: number),
                group.admin.certificate,
            ]
        }
        let old = try chain(.writer, 1)
        #expect(try membership.admit(old).get().role == .writer)
        #expect(try membership.admit(try chain(.reader, 2)).get().role == .reader)
        let again = try membership.admit(old).get()
        #expect(again.role == .reader && again.number == 2)
        #expect(membership.highestNumber(of: again.nodeID) == 2)
        let copy = try Membership(trust: group.trust, encoded: membership.encoded)
        #expect(try copy.admit(old).get().role == .reader)
    }

    @Test func `what is known of the group survives the disk`() throws {
        let membership = Membership(trust: group.trust)
        let member = try group.member()
        _ = try membership.admit(member.chain).get()
        _ = membership.take(try SignedStatement(.revocation(of: member.nodeID), by: group.root))
        _ = membership.take(
            try SignedStatement(.policy(database: "notes", number: 2, json: [123, 125]), by: group.root))
        let copy = try Membership(trust: group.trust, encoded: membership.encoded)
        #expect(copy.encoded == membership.encoded)
        #expect(copy.admit(member.chain) == .failure(.revoked(member.nodeID)))
        #expect(copy.standing(of: member.peer) == nil)
        #expect(copy.policy(of: "notes")?.number == 2)
        for count in stride(from: 0, to: membership.encoded.count, by: 7) {
            #expect(throws: TransportError.self) {
                try Membership(trust: group.trust, encoded: Array(membership.encoded.prefix(count)))
            }
        }
    }

    @Test func `forged statements from a peer are counted and change nothing`() throws {
        let membership = Membership(trust: group.trust)
        let other = try TestGroup()
        let member = try group.member()
        let forged = try SignedStatement(.revocation(of: member.nodeID), by: other.root).encoded
        let changes = membership.take([forged, [], [1, 2, 3], [UInt8](repeating: 0, count: 200_000)])
        #expect(changes.isEmpty && changes.refused == 4)
        #expect(membership.revocations.isEmpty)
        let real = try SignedStatement(.revocation(of: member.nodeID), by: group.root).encoded
        #expect(membership.take([real]).revocations)
        #expect(membership.changeCount == 1)
        #expect(membership.take([real]).isEmpty, "what is known is no change")
        #expect(membership.changeCount == 1)
        #expect(membership.revocations == [real])
    }
}
