import KithDocument
import KithReplication
import KithTestSupport
import Testing

@testable import KithNode
@testable import KithStore

/// What becomes of a document that several nodes change while they are apart: on real stores, over real links.
@Suite struct DocumentCaseTests {
    private enum Change: CaseIterable { case edit, deletion, anew }

    /// One order of the changes, and the node of each; a document of its own.
    private struct Story {
        let id: String
        let changes: [Change]
        let places: [Int]
        /// The writes that each node knows.
        var known: [Set<Change>] = [[], []]
        /// The writes that some deletion had seen.
        var deleted: Set<Change> = []
        /// Whether writing anew took the edited field away, later than it was edited.
        var isFieldRemoved = false
    }

    private static var stories: [Story] {
        let orders: [[Change]] = Change.allCases.flatMap { first in
            Change.allCases.filter { $0 != first }.map { second in
                [first, second] + Change.allCases.filter { $0 != first && $0 != second }
            }
        }
        return orders.flatMap { changes in
            (0..<8).map { bits in
                let places = (0..<3).map { bits >> $0 & 1 }
                return Story(
                    id: zip(changes, places).map { "\($0)-\($1)" }.joined(separator: "."), changes: changes,
                    places: places)
            }
        }
    }

    private func meet(_ mesh: StoreMesh, _ comment: String) {
        #expect(mesh.settle(), "\(comment): not in sync")
        #expect(Set(mesh.nodes.map(\.digest)).count == 1, "\(comment)")
        #expect(mesh.protocolErrors.isEmpty, "\(comment): \(mesh.protocolErrors)")
    }

    /// All orders of an edit, a deletion and a writing anew, each on either node, with or without a meeting after the
    /// first and after the second.
    @Test(arguments: 0..<4) func anEditLivesUnlessADeletionHadSeenItInAnyOrder(meetings: Int) throws {
        let mesh = try StoreMesh(seed: UInt64(meetings) + 1)
        let nodes = try mesh.add(nodes: 2)
        var stories = Self.stories
        #expect(stories.count == 48)
        for story in stories { try nodes[0].put(story.id, #"{"x":1,"y":1}"#) }
        meet(mesh, "the beginning")
        mesh.disconnect(nodes[0], nodes[1])
        for step in 0..<3 {
            for index in stories.indices { try change(&stories[index], step, nodes) }
            mesh.run(10)
            guard step < 2, meetings >> step & 1 == 1 else { continue }
            meet(mesh, "meetings \(meetings), step \(step)")
            mesh.disconnect(nodes[0], nodes[1])
            for index in stories.indices {
                let all = stories[index].known[0].union(stories[index].known[1])
                stories[index].known = [all, all]
            }
        }
        meet(mesh, "meetings \(meetings)")
        for story in stories { expectRule(story, nodes, meetings) }
        for node in nodes { #expect(node.store().summary.conflicts == 0, "node \(node.number)") }
        // Nothing is left to be settled: another meeting writes nothing.
        let before = nodes.map { $0.store().summary.position.sequence }
        mesh.disconnect(nodes[0], nodes[1])
        meet(mesh, "once more")
        #expect(nodes.map { $0.store().summary.position.sequence } == before)
    }

    private func change(_ story: inout Story, _ step: Int, _ nodes: [MeshNode]) throws {
        let place = story.places[step]
        let (node, change) = (nodes[place], story.changes[step])
        let body = node.body(story.id)
        switch change {
        case .edit:
            let others = body.map { $0.contains("z") ? #","z":3"# : #","y":1"# } ?? ""
            try node.put(story.id, #"{"x":2\#(others)}"#)
            story.known[place].insert(.edit)
            story.isFieldRemoved = false
        case .anew:
            try node.put(story.id, #"{"z":3}"#)
            story.known[place].insert(.anew)
            story.isFieldRemoved = body?.contains("x") == true
        case .deletion:
            guard body != nil else { return }
            try node.delete(story.id)
            story.deleted.formUnion(story.known[place])
        }
    }

    private func expectRule(_ story: Story, _ nodes: [MeshNode], _ meetings: Int) {
        let bodies = nodes.map { $0.body(story.id) }
        let told: Comment = "meetings \(meetings), \(story.id): \(bodies)"
        #expect(bodies[0] == bodies[1], told)
        let living = story.known[0].union(story.known[1]).subtracting(story.deleted)
        // The first body had been seen by whoever deleted.
        #expect((bodies[0] == nil) == living.isEmpty, told)
        if living.contains(.edit), !story.isFieldRemoved { #expect(bodies[0]?.contains(#""x":2"#) == true, told) }
        if living.contains(.anew) { #expect(bodies[0]?.contains(#""z":3"#) == true, told) }
    }

    @Test func whatBothDeletedIsDeletedWithoutAConflict() throws {
        let mesh = try StoreMesh(seed: 7)
        let nodes = try mesh.add(nodes: 2)
        for id in ["alike", "edited", "apart"] { try nodes[0].put(id, #"{"x":1}"#) }
        meet(mesh, "the beginning")
        mesh.disconnect(nodes[0], nodes[1])
        // With the same knowledge, with an edit that one of them saw, and with one that each saw.
        try nodes[0].put("edited", #"{"x":2}"#)
        for (number, node) in nodes.enumerated() { try node.put("apart", #"{"x":\#(number + 2)}"#) }
        mesh.run(10)
        for node in nodes { for id in ["alike", "edited", "apart"] { try node.delete(id) } }
        meet(mesh, "both deleted")
        for node in nodes {
            let summary = node.store().summary
            #expect(node.living().isEmpty)
            #expect(summary.conflicts == 0 && summary.deleted == 3, "\(summary)")
        }
    }

    /// Several nodes that know only the one in the middle, which has edits of its own.
    @Test(arguments: [1, 2, 3] as [UInt64]) func leavesThatMeetThroughTheMiddleEndWithOneRevision(seed: UInt64) throws {
        let mesh = try StoreMesh(seed: seed)
        let nodes = try mesh.add(nodes: 6)
        let (middle, leaves) = (nodes[0], nodes.dropFirst())
        try middle.put("a", #"{"x":0}"#)
        func meetThroughTheMiddle() {
            for leaf in leaves { mesh.connect(middle, leaf) }
            let isSettled = mesh.run(300_000) {
                leaves.allSatisfy {
                    mesh.status(middle, $0)?.isInSync == true && mesh.status($0, middle)?.isInSync == true
                }
            }
            #expect(isSettled, "seed \(seed)")
        }
        meetThroughTheMiddle()
        mesh.disconnectAll(of: middle)
        for node in nodes {
            try node.put("a", #"{"own-\#(node.number)":1,"x":\#(node.number)}"#)
            try node.put("b", #"{"x":\#(node.number)}"#)
            if node.number % 2 == 0 { try node.put("a", #"{"own-\#(node.number)":2,"x":\#(node.number)}"#) }
            mesh.run(UInt64(mesh.random.below(20)))
        }
        meetThroughTheMiddle()
        for id in ["a", "b"] {
            let revisions = try nodes.map { try $0.reader().get(DocumentID(unchecked: id))?.revision }
            #expect(Set(revisions).count == 1 && revisions[0] != nil, "seed \(seed), \(id): \(revisions)")
        }
        #expect(Set(nodes.map(\.digest)).count == 1)
        for node in nodes {
            #expect(node.store().summary.conflicts == 0)
            for number in 1...6 { #expect(node.body("a")?.contains("\"own-\(number)\"") == true, "seed \(seed)") }
        }
        #expect(mesh.protocolErrors.isEmpty, "seed \(seed): \(mesh.protocolErrors)")
    }

    /// Links are made once only: one that broke would be missed.
    @Test(arguments: [1, 2, 3] as [UInt64]) func aThirdNodeJoinsWhileTwoReplicate(seed: UInt64) throws {
        let mesh = try StoreMesh(seed: seed)
        let nodes = try mesh.add(nodes: 2)
        for number in 0..<600 {
            try nodes[number % 2].put(
                "d-\(number)", #"{"n":\#(number),"text":"\#(String(repeating: "x", count: 400))"}"#)
        }
        mesh.connect(nodes[0], nodes[1])
        let some = 300 + mesh.random.within(1...250)
        #expect(mesh.run { nodes[1].living().count >= some })
        let third = try mesh.add()
        try third.put("third", #"{"n":1}"#)
        for node in nodes { mesh.connect(third, node) }
        #expect(mesh.status(nodes[0], nodes[1])?.isInSync != true)
        for number in 0..<20 {
            try nodes[number % 2].put("late-\(number)", #"{"n":\#(number)}"#)
            mesh.run(UInt64(mesh.random.below(5)))
        }
        let pairs = mesh.nodes.flatMap { one in mesh.nodes.filter { $0 !== one }.map { (one, $0) } }
        #expect(mesh.run(300_000) { pairs.allSatisfy { mesh.status($0, $1)?.isInSync == true } }, "seed \(seed)")
        #expect(Set(mesh.nodes.map(\.digest)).count == 1)
        for node in mesh.nodes { #expect(node.living().count == 621, "node \(node.number)") }
        #expect(mesh.protocolErrors.isEmpty, "seed \(seed): \(mesh.protocolErrors)")
    }
}
