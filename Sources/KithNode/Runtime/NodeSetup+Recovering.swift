import KithDocument
import KithSystem
import KithTransport

/// What became of a damaged `membership`.
package struct Recovery: Hashable, Sendable {
    /// Statements that were found in it whole: all that it had, or as many as are left.
    package let statements: Int
    /// Whether they are all.
    package let isWhole: Bool
    /// The node whose word is awaited; nil where nothing is missing, or nobody is to be asked.
    package let awaited: NodeID?
    /// Where the damaged file is kept; nil where there was none.
    package let kept: String?
}

extension NodeSetup {
    /// Mends what the node knows of its group, for a node that does not run: takes every signed statement out of the
    /// damaged file. Where some may be missing, revocations among them, the node then lets in one node alone until that has
    /// told what it knows. On disk when this returns.
    /// - Parameters:
    ///   - node: the whole id of the node to believe; nil for the admin who let this one in.
    ///   - isAlone: whether nobody is to be asked.
    /// - Throws: `NodeError`: nothing is damaged, or there is nobody to believe.
    package static func recover(
        _ directory: NodeDirectory, believing node: String?, isAlone: Bool,
        on files: any FileSystem = LocalFileSystem()
    ) throws(NodeError) -> Recovery {
        let lock = try DirectoryLock(directory: directory.path, on: files)
        defer { withExtendedLifetime(lock) {} }
        let identities = IdentityStore(directory: directory.path, on: files)
        let identity = try Node.transport { () throws(TransportError) in try identities.load() }
        let path = "\(directory.path)/\(IdentityStore.membershipName)"
        let membership = Membership(trust: identity.trust)
        let (statements, isWhole, isSound) = try salvage(identities, identity, into: membership)
        let believed = isWhole || isAlone ? nil : try whom(node, identity)

        // A second time the file is sound, and what is kept is still what was damaged.
        let isKept = !isSound && files.exists(path)
        if isKept {
            do throws(SystemError) { try SpareFile.keepAside(path, on: files) } catch {
                throw NodeError(
                    code: "directory", message: "can't keep \(path) beside its place: \(error.reason)")
            }
        }
        do throws(TransportError) {
            // Who is let in is narrowed before the file is there that lets the node start.
            if let believed {
                try identities.write(Array("\(believed)\n".utf8), to: IdentityStore.awaitedName)
            } else {
                try identities.remove(IdentityStore.awaitedName)
            }
            try identities.write(membership.encoded, to: IdentityStore.membershipName)
        } catch { throw NodeError(code: "directory", message: error.message) }
        return Recovery(
            statements: statements, isWhole: isWhole, awaited: believed,
            kept: isKept ? path + IdentityStore.asideEnding : nil)
    }

    /// - Throws: `NodeError` where the file is sound and no other node's word is awaited.
    private static func salvage(
        _ identities: IdentityStore, _ identity: Identity, into membership: Membership
    ) throws(NodeError) -> (statements: Int, isWhole: Bool, isSound: Bool) {
        let path = "\(identities.directory)/\(IdentityStore.membershipName)"
        let bytes: [UInt8]
        do throws(TransportError) {
            bytes = try identities.read(IdentityStore.membershipName, atMost: TransportLimits.membershipBytes) ?? []
        } catch {
            _ = try SpareFile.reason(of: error, at: path)
            return (0, false, false)
        }
        let count = membership.salvage(bytes)
        guard (try? Membership(trust: identity.trust, encoded: bytes)) != nil else {
            return (count, membership.isAll(of: bytes), false)
        }
        // Sound: then another node is to be believed than was said before, or nobody.
        guard identities.files.exists("\(identities.directory)/\(IdentityStore.awaitedName)") else {
            throw NodeError(
                code: "usage", message: "\(path) is sound, and there is nothing to recover; kith start starts the node")
        }
        return (count, false, true)
    }

    private static func whom(_ node: String?, _ identity: Identity) throws(NodeError) -> NodeID {
        guard let node else {
            guard identity.peer.admittedBy != identity.nodeID else {
                throw NodeError(
                    code: "usage",
                    message:
                        "name a node of the group that you trust by its whole id, which kith members has there: it tells "
                        + "this admin who was revoked; or say --alone where nobody ever was")
            }
            return identity.peer.admittedBy
        }
        guard let id = NodeID(node.lowercased()), id != identity.nodeID else {
            throw NodeError(
                code: "usage",
                message: "\(Shown.name(node)) is no id of another node: it has 64 hex digits; kith members has it there"
            )
        }
        return id
    }
}
