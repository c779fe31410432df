import Dispatch
import Glibc
import KithCrypto
import KithDiscovery
import KithDocument
import KithReplication
import KithSystem
import KithTestSupport
import KithTransport
import Testing

@testable import KithNode

/// The one node that is let in after what was known of the group was damaged.
@Suite(.timeLimit(.minutes(5))) struct AwaitedTests {
    private let folder = TemporaryDirectory()
    private let directory: NodeDirectory
    private let identity: Identity

    init() throws {
        directory = try NodeDirectory(option: folder.path + "/node")
        identity = try NodeSetup.initialise(directory, groupName: "testers", nodeName: "ada", rootFile: nil)
    }

    private static func node(_ number: Int) throws -> NodeID {
        try #require(NodeID(bytes: SHA256.hash(Array("\(number)".utf8)).bytes))
    }

    @Test func aFileThatNamesNobodyLetsNobodyIn() throws {
        let identities = IdentityStore(directory: directory.path)
        let id = try Self.node(1)
        #expect(try identities.membership(of: identity).awaited == nil)
        try identities.write(Array("\(id)\n".utf8), to: IdentityStore.awaitedName)
        #expect(try identities.membership(of: identity).awaited == id)
        for text in ["", "\n", "\n\n\n", "ada\n", "\(id)0\n", "\(id)\n\(id)\n", "\u{0}"] {
            try identities.write(Array(text.utf8), to: IdentityStore.awaitedName)
            let error = #expect(throws: NodeError.self, "\(text.debugDescription)") {
                try identities.membership(of: identity)
            }
            #expect(error?.message.contains("names no node") == true, "\(text.debugDescription)")
            #expect(throws: NodeError.self) { try Node(NodeConfiguration(directory: directory, log: Log())) }
        }
    }

    @Test func aNodeWhoseKnowledgeOfTheGroupIsGoneDoesNotBeginAnew() throws {
        let identities = IdentityStore(directory: directory.path)
        _ = try identities.membership(of: identity)
        try identities.remove(IdentityStore.membershipName)
        let error = #expect(throws: NodeError.self) { try identities.membership(of: identity) }
        #expect(error?.message.contains("it is gone") == true && error?.message.contains("identity recover") == true)
        let recovery = try NodeSetup.recover(directory, believing: nil, isAlone: true)
        #expect(recovery.kept == nil && recovery.statements == 0)
        _ = try identities.membership(of: identity)
    }

    @Test func nobodyElseIsDialled() throws {
        let node = try Node(NodeConfiguration(directory: directory, log: Log()))
        let announced = try (0..<40).map { try Self.node($0) }
        node.queue.sync {
            node.book.setDiscovered(
                announced.map { node in
                    DiscoveredService(
                        name: InstanceName(node.short), isPresent: true, interfaces: [1],
                        text: ServiceText(nodeID: node, protocolVersion: 1, tag: nil), addresses: [])
                })
        }
        func targets() -> [DialTarget] {
            node.queue.sync(returning: {
                node.targets(node.members, now: node.clock.now, wall: node.clock.wallMilliseconds)
            })
        }
        #expect(targets().count > 1)
        // Whatever was met of the others: the awaited one is not crowded out.
        for id in [announced[3], announced[39], try Self.node(1_000)] {
            node.membership.awaited = id
            #expect(targets() == [.node(id)])
        }
        node.membership.awaited = nil
        #expect(targets().count > 1)
    }

    @Test func whatIsKeptOfTheDamageOutlivesASecondRecovery() throws {
        let path = "\(directory.path)/\(IdentityStore.membershipName)"
        TestFolder.write([1, 2, 3], to: path)
        let id = try Self.node(1)
        let first = try NodeSetup.recover(directory, believing: id.description, isAlone: false)
        #expect(first.kept == path + ".damaged" && first.awaited == id)
        let second = try NodeSetup.recover(directory, believing: nil, isAlone: true)
        #expect(second.kept == nil && second.awaited == nil)
        #expect(TestFolder.read(path + ".damaged") == [1, 2, 3])
        #expect(try IdentityStore(directory: directory.path).membership(of: identity).awaited == nil)
    }

    /// The word of a large group on a slow way: several messages, seconds apart.
    @Test func othersAreLetInOnlyWhenAllOfItsWordIsHere() async throws {
        let count = 1_000
        let pair = try await NodePair(bytesPerSecond: 100_000) { one, other in
            let admin = try #require(one.identity.admin)
            for number in 0..<count {
                let statement = try SignedStatement(
                    .revocation(of: try Self.node(number)), by: admin, trust: one.identity.trust)
                _ = other.membership.take(statement)
            }
            let bytes = other.membership.revocations.reduce(0) { $0 + $1.count }
            #expect(bytes > ReplicationLimits.statementsBytes / 2, "they fit into one message: \(bytes)")
            one.membership.awaited = other.id
        }
        let one = pair.one
        let isHeard = await eventually(within: 120) { one.membership.awaited == nil }
        #expect(isHeard)
        #expect(one.membership.revocations.count == count)
        let bytes = TestFolder.read("\(one.configuration.directory.path)/\(IdentityStore.membershipName)")
        #expect(try Membership(trust: one.identity.trust, encoded: bytes).revocations.count == count)
        await pair.stop()
    }
}
