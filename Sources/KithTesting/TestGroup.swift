import Kith

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Nodes of one group in this process, that talk over loopback: the real ones, in folders that go with them.
///
///     try await TestGroup.with(nodes: 2) { group in
///         let (den, attic) = (try await group[0].database("notes"), try await group[1].database("notes"))
///         try await den.save(Document(id: "a", ["text": "hi"]))
///         #expect(await group.isInSync("notes"))
///         #expect(try await attic.document("a")?.string("text") == "hi")
///     }
///
/// They do not look for others on the network, and take free ports, so tests may run beside each other.
public final class TestGroup: Sendable {
    /// The nodes, running; the first is the admin.
    public let nodes: [LocalNode]
    /// The folders of the nodes, in their order.
    public let folders: [URL]
    private let root: URL

    /// A node by its place.
    public subscript(index: Int) -> LocalNode { nodes[index] }

    /// Makes a group, runs the body, and stops and removes all of it, also where the body throws.
    /// - Parameters:
    ///   - count: how many nodes, at least one.
    ///   - isolation: of the caller.
    ///   - configure: changes the options of the node at a place before it starts.
    ///   - body: is given the group, whose nodes run.
    public static func with<Value>(
        nodes count: Int = 2, isolation: isolated (any Actor)? = #isolation,
        configure: @Sendable (Int, inout NodeOptions) throws -> Void = { _, _ in },
        _ body: (TestGroup) async throws -> Value
    ) async throws -> Value {
        let group = try await TestGroup(count, configure: configure)
        do {
            let value = try await body(group)
            await group.end()
            return value
        } catch {
            await group.end()
            throw error
        }
    }

    /// Makes the nodes and starts them; `end` has to be called.
    /// - Parameters:
    ///   - count: how many nodes, at least one.
    ///   - configure: changes the options of the node at a place before it starts.
    public init(
        _ count: Int = 2, configure: @Sendable (Int, inout NodeOptions) throws -> Void = { _, _ in }
    ) async throws {
        var all: [NodeOptions] = []
        for index in 0..<max(1, count) {
            var options = NodeOptions.loopback
            try configure(index, &options)
            all.append(options)
        }
        // Short, since the path of a socket is.
        let root = URL(fileURLWithPath: "/tmp/kith-testing-\(UUID().uuidString.prefix(8).lowercased())")
        self.root = root
        let folders = (0..<max(1, count)).map { root.appending(path: "n\($0)") }
        self.folders = folders
        do { nodes = try await Self.start(folders, all) } catch {
            try? FileManager.default.removeItem(at: root)
            throw error
        }
    }

    private static func start(_ folders: [URL], _ all: [NodeOptions]) async throws -> [LocalNode] {
        try LocalNode.makeGroup("test", in: folders[0], as: "n0")
        var nodes: [LocalNode] = []
        do {
            for (index, folder) in folders.enumerated() {
                var options = all[index]
                if let first = nodes.first {
                    let code = try await first.invite().code
                    try await LocalNode.join(code, in: folder, as: "n\(index)", peer: first.listening[0])
                    options.peers = nodes.flatMap(\.listening)
                }
                let node = try LocalNode(in: folder, options: options)
                nodes.append(node)
                try await node.start()
            }
        } catch {
            for node in nodes { await node.stop() }
            throw error
        }
        return nodes
    }

    /// Whether all nodes have the same documents of a database before the time is up: waits for it.
    public func isInSync(_ database: String, timeout: Duration = .seconds(60)) async -> Bool {
        for node in nodes {
            guard await node.waitUntilInSync(database, peers: nodes.count - 1, timeout: timeout) else { return false }
        }
        return true
    }

    /// Parts the nodes: each goes on by itself.
    public func part() async throws { for node in nodes { try await node.pause() } }

    /// Ends a parting.
    public func meet() async throws { for node in nodes { try await node.resume() } }

    /// Stops the nodes and removes their folders.
    public func end() async {
        for node in nodes { await node.stop() }
        try? FileManager.default.removeItem(at: root)
    }
}

extension NodeOptions {
    /// Loopback alone, a free port.
    package static var loopback: NodeOptions {
        var options = NodeOptions()
        options.listen = "127.0.0.1:0"
        options.usesDiscovery = false
        options.logLevel = .error
        return options
    }
}
