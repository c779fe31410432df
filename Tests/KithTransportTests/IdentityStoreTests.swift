import Glibc
import KithCrypto
import KithDocument
import KithTestSupport
import Testing

@testable import KithTransport

@Suite struct IdentityStoreTests {
    let directory: TemporaryDirectory
    let path: String
    let store: IdentityStore

    init() throws {
        directory = TemporaryDirectory()
        path = directory.path + "/some/node"
        store = IdentityStore(directory: path)
    }

    private func mode(_ path: String) -> UInt32 {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "no error"
        } catch { return (error as? TransportError)?.message ?? "\(error)" }
    }

    @Test func `a new group is whole after init, and closed to others`() throws {
        #expect(store.state() == .absent)
        let made = try store.initGroup(groupName: "ward seven", nodeName: "first")
        #expect(store.state() == .present)
        #expect(TemporaryDirectory.names(in: path) == ["identity.pem", "membership", "root.pem"])
        #expect(mode(path) == 0o700)
        #expect(mode("\(path)/identity.pem") == 0o600 && mode("\(path)/root.pem") == 0o600)
        let loaded = try store.load()
        #expect(loaded.peer == made.peer && loaded.role == .admin)
        #expect(loaded.groupName == "ward seven" && loaded.nodeName == "first")
        #expect(loaded.chain == made.chain)
        #expect(try loaded.key.publicKeyInfo() == made.key.publicKeyInfo())
        #expect(try #require(loaded.admin).node == made.nodeID)
        #expect(try #require(try store.loadRoot(of: loaded.trust)).certificate == loaded.trust.root)
    }

    @Test func `the root's key can be put elsewhere, and never over a file`() throws {
        let out = directory.path + "/root-key"
        let made = try store.initGroup(groupName: "g", nodeName: "n", rootOut: out)
        #expect(TemporaryDirectory.names(in: path) == ["identity.pem", "membership"])
        #expect(mode(out) == 0o600)
        #expect(try store.loadRoot(of: made.trust) == nil)
        #expect(try #require(try store.loadRoot(from: out, of: made.trust)).certificate == made.trust.root)
        let other = IdentityStore(directory: directory.path + "/other")
        #expect(throws: TransportError.self) { try other.initGroup(groupName: "g", nodeName: "n", rootOut: out) }
        #expect(other.state() == .absent, "nothing is left of an attempt that failed")
        let stranger = try TestGroup()
        #expect(
            message { _ = try store.loadRoot(from: out, of: stranger.trust) }
                == "\(out) holds the root of another group")
    }

    @Test func `a group made of the same keys is the same to the last byte`() throws {
        func key(_ number: UInt8) throws -> PrivateKey { try PrivateKey(seed: [UInt8](repeating: number, count: 32)) }
        let made = try store.initGroup(
            groupName: "g", nodeName: "n", rootKey: try key(1), keys: NodeKeys(node: try key(2), admin: try key(3)))
        let (again, root) = try Identity.createGroup(
            name: "g", nodeName: "n", rootKey: try key(1), keys: NodeKeys(node: try key(2), admin: try key(3)))
        #expect(made.nodeID == again.nodeID && made.trust.tag == again.trust.tag)
        #expect(made.chain == again.chain && root.certificate == made.trust.root)
        #expect(try store.read("identity.pem", atMost: 100_000) == Array(IdentityFile.text(of: again).utf8))
        let signature = try again.key.sign([1, 2, 3])
        #expect(try made.key.sign([1, 2, 3]) == signature)
        try made.certificate.verify(signature, of: [1, 2, 3])
        // Whom it lets in too.
        let info = try key(4).publicKeyInfo()
        let issued = try [made, again].map {
            try #require($0.admin).issueNode(publicKeyInfo: info, role: .writer, number: 1)
        }
        #expect(issued[0] == issued[1])
        #expect(try #require(again.admin).issueNode(publicKeyInfo: info, role: .writer, number: 2) != issued[0])
        let other = try Identity.createGroup(
            name: "g", nodeName: "n", keys: NodeKeys(node: try key(2), admin: try key(3))
        ).identity
        #expect(other.nodeID == made.nodeID && other.trust.tag != made.trust.tag)
    }

    @Test func `a directory without an identity is not taken for a new one`() throws {
        let absent = message { _ = try store.load() }
        #expect(absent.contains("holds no identity: is its disk mounted?"))
        #expect(TemporaryDirectory.names(in: directory.path).isEmpty, "looking makes nothing")
        _ = try store.initGroup(groupName: "g", nodeName: "n")
        unlink("\(path)/identity.pem")
        guard case .incomplete = store.state() else {
            Issue.record("\(store.state())")
            return
        }
        #expect(message { _ = try store.load() }.contains("is not whole (root.pem is there and identity.pem is not)"))
        #expect(message { _ = try store.initGroup(groupName: "g", nodeName: "n") }.contains("is not whole"))
        #expect(message { try store.leave() }.contains("is not whole"))
    }

    @Test func `a file that is cut anywhere or empty is an error, and init does not replace it`() throws {
        _ = try store.initGroup(groupName: "g", nodeName: "n")
        let whole = try #require(try store.read("identity.pem", atMost: 100_000))
        var random = SeededGenerator(seed: 21)
        let counts = [0, 1] + (0..<40).map { _ in random.below(whole.count - 1) }
        for count in counts {
            try store.write(Array(whole.prefix(count)), to: "identity.pem")
            guard case .incomplete = store.state() else {
                Issue.record("cut at \(count): \(store.state())")
                continue
            }
            #expect(message { _ = try store.load() }.contains("is not whole"), "cut at \(count)")
            #expect(message { _ = try store.initGroup(groupName: "g", nodeName: "n") }.contains("is not whole"))
        }
        try store.write(whole, to: "identity.pem")
        #expect(store.state() == .present)
    }

    @Test func `parts that don't belong together are no identity`() throws {
        let group = try TestGroup()
        let member = try group.member()
        let other = try group.member()
        #expect(throws: TransportError.identity("the node's key is not the key of its certificate")) {
            try Identity(
                groupName: "g", nodeName: "n", key: other.key, certificate: member.certificate, issuer: member.issuer,
                root: group.root.certificate, adminKey: nil)
        }
        #expect(throws: TransportError.self) {
            try Identity(
                groupName: "g", nodeName: "n", key: member.key, certificate: member.certificate, issuer: member.issuer,
                root: try TestGroup().root.certificate, adminKey: nil)
        }
        #expect(throws: TransportError.identity("there is an admin's key and the node is no admin")) {
            try Identity(
                groupName: "g", nodeName: "n", key: member.key, certificate: member.certificate, issuer: member.issuer,
                root: group.root.certificate, adminKey: group.admin.key)
        }
        for name in ["", String(repeating: "x", count: 64), "a\nb", "a\u{85}b"] {
            #expect(throws: TransportError.self) { try Identity.createGroup(name: name, nodeName: "n") }
            #expect(throws: TransportError.self) { try Identity.createGroup(name: "g", nodeName: name) }
        }
    }

    @Test func `a second init and a join into a group are refused with what to do`() throws {
        let made = try store.initGroup(groupName: "g", nodeName: "n")
        #expect(message { _ = try store.initGroup(groupName: "h", nodeName: "n") }.contains("`kith leave` first"))
        #expect(message { try store.create(made) }.contains("`kith leave` first"))
    }

    @Test func `leaving forgets the group, and only that`() throws {
        let member = try TestGroup().member()
        try store.create(member)
        try store.write([1], to: IdentityStore.membershipName)
        try store.write([2], to: "notes.sqlite")
        try store.leave()
        #expect(store.state() == .left)
        #expect(TemporaryDirectory.names(in: path) == ["former-group", "identity.pem", "notes.sqlite"])
        #expect(store.formerGroup()?.shortFingerprint == member.trust.shortFingerprint)
        #expect(store.formerGroup()?.name == member.groupName)
        #expect(message { _ = try store.load() }.contains("has left its group"))
        try store.leave()
        try store.create(member)
        #expect(try store.load().peer == member.peer)
    }

    @Test func `what was damaged and kept goes with the identity that it belonged to`() throws {
        for way in ["leave", "reset"] {
            try store.create(try TestGroup().member())
            for name in ["invites", "membership", "instances"] { try store.write([1], to: name + ".damaged") }
            try store.write([2], to: "paused.damaged")
            if way == "leave" { try store.leave() } else { try store.reset() }
            #expect(
                TemporaryDirectory.names(in: path) == ["former-group", "identity.pem", "paused.damaged"], "\(way)")
        }
    }

    @Test func `leaving does not throw the root's key away unless told to`() throws {
        _ = try store.initGroup(groupName: "g", nodeName: "n")
        #expect(message { try store.leave() }.contains("move it to a safe place first"))
        #expect(store.state() == .present)
        try store.leave(discardingRoot: true)
        #expect(store.state() == .left && TemporaryDirectory.names(in: path) == ["former-group", "identity.pem"])
    }

    @Test func `a reset makes room for a new identity, also where the old one is broken`() throws {
        _ = try store.initGroup(groupName: "g", nodeName: "n")
        try store.write([], to: "identity.pem")
        try store.reset()
        #expect(store.state() == .left)
        try store.create(try TestGroup().member())
        #expect(store.state() == .present)
        #expect(
            message { try IdentityStore(directory: directory.path + "/none").reset() }.contains("holds no identity"))
    }

    @Test func `a key that others may read is refused`() throws {
        _ = try store.initGroup(groupName: "g", nodeName: "n")
        chmod("\(path)/identity.pem", 0o640)
        #expect(message { _ = try store.load() }.contains("chmod 600"))
    }

    @Test func `a write that can't be made leaves what was`() throws {
        let made = try store.initGroup(groupName: "g", nodeName: "n")
        // The place of the file aside is taken by a directory with something in it.
        mkdir("\(path)/identity.pem.new", 0o700)
        mkdir("\(path)/identity.pem.new/x", 0o700)
        #expect(throws: TransportError.self) { try store.save(try TestGroup().member()) }
        #expect(try store.load().peer == made.peer)
    }
}
