import KithCrypto
import KithDocument
import KithNode
import KithStore
import KithSystem
import KithTestSupport
import KithTransport

/// The group of a run: its root, its first admin, and an identity for each node, all from the seed.
final class SimulatedGroup {
    private var keys: SeededGenerator
    private let root: GroupRoot
    private let founder: Identity
    private var identities: [NodeID: Identity] = [:]
    /// What every member knows of the group from the beginning.
    private(set) var membership: Membership
    private let admin: GroupAdmin

    init(_ keys: SeededGenerator) throws {
        self.keys = keys
        var seeds = keys
        func key() throws -> PrivateKey { try Self.key(&seeds) }
        let nodeKeys = NodeKeys(node: try key(), admin: try key())
        (founder, root) = try Identity.createGroup(
            name: "simulated", nodeName: "node-0", rootKey: try key(), keys: nodeKeys)
        guard let admin = founder.admin else { preconditionFailure("who founds a group is its admin") }
        self.admin = admin
        membership = Membership(trust: founder.trust)
        self.keys = seeds
    }

    private static func key(_ seeds: inout SeededGenerator) throws -> PrivateKey {
        try PrivateKey(seed: (0..<CryptoLimits.keySeedBytes).map { _ in UInt8(truncatingIfNeeded: seeds.next()) })
    }

    /// Makes an identity for a node: the first one is the founder.
    func makeID(_ index: Int, role: Role = .writer) throws -> NodeID {
        if identities.isEmpty {
            identities[founder.nodeID] = founder
            return founder.nodeID
        }
        let key = try Self.key(&keys)
        let certificate = try admin.issueNode(publicKeyInfo: try key.publicKeyInfo(), role: role, number: 1)
        let identity = try Identity(
            groupName: "simulated", nodeName: "node-\(index)", key: key, certificate: certificate,
            issuer: admin.certificate, root: root.certificate, adminKey: nil)
        identities[identity.nodeID] = identity
        return identity.nodeID
    }

    subscript(id: NodeID) -> Identity? { identities[id] }

    var rootForRevoking: GroupRoot { root }

    /// Under which the group is announced.
    var tag: String { founder.trust.tag }

    /// What is known of the group now, for whoever joins.
    func takeMembership(from node: Node?) {
        guard let bytes = node?.encodedMembership, let known = try? Membership(trust: founder.trust, encoded: bytes)
        else {
            return
        }
        membership = known
    }

    /// Says the policy of a database to all who are set up from here on.
    func say(policy json: [UInt8], of database: String, number: UInt64) throws {
        let statement = try SignedStatement(
            .policy(database: database, number: number, json: json), by: admin, trust: founder.trust)
        _ = membership.take(statement)
    }

    /// Puts the directory of a node on a disk, as if it had joined.
    func install(
        _ id: NodeID, in directory: String, on files: any FileSystem, machineID: String, at machineFile: String
    ) throws {
        guard let identity = identities[id] else { return }
        let store = IdentityStore(directory: directory, on: files)
        try store.create(identity)
        try AtomicFile.write(membership.encoded, to: directory + "/" + IdentityStore.membershipName, on: files)
        try AtomicFile.write(Array((machineID + "\n").utf8), to: machineFile, on: files)
    }
}
