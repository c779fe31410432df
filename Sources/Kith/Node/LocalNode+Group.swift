import Dispatch
import KithNode
import KithTransport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Making a folder a node's, while no node runs in it.

extension LocalNode {
    /// Whether a folder is in a group.
    public static func isMember(_ folder: URL) -> Bool { (try? identification(of: folder)) != nil }

    /// Who the node of a folder is, whether it runs or not.
    /// - Throws: `KithError` `membership` where the folder is in no group.
    public static func identification(of folder: URL) throws(KithError) -> NodeIdentification {
        let directory = try directory(folder)
        return try onNode(folder) { () throws(NodeError) in
            NodeIdentification(try NodeSetup.identity(of: directory, machineIDFile: MachineIdentity.file()))
        }
    }

    /// Makes a folder the first node of a new group, and its admin. Databases that are there become the group's. On disk
    /// when this returns. Blocks.
    /// - Parameters:
    ///   - group: its name, for people.
    ///   - folder: for Kith alone, on a disk of this machine; made where it is not there.
    ///   - name: of the node, for people; nil for the machine's.
    ///   - rootKey: a file for the key of the group's root, which must not be there; nil to keep it in the folder.
    /// - Throws: `KithError`: `membership` where the folder is in a group already; `inUse`.
    @discardableResult
    public static func makeGroup(
        _ group: String, in folder: URL, as name: String? = nil, rootKey: URL? = nil
    ) throws(KithError) -> NodeIdentification {
        let directory = try directory(folder)
        try onNode(folder) { () throws(NodeError) in
            _ = try NodeSetup.initialise(directory, groupName: group, nodeName: name, rootFile: rootKey?.path)
        }
        return try identification(of: folder)
    }

    /// Makes a folder a node of the group that has given a code: finds the inviter, proves the code, and gets a certificate.
    /// On disk when this returns.
    /// - Parameters:
    ///   - code: as the inviter has it.
    ///   - folder: for Kith alone, on a disk of this machine; made where it is not there.
    ///   - name: of the node, for people; nil for the machine's.
    ///   - peer: `HOST:PORT` of the inviter; nil to find it by DNS-SD.
    ///   - bringsDatabases: whether databases that are in the folder already, and not of this group, go along: all nodes of
    ///     the group get them, and those of equal names merge.
    /// - Throws: `KithError`: `membership`: a code that is mistyped, used, expired or burnt, nobody found, a folder that is in
    ///   a group already; `conflict` where there are databases and `bringsDatabases` does not say what to do with them.
    @discardableResult
    public static func join(
        _ code: String, in folder: URL, as name: String? = nil, peer: String? = nil, bringsDatabases: Bool = false
    ) async throws(KithError) -> NodeIdentification {
        let directory = try directory(folder)
        if !bringsDatabases, let arrival = NodeSetup.arrival(in: directory, by: code) {
            throw KithError(
                .conflict, folder.path,
                "\(folder.path) holds databases that the group would get (\(arrival.databases.joined(separator: ", "))), and those "
                    + "of equal names merge: join with bringsDatabases, or use another folder")
        }
        let result = await withCheckedContinuation {
            (continuation: CheckedContinuation<Result<Void, NodeError>, Never>) in
            DispatchQueue.global().async {
                continuation.resume(
                    returning: Result { () throws(NodeError) in
                        _ = try NodeSetup.join(directory, code: code, nodeName: name, peer: peer)
                    })
            }
        }
        do throws(NodeError) { try result.get() } catch { throw KithError(error, of: folder.path) }
        return try identification(of: folder)
    }

    /// Forgets the group; the databases stay, and can be opened alone. On disk when this returns. Blocks.
    /// - Throws: `KithError`: `inUse` while the node runs; `membership` where the root's key is in the folder: move it first.
    public static func leave(_ folder: URL) throws(KithError) {
        let directory = try directory(folder)
        try onNode(folder) { () throws(NodeError) in try NodeSetup.leave(directory) }
    }

    private static func onNode<Value>(_ folder: URL, _ body: () throws(NodeError) -> Value) throws(KithError) -> Value {
        do throws(NodeError) { return try body() } catch { throw KithError(error, of: folder.path) }
    }
}
