import Glibc
import KithDocument
import KithNetwork
import Testing

@testable import KithReplication
@testable import KithTransport

/// What members get who speak with their real certificates and do not keep the rules.
@Suite(.timeLimit(.minutes(10))) struct HostileMemberTests {
    private static let digest = Digest256(bytes: [UInt8](repeating: 7, count: 32))

    private static func entry(_ number: UInt64, _ name: String) -> DatabaseEntry {
        DatabaseEntry(
            number: number, name: name,
            state: DatabaseState(position: Position(timeline: 9, sequence: 5), digest: digest, documents: 5))
    }

    private static func refusals(_ node: TestNode) async throws -> [JSONValue] {
        try await node.status()["refusals"]?.array ?? []
    }

    @Test func aReaderThatOffersForgedEditsGetsNowhere() async throws {
        try await Lab.open(nodes: 3) { lab in
            let nodes = try await lab.group(2)
            let (admin, writer) = (nodes[0], nodes[1])
            let reader = lab.node("rita")
            try await reader.join(by: admin, role: "reader")
            try await nodes.makeDatabase("notes")
            try await admin.kith("put", "notes", "one", #"{"n":1}"#)
            let digest = try await nodes.settle("notes")
            let victim = try #require(NodeID(writer.id))

            // It names a database that nobody has, and documents that it would like to give; it says that the writer is
            // revoked, that the policy is another, and that it is a writer itself.
            let link = try HandDrivenLink(as: reader, to: admin)
            let own = link.identity.nodeID
            let lies = try [
                StatementContent.revocation(of: victim),
                .policy(database: "notes", number: 9, json: Array(#"{"default":"manual"}"#.utf8)),
                .role(of: own, role: .writer, number: 9),
            ].map { try forgedStatement($0, by: link.identity) }
            link.sayHello {
                $0.statements = lies
                $0.databases = [Self.entry(1, "notes"), Self.entry(2, "evil")]
            }
            try await link.roundTrip()
            #expect(link.goodbye == nil, "\(link.goodbye?.text ?? "")")
            let feeds = link.heard.filter { if case .open = $0 { true } else { false } }
            #expect(feeds.isEmpty, "documents are pulled from a reader")
            let told = try await eventually(within: 20) {
                try await Self.refusals(admin).contains {
                    $0["node"]?.string == own.description && $0["reason"]?.string?.contains("statements") == true
                }
            }
            #expect(told)

            // Edits nobody has asked for end the link, with a reason on both sides.
            let change = Change(
                sequence: 1, document: try DocumentID("one"),
                leaves: [
                    AnnouncedLeaf(id: RevisionID(generation: 9, digest: Digest128(high: 1, low: 2)), versionHash: nil)
                ])
            link.send(
                .changes(
                    Changes(
                        feed: 1, page: 1, through: Position(timeline: 9, sequence: 5), digest: Self.digest, latest: 5,
                        changes: [change])))
            let ended = try await eventually(within: 20) { link.goodbye?.code == .protocolError }
            #expect(ended, "\(String(describing: link.goodbye))")
            let shown = try await eventually(within: 20) {
                try await Self.refusals(admin).contains { $0["reason"]?.string?.contains("broke the protocol") == true }
            }
            #expect(shown)

            // Nothing of it came to anything.
            #expect(try await admin.kith("db", "list") == "notes")
            #expect(try await admin.kith("policy", "notes").contains("latest"))
            #expect(try await admin.database("notes")["digest"]?.string == digest)
            #expect(try await admin.seesInSync(writer))
            let members = try await admin.json("members", "--json")["members"]?.array ?? []
            #expect(!members.contains { $0["revoked"]?.bool == true })
            #expect(members.first { $0["id"]?.string == own.description }?["role"]?.string == "reader")
            // The real one is let in afterwards as if nothing had been.
            try await reader.start(peers: nodes)
            try await (nodes + [reader]).settle("notes")
            #expect(try await admin.peer(reader)["connected"]?.bool == true)
        }
    }

    @Test func aWriterThatIsMadeAReaderIsPulledNoMoreWhateverItSays() async throws {
        try await Lab.open(nodes: 3) { lab in
            let nodes = try await lab.group(2)
            let patched = lab.node("paul")
            try await patched.join(by: nodes[0])
            try await nodes.makeDatabase("notes")
            try await nodes.settle("notes")
            let link = try HandDrivenLink(as: patched, to: nodes[1])
            let own = link.identity.nodeID
            link.sayHello { $0.databases = [Self.entry(1, "notes")] }
            let pulled = try await eventually(within: 20) {
                link.heard.contains { if case .open = $0 { true } else { false } }
            }
            #expect(pulled, "documents are pulled from a writer")
            // The admin has not met it, and knows its id.
            try await nodes[0].kith("role", own.description, "reader")
            let ended = try await eventually(within: 50) { link.goodbye != nil }
            #expect(ended)
            let again = try HandDrivenLink(as: patched, to: nodes[1])
            again.sayHello { $0.databases = [Self.entry(1, "notes")] }
            try await again.roundTrip()
            #expect(!again.heard.contains { if case .open = $0 { true } else { false } })
            #expect(again.goodbye == nil, "a reader may still read")
            try await nodes.settleEach("notes")
        }
    }

    @Test func aPeerOfAnotherVersionIsRefusedWithBothRanges() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(1)
            let other = lab.node("ben")
            try await other.join(by: nodes[0])
            let link = try HandDrivenLink(as: other, to: nodes[0])
            link.sayHello { $0.versions = ProtocolVersions(7, 9) }
            let ended = try await eventually(within: 20) { link.goodbye?.code == .versionMismatch }
            #expect(ended)
            #expect(link.goodbye?.text.contains("7 to 9") == true)
            let peer = try await eventually(within: 20) {
                try await nodes[0].peer(other)["reason"]?.string?.contains("7 to 9") == true
            }
            #expect(peer)
            #expect(try await nodes[0].peer(other)["state"]?.string == "refused")
        }
    }

    @Test func aStolenWriterThatWasRevokedIsNotHeard() async throws {
        try await Lab.open(nodes: 3) { lab in
            let nodes = try await lab.group(2)
            let thief = lab.node("theo")
            try await thief.join(by: nodes[0])
            let link = try HandDrivenLink(as: thief, to: nodes[0])
            link.sayHello()
            try await link.roundTrip()
            try await nodes[0].kith("revoke", link.identity.nodeID.description, "--yes")
            let ended = try await eventually(within: 50) { link.goodbye?.code == .notTrusted }
            #expect(ended)
            // It is given the statement, so that it can see for itself.
            let proof = link.heard.flatMap { message -> [[UInt8]] in
                if case .statements(let statements) = message { statements } else { [] }
            }
            #expect(
                proof.contains { bytes in
                    let read = try? SignedStatement(encoded: bytes, trust: link.identity.trust)
                    return read?.content == .revocation(of: link.identity.nodeID)
                })
            let spread = try await eventually(within: 20) {
                try await nodes[1].json("members", "--json")["members"]?.array?.contains {
                    $0["id"]?.string == link.identity.nodeID.description && $0["revoked"]?.bool == true
                } == true
            }
            #expect(spread)
            for node in nodes {
                let again = try HandDrivenLink(as: thief, to: node)
                again.sayHello()
                let refused = try await eventually(within: 20) { again.ending != nil }
                #expect(refused && again.heard.isEmpty, "\(again.heard.count) messages")
                #expect(again.ending == .failed(.refusedByPeer(alert: TransportError.revokedAlert)))
                let shown = try await eventually(within: 20) {
                    try await Self.refusals(node).contains {
                        $0["node"]?.string == link.identity.nodeID.description
                            && $0["reason"]?.string?.hasPrefix("revoked") == true
                    }
                }
                #expect(shown, "\(node.name)")
            }
        }
    }

    @Test func twoGroupsAtOneAddressRefuseEachOtherAndSayWhy() async throws {
        try await Lab.open(nodes: 2) { lab in
            let (one, two) = (lab.node("ada"), lab.node("zoe"))
            try await one.found("here")
            try await one.start()
            try await two.found("there")
            try await two.start(peers: [one])
            for (node, by) in [(one, "peer"), (two, "this_node")] {
                let shown = try await eventually(within: 30) {
                    try await Self.refusals(node).contains {
                        $0["by"]?.string == by && $0["reason"]?.string?.contains("not in") == true
                    }
                }
                #expect(shown, "\(node.name)")
                #expect(try await node.run(["status"]).outputText.contains("refused lately"))
            }
            #expect(one.log.contains("refuse") && two.log.contains("refused"))
        }
    }

    @Test func whoSpeaksAnotherProtocolOrHasNoCodeIsNamedWithTheReason() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = try await lab.group(1)[0]
            let address = try #require(node.address)
            let stranger = try ChildProgram(
                ["s_client", "-quiet", "-connect", address, "-alpn", "h2"], of: "/usr/bin/openssl", in: lab.folder)
            _ = try await stranger.finish(within: 40)
            let other = lab.node("zoe")
            try await other.found("there")
            try await other.start()
            // A code of another group, at a node where nobody was invited.
            let joiner = lab.node("carl")
            let joined = try await joiner.run([
                "join", try await other.kith("invite"), "--name", "carl", "--peer", address,
            ])
            #expect(joined.status == 1 && joined.errorText.contains("no invite is open"), "\(joined.errorText)")
            for reason in ["does not speak", "no invite is open"] {
                let shown = try await eventually(within: 20) {
                    try await Self.refusals(node).contains { refusal in
                        refusal["reason"]?.string?.contains(reason) == true && refusal["by"]?.string == "this_node"
                            && refusal["address"]?.string == "127.0.0.1"
                    }
                }
                #expect(shown, "\(reason)")
            }
        }
    }
}
