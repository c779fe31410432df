import Foundation
import Kith

/// The folder of the notes: with a database alone, or, once it is in a group, with a node that shares it.
public struct Home: Sendable {
    /// The notes.
    let database: Database
    /// Nil for a folder that is in no group.
    let node: LocalNode?
    /// What texts that are written here go by.
    let machine: String

    private static let name = "notes"

    /// Comes into a group where the options say so, and opens the notes.
    /// - Parameter log: what the node tells; standard error is under the screen.
    public static func open(_ options: Options, log: KithLog) async throws -> Home {
        let folder = options.folder
        switch options.entry {
        case .make(let group): try LocalNode.makeGroup(group, in: folder, as: options.name)
        case .join(let code):
            // The notes of this machine become the group's: that is why it joins.
            try await LocalNode.join(
                code, in: folder, as: options.name, peer: options.peers.first, bringsDatabases: true)
        case nil: break
        }
        guard LocalNode.isMember(folder) else {
            let machine = options.name ?? ProcessInfo.processInfo.hostName
            return Home(database: try Database(name, in: folder), node: nil, machine: machine)
        }
        var settings = NodeOptions()
        settings.listen = options.listen
        settings.peers = options.peers
        settings.usesDiscovery = options.usesDiscovery
        settings.log = log
        let node = try LocalNode(in: folder, options: settings)
        do {
            try await node.start()
            let machine = try LocalNode.identification(of: folder).name
            return Home(database: try await node.database(name), node: node, machine: machine)
        } catch {
            await node.stop()
            throw error
        }
    }

    /// Finishes what is under way. All is on disk when this returns.
    public func close() async {
        await node?.stop()
        database.close()
    }

    // MARK: What the screen asks for

    /// Each newer state of the synchronisation, as long as the task lives that reads them.
    func syncStates() -> AsyncStream<SyncState> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task {
                guard let node else { return _ = continuation.yield(.local) }
                for await status in node.statusUpdates() { continuation.yield(SyncState(status, of: Self.name)) }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Goes offline or online; it is remembered.
    func setOnline(_ isOnline: Bool) async throws {
        guard let node else { throw Self.noGroup }
        if isOnline {
            try await node.resumeReplication(of: Self.name)
        } else {
            try await node.pauseReplication(of: Self.name)
        }
    }

    /// What to do on a machine that is to join.
    func invitation() async throws -> String {
        guard let node else { throw Self.noGroup }
        let code = try await node.invite().code
        return "within a quarter of an hour, on the other machine: example-notes --data FOLDER --join \(code)"
            + " (this one listens at \(node.listening.joined(separator: ", ")))"
    }

    private static let noGroup = KithError(
        .membership, name, "these notes are in no group: start with --group NAME, or with --join CODE")
}
