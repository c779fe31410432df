import Foundation
import Kith
import KithTestSupport
import KithTesting
import Testing

struct NodeTests {
    private let directory = TemporaryDirectory()
    private var folder: URL { URL(fileURLWithPath: directory.path + "/kith") }

    @Test func `two nodes exchange documents, and edits made apart merge`() async throws {
        try await TestGroup.with(nodes: 2) { group in
            let den = try await group[0].database("notes")
            try await den.save(Document(id: "a", ["title": "hi", "status": "open"]))
            #expect(await group.isInSync("notes"))
            let attic = try await group[1].database("notes")
            #expect(try await attic.document("a")?.string("title") == "hi")
            try await group.part()
            try await den.update("a") { $0["title"] = "from den" }
            try await attic.update("a") { $0["status"] = "done" }
            try await group.meet()
            #expect(await group.isInSync("notes"))
            let (one, two) = (try await den.document("a"), try await attic.document("a"))
            #expect(one?.json == #"{"status":"done","title":"from den"}"# && one == two)
        }
    }

    @Test func `the status is a stream that ends with the node`() async throws {
        try await TestGroup.with(nodes: 2) { group in
            _ = try await group[0].database("notes")
            #expect(await group.isInSync("notes"))
            let node = group[0]
            let states = Task {
                var states: [NodeStatus.State] = []
                for await status in node.statusUpdates() {
                    states.append(status.state)
                    if states.count == 1 { Task { await node.stop() } }
                }
                return states
            }
            let seen = await states.value
            #expect(seen.first == .idle && seen.last == .stopped, "\(seen)")
            var later: [NodeStatus.State] = []
            for await status in node.statusUpdates() { later.append(status.state) }
            #expect(later == [.stopped])
            let error = await #expect(throws: KithError.self) { try await node.status() }
            #expect(error?.code == .closed)
        }
    }

    @Test func `a status says who is there and how far they are`() async throws {
        try await TestGroup.with(nodes: 2) { group in
            let notes = try await group[0].database("notes")
            try await notes.save(Document(id: "a"))
            #expect(await group.isInSync("notes"))
            let status = try await group[0].status()
            #expect(status.name == "n0" && status.peers.map(\.name) == ["n1"])
            #expect(status.peers[0].isConnected && status.peers[0].state == .inSync)
            #expect(status.database("notes")?.documents == 1 && status.database("notes")?.inSyncWith == 1)
        }
    }

    @Test func `an observed status follows the node`() async throws {
        let group = try await TestGroup(1)
        let observed = await ObservedNodeStatus(of: group[0])
        #expect(await eventually(within: 60) { await observed.status != nil })
        await group.end()
        #expect(await eventually(within: 60) { await observed.state == .stopped })
    }

    @Test func `a database opened alone is the node's later, and alone again`() async throws {
        let alone = try Database("notes", in: folder)
        try await alone.save(Document(id: "a", ["x": 1]))
        #expect(!LocalNode.isMember(folder))
        alone.close()
        let who = try LocalNode.makeGroup("home", in: folder, as: "den")
        #expect(who.role == .admin && who.group == "home" && LocalNode.isMember(folder))
        let node = try LocalNode(in: folder, options: .loopback)
        #expect(node.databases == ["notes"])
        let error = #expect(throws: KithError.self) { try Database("notes", in: folder) }
        #expect(error?.code == .inUse && error?.message.contains("this process") == true, "\(error?.message ?? "")")
        // Before it is started too.
        let notes = try await node.database("notes")
        #expect(try await notes.document("a")?.int("x") == 1)
        try await node.start()
        try await notes.update("a") { $0["x"] = 2 }
        await node.stop()
        let closed = await #expect(throws: KithError.self) { try await notes.document("a") }
        #expect(closed?.code == .closed, "\(closed?.message ?? "")")
        #expect(try await Database("notes", in: folder).document("a")?.int("x") == 2)
    }

    @Test func `joining with databases of one's own asks first`() async throws {
        try await TestGroup.with(nodes: 1) { group in
            let alone = try Database("notes", in: folder)
            try await alone.save(Document(id: "mine"))
            alone.close()
            let code = try await group[0].invite().code
            let error = await #expect(throws: KithError.self) { try await LocalNode.join(code, in: folder) }
            #expect(error?.code == .conflict && error?.message.contains("notes") == true)
            try await LocalNode.join(code, in: folder, as: "new", peer: group[0].listening[0], bringsDatabases: true)
            let node = try LocalNode(in: folder, options: .loopback)
            try await node.start()
            #expect(await eventually(within: 60) { group[0].databases == ["notes"] })
            let notes = try await group[0].database("notes")
            #expect(try await eventually(within: 60) { try await notes.document("mine") != nil })
            await node.stop()
            try LocalNode.leave(folder)
            #expect(!LocalNode.isMember(folder))
            #expect(try await Database("notes", in: folder).document("mine") != nil)
        }
    }

    @Test func `a folder is one node's at a time, and in one group`() async throws {
        try LocalNode.makeGroup("home", in: folder)
        let node = try LocalNode(in: folder, options: .loopback)
        let error = #expect(throws: KithError.self) { try LocalNode(in: folder, options: .loopback) }
        #expect(error?.code == .inUse && error?.message.contains("this process") == true, "\(error?.message ?? "")")
        // One that was never started stops too.
        await node.stop()
        #expect(throws: KithError.self) { try LocalNode.makeGroup("other", in: folder) }
        let nowhere = URL(fileURLWithPath: directory.path + "/none")
        let none = #expect(throws: KithError.self) { try LocalNode(in: nowhere, options: .loopback) }
        #expect(none?.code == .membership)
        let code = await #expect(throws: KithError.self) { try await LocalNode.join("NOT-A-CODE", in: nowhere) }
        #expect(code?.code == .membership)
    }

    @Test func `an address that is none keeps a node from starting, and lets the folder go`() async throws {
        try LocalNode.makeGroup("home", in: folder)
        var options = NodeOptions.loopback
        options.listen = "nowhere.invalid:99999"
        let node = try LocalNode(in: folder, options: options)
        let error = await #expect(throws: KithError.self) { try await node.start() }
        #expect(error?.code == .invalid, "\(error?.message ?? "")")
        let again = try LocalNode(in: folder, options: .loopback)
        try await again.start()
        await again.stop()
    }

    @Test func `a dropped database is gone here and stays elsewhere`() async throws {
        try await TestGroup.with(nodes: 2) { group in
            let notes = try await group[0].database("notes")
            try await notes.save(Document(id: "a"))
            #expect(await group.isInSync("notes"))
            try await group[1].deleteDatabase("notes")
            #expect(group[1].databases.isEmpty)
            #expect(try await notes.document("a") != nil)
            await #expect(throws: KithError.self) { try await group[1].deleteDatabase("notes") }
        }
    }
}
