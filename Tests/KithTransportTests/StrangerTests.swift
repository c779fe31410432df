import Glibc
import KithCrypto
import KithDocument
import KithNetwork
import KithTestSupport
import Testing

@testable import KithTransport

@Suite struct StrangerTests {
    let group: TestGroup

    init() throws { group = try TestGroup(name: "ward seven") }

    /// What a stranger of this kind shows.
    private func configuration(chain: [Certificate], key: PrivateKey?, asksFor: LinkProtocol?) -> TLSConfiguration {
        TLSConfiguration(
            chain: chain, key: key, asksFor: asksFor, accepts: { _ in false },
            judge: { _, _ in .success(.applicant(publicKeyInfo: [])) })
    }

    /// The stranger connects, sends, and gets no byte of the application; the server counts it and closes.
    private func expectNothing(
        _ configuration: TLSConfiguration, refused: TransportError? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let refusals = Shared<[TransportError]>([])
        let listener = try Listener(
            Endpoint(host: "::1", port: 0), orNextPort: false, context: try .member(group.first),
            stranger: { _, error in refusals.change { $0.append(error) } }
        ) { _, _ in
            Issue.record("a stranger was let in", sourceLocation: sourceLocation)
            return nil
        }
        let recorder = Recorder()
        let client = try Connection.dial(
            Endpoint(host: "::1", port: listener.port), try TLSContext(configuration)
        ) { recorder.handle($0, $1) }
        client.send(Array("give me everything".utf8))
        let ending = await recorder.ending()
        #expect(recorder.now.count == 0, sourceLocation: sourceLocation)
        guard case .failed(let error)? = ending else {
            Issue.record("the stranger was not closed: \(String(describing: ending))", sourceLocation: sourceLocation)
            return
        }
        if let refused { #expect(error == refused, sourceLocation: sourceLocation) }
        #expect(await eventually { listener.counters.strangers == 1 }, sourceLocation: sourceLocation)
        #expect(await eventually { refusals.value.count == 1 }, sourceLocation: sourceLocation)
        #expect(await eventually { listener.pendingHandshakes == 0 }, sourceLocation: sourceLocation)
    }

    @Test func `a node of another group gets nothing, and is told that it is not in the group`() async throws {
        let other = try TestGroup().member()
        try await expectNothing(
            configuration(chain: other.chain, key: other.key, asksFor: .link), refused: .refusedByPeer(alert: 48))
    }

    @Test func `a self-signed certificate gets nothing`() async throws {
        let key = try PrivateKey.generate()
        for usage in [CertificateTemplate.Usage.endEntity, .authority(pathLength: 3)] {
            var template = CertificateTemplate(commonName: "Kith Node", usage: usage)
            template.extensions = [(Claims.identifier, Claims.node(role: .writer, number: 9).content)]
            let certificate = try Certificate.selfSigned(template, key: key)
            try await expectNothing(configuration(chain: [certificate], key: key, asksFor: .link))
            try await expectNothing(
                configuration(
                    chain: [certificate, group.admin.certificate, group.root.certificate], key: key, asksFor: .link))
        }
    }

    @Test func `no certificate gets nothing`() async throws {
        try await expectNothing(
            configuration(chain: [], key: nil, asksFor: .link), refused: .refusedByPeer(alert: 116))
    }

    @Test func `a member that asks for no protocol gets nothing`() async throws {
        let member = try group.member()
        try await expectNothing(configuration(chain: member.chain, key: member.key, asksFor: nil))
    }

    @Test func `a join gets nothing while no invite is open`() async throws {
        let key = try PrivateKey.generate()
        try await expectNothing(
            try .joiner(key: key, shortFingerprint: group.trust.shortFingerprint), refused: .refusedByPeer(alert: 120))
    }

    @Test func `the dialler refuses a server of another group`() async throws {
        let other = try TestGroup()
        let server = try TestServer(try .member(other.first))
        let recorder = Recorder()
        _ = try Connection.dial(server.endpoint, try .member(group.first)) { recorder.handle($0, $1) }
        guard case .failed(.refused(.notInGroup))? = await recorder.ending() else {
            Issue.record("\(String(describing: recorder.now.ending))")
            return
        }
        #expect(await eventually { server.listener.counters.strangers == 1 })
        #expect(server.recorder.now.peer == nil)
    }

    @Test func `the dialler refuses another node than it wants`() async throws {
        let server = try TestServer(try .member(group.first))
        let wanted = try group.member().nodeID
        let recorder = Recorder()
        _ = try Connection.dial(server.endpoint, try .member(try group.member()), expecting: wanted) {
            recorder.handle($0, $1)
        }
        #expect(await recorder.ending() == .failed(.refused(.wrongNode(group.first.nodeID))))
    }

    @Test(arguments: [("19900101000000Z", "19910101000000Z"), ("90000101000000Z", "99991231235959Z")])
    func `a certificate whose dates are over or to come is accepted`(from: String, to: String) async throws {
        let server = try TestServer(try .member(group.first))
        let member = try group.member {
            $0.notBefore = from
            $0.notAfter = to
        }
        let recorder = Recorder()
        let client = try Connection.dial(server.endpoint, try .member(member)) { recorder.handle($0, $1) }
        client.send([1, 2, 3])
        #expect(await server.recorder.wait { $0.bytes == [1, 2, 3] } != nil)
        #expect(server.recorder.now.peer == .member(member.peer))
        #expect(recorder.now.peer == .member(group.first.peer))
        client.close()
    }

    @Test func `a revoked member is told so and gets nothing`() async throws {
        let member = try group.member()
        let membership = Membership(trust: group.trust)
        _ = membership.take(try SignedStatement(.revocation(of: member.nodeID), by: group.admin, trust: group.trust))
        let server = try TestServer(try .member(group.first, membership: membership))
        let recorder = Recorder()
        _ = try Connection.dial(server.endpoint, try .member(member)) { recorder.handle($0, $1) }
        #expect(await recorder.ending() == .failed(.refusedByPeer(alert: 44)))
        #expect(server.recorder.now.peer == nil)
    }

    @Test func `a certificate shows no name of a host, a node or a group`() throws {
        var host = [CChar](repeating: 0, count: 256)
        gethostname(&host, host.count)
        let hostName = String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        for certificate in group.first.chain {
            let text = try certificate.text()
            #expect(!text.contains("ward") && !text.contains("first"))
            #expect(hostName.isEmpty || !text.contains(hostName))
            #expect(text.contains("2000") && text.contains("9999"), "dates that say nothing")
        }
    }

    @Test func `a stranger is closed within ten seconds`() {
        let limits = Connection.Timeouts()
        #expect(limits.handshakeMilliseconds + TransportLimits.joinServeMilliseconds < 10_000)
    }

    @Test(.enabled(if: Program.isThere("openssl")))
    func `openssl s_client prints no byte and is closed`() async throws {
        let server = try TestServer(try .member(group.first, acceptsJoin: { true }))
        for arguments in [[], ["-alpn", "kith/1"], ["-alpn", "kith-join/1"], ["-alpn", "h2"], ["-tls1_2"]] {
            let words = (["-connect", "127.0.0.1:\(server.listener.port)", "-quiet"] + arguments).joined(separator: " ")
            let run = try await Program.run(["sh", "-c", "exec openssl s_client \(words) 2> /dev/null"])
            #expect(run.text.isEmpty, "\(arguments)")
        }
        #expect(await eventually { server.listener.counters.strangers == 5 })
        #expect(server.recorder.now.peer == nil)
    }
}
