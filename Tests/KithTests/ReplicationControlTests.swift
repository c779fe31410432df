import Foundation
import Kith
import KithTestSupport
import KithTesting
import Synchronization
import Testing

/// Replication under the application's control, over real nodes.
struct ReplicationControlTests {
    private func put(_ id: String, _ node: LocalNode) async throws {
        try await node.database("notes").save(Document(id: id, ["n": 1]))
    }

    private func has(_ id: String, _ node: LocalNode) async throws -> Bool {
        try await node.database("notes").document(id) != nil
    }

    @Test func `a database that is only pulled keeps its own changes until it pushes`() async throws {
        try await TestGroup.with(nodes: 2) { group in
            let (den, attic) = (group[0], group[1])
            try await put("a", den)
            #expect(await group.isInSync("notes"))
            try await attic.setReplication(ReplicationSettings(direction: .pull), of: "notes")
            #expect(try await attic.replication(of: "notes") == ReplicationSettings(direction: .pull))
            #expect(await group.isInSync("notes"))
            try await put("own", attic)
            try await put("b", den)
            #expect(try await eventually(within: 60) { try await has("b", attic) })
            #expect(!(await attic.waitUntilInSync("notes", timeout: .seconds(1))))
            #expect(
                try await eventually(within: 60) {
                    let (here, there) = (try await attic.status().peers.first, try await den.status().peers.first)
                    return here?.state == .paused && here?.reason == "notes is only pulled here"
                        && there?.state == .paused && there?.reason == "notes is only pulled there"
                })
            #expect(try await den.status().database("notes")?.inSyncWith == 0)
            #expect(!(try await has("own", den)))
            try await attic.setReplication(ReplicationSettings(), of: "notes")
            #expect(await group.isInSync("notes"))
            #expect(try await has("own", den))
        }
    }

    @Test func `a pause is kept, and nothing passes before it ends`() async throws {
        try await TestGroup.with(nodes: 2) { group in
            let (den, attic) = (group[0], group[1])
            try await put("a", den)
            #expect(await group.isInSync("notes"))
            try await attic.pauseReplication(of: "notes")
            try await put("b", den)
            try await put("c", attic)
            let error = await #expect(throws: KithError.self) { try await attic.sync("notes") }
            #expect(error?.code == .conflict && error?.message.contains("paused") == true)
            let report = try await den.sync("notes")
            #expect(report.peers.map(\.outcome) == [.notOffered] && !report.isComplete, "\(report)")
            #expect(try await attic.status().problems.contains { $0.code == "PAUSED" })
            #expect(!(try await has("b", attic)))
            #expect(!(try await has("c", den)))
            try await attic.resumeReplication(of: "notes")
            #expect(await group.isInSync("notes"))
            #expect(try await has("b", attic))
            #expect(try await has("c", den))
        }
    }

    @Test func `a database on demand passes in a synchronisation alone`() async throws {
        try await TestGroup.with(nodes: 3) { group in
            let (den, attic) = (group[0], group[1])
            try await put("a", den)
            #expect(await group.isInSync("notes"))
            try await attic.setReplication(ReplicationSettings(isContinuous: false), of: "notes")
            for round in 1...3 {
                try await put("den-\(round)", den)
                try await put("attic-\(round)", attic)
                #expect(!(try await has("den-\(round)", attic)))
                let report = try await attic.sync("notes")
                #expect(report.isComplete && report.peers.count == 2, "\(report)")
                #expect(try await has("den-\(round)", attic))
                #expect(try await has("attic-\(round)", den))
                #expect(try await has("attic-\(round)", group[2]))
                #expect(report.peers.map(\.pulled).reduce(0, +) >= 1)
                #expect(report.peers.map(\.pushed).reduce(0, +) >= 1)
            }
            let none = await #expect(throws: KithError.self) { try await attic.sync("nothing") }
            #expect(none?.code == .notFound)
        }
    }

    @Test func `a synchronisation with nobody there ends and says so`() async throws {
        try await TestGroup.with(nodes: 2) { group in
            try await put("a", group[0])
            #expect(await group.isInSync("notes"))
            await group[1].stop()
            let report = try await group[0].sync("notes")
            #expect(report.peers.isEmpty && !report.isComplete)
        }
    }

    @Test func `progress is a stream that ends with the node`() async throws {
        try await TestGroup.with(nodes: 2) { group in
            let (den, attic) = (group[0], group[1])
            let notes = try await den.database("notes")
            try await notes.write { batch in
                for number in 0..<500 { try batch.save(Document(id: "d\(number)", ["n": .int(Int64(number))])) }
            }
            let seen = Mutex<[ReplicationStatus]>([])
            let reader = Task {
                for await status in attic.replicationUpdates(of: "notes") { seen.withLock { $0.append(status) } }
            }
            #expect(
                await eventually(within: 60) {
                    let now = seen.withLock { $0.last }
                    return now?.state == .idle && now?.done == now?.total && (now?.total ?? 0) >= 500
                }, "\(seen.withLock { $0 })")
            try await attic.pauseReplication(of: "notes")
            #expect(await eventually(within: 60) { seen.withLock { $0.last?.state == .paused } })
            await attic.stop()
            await reader.value
            let all = seen.withLock { $0 }
            #expect(all.last?.state == .stopped, "\(all.map(\.state))")
            #expect(all.allSatisfy { ($0.done ?? 0) <= ($0.total ?? 0) && $0.problems.isEmpty })
        }
    }

    @Test func `each document that comes and goes is told of`() async throws {
        try await TestGroup.with(nodes: 2) { group in
            let (den, attic) = (group[0], group[1])
            try await put("a", den)
            #expect(await group.isInSync("notes"))
            let events = attic.documentEvents(of: "notes")
            let seen = Task {
                var seen: [ReplicatedDocument] = []
                for await event in events { seen.append(event) }
                return seen
            }
            // The stream is there once the node's queue has been round.
            _ = try await attic.status()
            try await put("b", den)
            #expect(await group.isInSync("notes"))
            try await put("c", attic)
            #expect(await group.isInSync("notes"))
            await attic.stop()
            let all = await seen.value
            #expect(all.map(\.id) == ["b", "c"] && all.map(\.direction) == [.came, .went], "\(all)")
            #expect(all.map(\.number) == [1, 2] && all.allSatisfy { $0.error == nil })
            #expect(Set(all.map(\.peer)) == [try await den.status().id])
        }
    }

    @Test func `what no peer has acknowledged is pending`() async throws {
        try await TestGroup.with(nodes: 2) { group in
            let (den, attic) = (group[0], group[1])
            try await put("a", den)
            #expect(await group.isInSync("notes"))
            func pending(_ peer: String? = nil) async throws -> PendingDocuments {
                try await den.pendingDocuments(of: "notes", at: peer)
            }
            #expect(try await eventually(within: 60) { try await pending("n1").documents.isEmpty })
            await attic.stop()
            for id in ["b", "c", "d"] { try await put(id, den) }
            let now = try await pending()
            #expect(now.documents == ["b", "c", "d"] && now.isKnown && !now.hasMore)
            let two = try await den.pendingDocuments(of: "notes", at: "n1", limit: 2)
            #expect(two.documents == ["b", "c"] && two.hasMore)
            let nobody = await #expect(throws: KithError.self) { try await pending("nobody") }
            #expect(nobody?.code == .notFound)
        }
    }

    @Test func `a checkpoint that is reset fetches nothing twice`() async throws {
        try await TestGroup.with(nodes: 2) { group in
            let (den, attic) = (group[0], group[1])
            for id in ["a", "b", "c"] { try await put(id, den) }
            #expect(await group.isInSync("notes"))
            for peer in ["n0", nil] {
                try await attic.resetCheckpoint(of: "notes", with: peer)
                #expect(await group.isInSync("notes"))
                let progress = try await attic.status().peers.first?.databases.first
                #expect(progress?.pulled == 0 && progress?.inChanges == 0, "\(String(describing: progress))")
            }
            try await put("d", den)
            #expect(await group.isInSync("notes"))
            #expect(try await has("d", attic))
        }
    }
}
