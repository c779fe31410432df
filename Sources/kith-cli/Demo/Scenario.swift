import Glibc
import KithDocument
import KithHTTPCore
import KithNode

/// What the demonstration does, step by step, and what it checks.
struct Scenario {
    private let nodes: [DemoNode]
    private let discovery: DemoDiscovery
    private let file: String
    private let showsProgress: Bool
    private let database = "languages"

    init(_ workshop: Demo.Workshop, file: String, showsProgress: Bool) {
        nodes = workshop.nodes
        discovery = workshop.discovery
        self.file = file
        self.showsProgress = showsProgress
    }

    private var first: DemoNode { nodes[0] }
    /// The node that is cut off.
    private var last: DemoNode { nodes[nodes.count - 1] }
    private var peers: Int { nodes.count - 1 }

    /// Returns the number of checks that failed.
    func play() throws(CommandError) -> Int {
        say(discovery.sentence)
        try startGroup()
        try importData()
        let ids = try firstIDs(4)
        try part()
        try editBothSides(ids)
        try meet()
        return try verify(ids)
    }

    /// What the status says of the database. On a busy machine a peer may answer late, and is unknown until it does.
    private func entry(of database: String, on node: DemoNode, peers: Int) throws(CommandError) -> JSONValue {
        var entry = JSONValue.null
        for _ in 0..<100 {
            let status = try node.client.json("GET", ["status"])
            entry = (status["databases"]?.array ?? []).first { $0["name"]?.string == database } ?? .null
            if entry["in_sync_with"]?.natural == UInt64(peers) { break }
            usleep(100_000)
        }
        return entry
    }

    private func say(_ text: String) {
        Output.line(text)
        Output.flush()
    }

    private func startGroup() throws(CommandError) {
        try first.run(["init", "--group", "demo", "--name", first.name])
        try first.start(peers: [], discovers: discovery.usesAvahi)
        let address = try first.loopbackAddress()
        var addresses = [address]
        for node in nodes.dropFirst() {
            let invitation = try first.client.json("POST", ["invitations"])
            var join = ["join", invitation["code"]?.string ?? "", "--name", node.name]
            if !discovery.usesAvahi { join += ["--peer", address] }
            try node.run(join)
            try node.start(peers: discovery.usesAvahi ? [] : addresses, discovers: discovery.usesAvahi)
            addresses.append(try node.loopbackAddress())
        }
        for node in nodes { try node.wait(peers: peers, inSync: nil) }
        say("\(nodes.count) nodes in one group, each connected to the \(peers == 1 ? "other" : "others")")
    }

    private func importData() throws(CommandError) {
        _ = try first.client.call("PUT", ["databases", database])
        let request = Import(database: database, file: file, idField: "alpha_3")
        let result = try request.run(first.client, showsProgress: showsProgress)
        say("node \(first.name): \(result.sentence(isDryRun: false)) from \(file)")
        if result.failed > 0 { throw CommandError("the import failed: \(result.failures.first ?? "nobody says why")") }
        for node in nodes { try node.wait(peers: peers, inSync: database) }
        say("all nodes have them")
    }

    /// The ids of the first documents of the changes feed.
    private func firstIDs(_ count: Int) throws(CommandError) -> [String] {
        var ids: [String] = []
        try first.client.lines("GET", ["databases", database, "changes"], query: [("limit", String(count))]) { line in
            if let id = (try? JSONValue(parsing: line))?["id"]?.string { ids.append(id) }
            return true
        }
        guard ids.count == count else { throw CommandError("\(file) has fewer than \(count) documents") }
        return ids
    }

    /// Cuts the last node off, on both sides.
    private func part() throws(CommandError) {
        let id = try last.id()
        _ = try last.client.call("POST", ["pause"])
        for node in nodes.dropLast() { _ = try node.client.call("POST", ["pause"], query: [("peer", id)]) }
        for _ in 0..<500 {
            let status = try last.client.json("GET", ["status"])
            if (status["peers"]?.array ?? []).allSatisfy({ $0["state"]?.string == "paused" }) {
                say("node \(last.name) is cut off")
                return
            }
            usleep(10_000)
        }
        throw CommandError("node \(last.name) is paused and still exchanges documents")
    }

    private func editBothSides(_ ids: [String]) throws(CommandError) {
        try first.edit(ids[0], database, "seen_by_\(first.name)", true)
        try last.edit(ids[0], database, "seen_by_\(last.name)", true)
        try first.edit(ids[1], database, "colour", "blue")
        // The later of two edits wins, and clocks count milliseconds.
        usleep(20_000)
        try last.edit(ids[1], database, "colour", "green")
        try first.delete(ids[2], database)
        try last.edit(ids[2], database, "wanted", true)
        try first.delete(ids[3], database)
        say("documents \(ids.joined(separator: ", ")) are edited and deleted on both sides")
    }

    private func meet() throws(CommandError) {
        let id = try last.id()
        for node in nodes.dropLast() { _ = try node.client.call("POST", ["resume"], query: [("peer", id)]) }
        _ = try last.client.call("POST", ["resume"])
        for node in nodes { try node.wait(peers: peers, inSync: database) }
        say("node \(last.name) is back")
    }

    // MARK: Checks

    private func verify(_ ids: [String]) throws(CommandError) -> Int {
        var failed = 0
        func check(_ node: DemoNode, _ what: String, _ isTrue: Bool) {
            say("\(isTrue ? "ok    " : "FAILED") node \(node.name): \(what)")
            if !isTrue { failed += 1 }
        }
        var seen: [JSONValue] = []
        for node in nodes {
            let one = try node.document(ids[0], database)
            let both = [first.name, last.name].allSatisfy { one["seen_by_\($0)"]?.bool == true }
            check(node, "\(ids[0]), edited on both sides in different fields, has both edits", both)
            let two = try node.document(ids[1], database)
            check(
                node, "\(ids[1]), edited on both sides in one field, has the later edit",
                two["colour"]?.string == "green")
            let three = try node.document(ids[2], database)
            let lives = three["wanted"]?.bool == true
            check(node, "\(ids[2]), deleted on one side and edited on the other, lives with the edit", lives)
            check(node, "\(ids[3]), deleted on one side, is gone", try isGone(ids[3], node))
            check(node, "there are no conflicts", try conflicts(node) == 0)
            let entry = try entry(of: database, on: node, peers: peers)
            let inSync = entry["in_sync_with"]?.natural
            check(node, "in sync with \(Wording.count(inSync)) of \(peers)", inSync == UInt64(peers))
            let revisions = [one, two, three].map { $0["_rev"] ?? .null }
            seen.append(["digest": entry["digest"] ?? .null, "revisions": .array(revisions)])
        }
        for (node, its) in zip(nodes, seen).dropFirst() {
            let isKnown = its["digest"]?.string != nil
            check(node, "its digest is that of node \(first.name)", isKnown && its["digest"] == seen[0]["digest"])
            check(node, "its revision ids are those of node \(first.name)", its["revisions"] == seen[0]["revisions"])
        }
        return failed
    }

    private func isGone(_ id: String, _ node: DemoNode) throws(CommandError) -> Bool {
        do throws(CommandError) { _ = try node.document(id, database) } catch {
            if error.status == ExitStatus.notFound { return true }
            throw error
        }
        return false
    }

    private func conflicts(_ node: DemoNode) throws(CommandError) -> Int {
        var count = 0
        try node.client.lines("GET", ["databases", database, "conflicts"]) { _ in
            count += 1
            return true
        }
        return count
    }
}
