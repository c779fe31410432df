import KithCrypto
import KithDocument
import KithNetwork
import KithTestSupport
import Synchronization
import Testing

@testable import KithTransport

@Suite struct JoinTests {
    let group: TestGroup
    let office: Office

    /// An inviter with its listener, a clock that tests move and a disk that can fail.
    final class Office: Sendable {
        let desk: JoinDesk
        let listener: Listener
        let clock: Shared<Int64>
        let disk: Shared<[UInt8]?>
        let diskFails: Shared<Bool>
        let outcomes: Shared<[JoinDesk.Outcome]>

        var endpoint: Endpoint { Endpoint(host: "127.0.0.1", port: listener.port) }

        init(_ identity: Identity, book: InviteBook = InviteBook()) throws {
            let clock = Shared<Int64>(1_000_000)
            let disk = Shared<[UInt8]?>(nil)
            let diskFails = Shared(false)
            let outcomes = Shared<[JoinDesk.Outcome]>([])
            self.clock = clock
            self.disk = disk
            self.diskFails = diskFails
            self.outcomes = outcomes
            let membership = Membership(trust: identity.trust)
            let desk = JoinDesk(identity: identity, membership: membership, book: book, now: { clock.value }) {
                bytes throws(TransportError) in
                if diskFails.value { throw .system("writing invites", 28) }
                disk.change { $0 = bytes }
            }
            self.desk = desk
            listener = try Listener(
                Endpoint(host: "::", port: 0), orNextPort: false,
                context: try .member(identity, membership: membership, acceptsJoin: { desk.answersJoins })
            ) { connection, peer in
                guard case .applicant(let info) = peer else { return nil }
                return desk.handler(for: info, on: connection) { outcome in outcomes.change { $0.append(outcome) } }
            }
        }
    }

    init() throws {
        group = try TestGroup(name: "ward seven")
        office = try Office(group.first)
    }

    private func join(_ code: InviteCode, at office: Office? = nil) async throws -> Result<Identity, TransportError> {
        let endpoint = (office ?? self.office).endpoint
        return try await withCheckedThrowingContinuation { continuation in
            do {
                try Joiner.join(code, at: endpoint, nodeName: "new") { continuation.resume(returning: $0) }
            } catch { continuation.resume(throwing: error) }
        }
    }

    private func error(_ result: Result<Identity, TransportError>) -> TransportError? {
        if case .failure(let error) = result { error } else { nil }
    }

    @Test(arguments: Role.allCases)
    func `a code makes a node a member with the role it was made for`(role: Role) async throws {
        let code = try office.desk.invite(role: role, validMilliseconds: 60_000, root: group.root)
        let identity = try await join(try InviteCode(code.text)).get()
        #expect(identity.role == role && identity.groupName == "ward seven" && identity.nodeName == "new")
        #expect(identity.trust == group.trust)
        #expect(identity.peer.isAdmin == (role == .admin))
        #expect(office.outcomes.value == [.admitted(identity.nodeID, role)])
        #expect(error(try await join(code)) == .joinRefused(.used))

        // It is let in as a member, and an admin can admit others.
        let server = try TestServer(try .member(group.first))
        let recorder = Recorder()
        let client = try Connection.dial(server.endpoint, try .member(identity)) { recorder.handle($0, $1) }
        #expect(await server.recorder.wait { $0.peer != nil }?.peer == .member(identity.peer))
        client.close()
        guard role == .admin else { return }
        let second = try Office(identity)
        let other = try await join(try second.desk.invite(role: .writer, validMilliseconds: 60_000), at: second).get()
        #expect(try group.trust.verify(other.chain).admittedBy == identity.nodeID)
    }

    @Test func `a joined identity is written whole and read back`() async throws {
        let directory = TemporaryDirectory()
        let store = IdentityStore(directory: directory.path)
        let code = try office.desk.invite(role: .writer, validMilliseconds: 60_000)
        let identity = try await join(code).get()
        try store.create(identity)
        #expect(try store.load().peer == identity.peer)
        #expect(directory.names == ["identity.pem", "membership"])
    }

    @Test func `five wrong secrets burn the invite`() async throws {
        let code = try office.desk.invite(role: .writer, validMilliseconds: 60_000)
        for _ in 0..<5 {
            #expect(error(try await join(.create(for: group.trust))) == .joinRefused(.unknown))
        }
        #expect(error(try await join(code)) == .joinRefused(.burnt))
    }

    @Test func `an expired code says so`() async throws {
        let code = try office.desk.invite(role: .writer, validMilliseconds: 60_000)
        office.clock.change { $0 += 60_000 }
        #expect(error(try await join(code)) == .joinRefused(.expired))
    }

    @Test(arguments: [("19900101000000Z", "19910101000000Z"), ("90000101000000Z", "99991231235959Z")])
    func `an inviter whose certificate is out of its dates lets others in`(from: String, to: String) async throws {
        let key = try PrivateKey.generate()
        let adminKey = try PrivateKey.generate()
        let info = try key.publicKeyInfo()
        let admin = try group.root.makeAdmin(node: Identity.nodeID(ofPublicKeyInfo: info), key: adminKey, number: 1)
        let certificate = try admin.issueNode(publicKeyInfo: info, role: .admin, number: 1) {
            $0.notBefore = from
            $0.notAfter = to
        }
        let inviter = try Identity(
            groupName: "ward seven", nodeName: "old", key: key, certificate: certificate, issuer: admin.certificate,
            root: group.root.certificate, adminKey: adminKey)
        let office = try Office(inviter)
        let code = try office.desk.invite(role: .writer, validMilliseconds: 60_000)
        #expect(try await join(code, at: office).get().peer.admittedBy == inviter.nodeID)
    }

    @Test func `a code of another group is not shown to this one`() async throws {
        _ = try office.desk.invite(role: .writer, validMilliseconds: 60_000)
        let other = try TestGroup()
        #expect(error(try await join(.create(for: other.trust))) == .refused(.wrongGroup))
        #expect(office.outcomes.value.isEmpty)
        #expect(await eventually { office.listener.counters.strangers == 1 })
    }

    @Test func `without an open invite nobody is listened to`() async throws {
        #expect(error(try await join(.create(for: group.trust))) == .refused(.noInviteOpen))
    }

    @Test func `an impostor that shows the group's certificates without their key gets no proof`() async throws {
        let stolen = group.first.chain
        let key = try PrivateKey.generate()
        let own = try Certificate.selfSigned(CertificateTemplate(commonName: "Kith Node", usage: .endEntity), key: key)
        let recorder = Recorder()
        let context = try TLSContext(
            TLSConfiguration(
                chain: [own] + stolen, key: key, asksFor: nil, accepts: { _ in true },
                judge: { _, _ in .success(.applicant(publicKeyInfo: [])) }))
        let listener = try Listener(Endpoint(host: "127.0.0.1", port: 0), orNextPort: false, context: context) { _, _ in
            recorder.handle
        }
        let result: Result<Identity, TransportError> = try await withCheckedThrowingContinuation { continuation in
            do {
                try Joiner.join(
                    .create(for: group.trust), at: Endpoint(host: "127.0.0.1", port: listener.port), nodeName: "new"
                ) { continuation.resume(returning: $0) }
            } catch { continuation.resume(throwing: error) }
        }
        guard case .refused(.notInGroup)? = error(result) else {
            Issue.record("\(result)")
            return
        }
        #expect(recorder.now.count == 0)
    }

    @Test func `invites outlive a restart; an admin's needs the root again`() async throws {
        let writer = try office.desk.invite(role: .writer, validMilliseconds: 60_000)
        let admin = try office.desk.invite(role: .admin, validMilliseconds: 60_000, root: group.root)
        let book = try InviteBook(encoded: try #require(office.disk.value))
        let again = try Office(group.first, book: book)
        #expect(try await join(writer, at: again).get().role == .writer)
        #expect(error(try await join(admin, at: again)) == .joinRefused(.cannotIssue))
        #expect(error(try await join(writer, at: again)) == .joinRefused(.used))
    }

    @Test func `a code is not used up while that can't be written`() async throws {
        let code = try office.desk.invite(role: .writer, validMilliseconds: 60_000)
        office.diskFails.change { $0 = true }
        #expect(error(try await join(code)) == .joinRefused(.storage))
        #expect(throws: TransportError.self) { try office.desk.invite(role: .writer, validMilliseconds: 60_000) }
        office.diskFails.change { $0 = false }
        #expect(try await join(code).get().role == .writer)
    }

    @Test func `only an admin invites, and admins only with the root of their group`() async throws {
        let desk = try Office(try group.member())
        #expect(throws: TransportError.identity("only an admin can invite; this node is a writer")) {
            try desk.desk.invite(role: .writer, validMilliseconds: 60_000, root: group.root)
        }
        // With the root any member will do.
        let code = try desk.desk.invite(role: .admin, validMilliseconds: 60_000, root: group.root)
        #expect(try await join(code, at: desk).get().peer.isAdmin)
        #expect(throws: TransportError.self) { try office.desk.invite(role: .admin, validMilliseconds: 1) }
        let other = try TestGroup()
        #expect(throws: TransportError.self) {
            try office.desk.invite(role: .admin, validMilliseconds: 1, root: other.root)
        }
    }

    @Test func `an applicant that sends nonsense is refused, and the invite stays open`() async throws {
        let code = try office.desk.invite(role: .writer, validMilliseconds: 60_000)
        let key = try PrivateKey.generate()
        let messages: [[UInt8]] = [
            JoinFraming.frame([1, 2, 3]), [0xff, 0xff, 0xff, 0xff], [UInt8](repeating: 0, count: 200_000),
            JoinFraming.frame(Array("KJ".utf8) + [1]) + [0],
        ]
        for message in messages {
            let recorder = Recorder { connection, event in
                if case .finished = event { connection.finish() }
            }
            let client = try Connection.dial(
                office.endpoint, try TLSContext(.joiner(key: key, shortFingerprint: group.trust.shortFingerprint))
            ) { recorder.handle($0, $1) }
            client.send(message)
            #expect(await recorder.ending() != nil)
            // At most a refusal came back.
            #expect(recorder.now.count <= 16)
        }
        #expect(try await join(code).get().role == .writer)
    }
}
