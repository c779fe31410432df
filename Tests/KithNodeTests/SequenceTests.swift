import Glibc
import KithDocument
import KithMerge
import KithReplication
import KithTestSupport
import Testing

@testable import KithNode
@testable import KithStore

/// Sequences that lie: files put back, copied, cut short and made anew under nodes that replicate. Whatever happens to
/// them, all nodes end with one digest, nothing that another node had is lost, and nothing deleted comes back.
@Suite struct SequenceTests {
    static let seeds: [UInt64] = [1, 2, 3, 4, 5, 6]

    /// What must hold in the end: every node in sync with every other, one digest, these documents with these bodies, and
    /// those gone.
    private func expectSettled(
        _ mesh: StoreMesh, _ bodies: [String: String?] = [:], _ seed: UInt64,
        location: SourceLocation = #_sourceLocation
    ) {
        let isSettled = mesh.settle()
        let running = mesh.nodes.filter(\.isRunning)
        let standing = running.map { "\($0.number): \($0.store().summary)" }.joined(separator: "\n")
        #expect(isSettled, "seed \(seed): not in sync\n\(standing)", sourceLocation: location)
        #expect(Set(running.map(\.digest)).count == 1, "seed \(seed)\n\(standing)", sourceLocation: location)
        #expect(mesh.protocolErrors.isEmpty, "seed \(seed): \(mesh.protocolErrors)", sourceLocation: location)
        for node in running {
            for (id, body) in bodies {
                #expect(node.body(id) == body, "seed \(seed): \(id) on node \(node.number)", sourceLocation: location)
            }
        }
    }

    // MARK: Restored

    @Test(arguments: seeds) func aRestoredNodeThatGetsItsOwnLostRevisionsBack(seed: UInt64) throws {
        let mesh = try StoreMesh(seed: seed)
        let nodes = try mesh.add(nodes: 3)
        for number in 0..<40 { try nodes[0].put("early-\(number)", #"{"n":1}"#) }
        expectSettled(mesh, [:], seed)
        let backup = nodes[0].snapshot()
        var bodies: [String: String?] = [:]
        for number in 0..<25 {
            try nodes[0].put("late-\(number)", #"{"n":\#(number)}"#)
            bodies["late-\(number)"] = #"{"n":\#(number)}"#
        }
        try nodes[0].put("early-3", #"{"n":2}"#)
        try nodes[0].delete("early-4")
        bodies["early-3"] = #"{"n":2}"#
        bodies["early-4"] = .some(nil)
        expectSettled(mesh, bodies, seed)
        nodes[0].stop()
        nodes[0].restore(backup)
        try nodes[0].start()
        #expect(nodes[0].body("late-3") == nil)
        expectSettled(mesh, bodies, seed)
    }

    /// It hands out the sequences that it forgot once more, for other changes, before it meets anybody.
    @Test(arguments: seeds) func aRestoredNodeThatWritesBeforeItMeetsAnybody(seed: UInt64) throws {
        let mesh = try StoreMesh(seed: seed)
        let nodes = try mesh.add(nodes: 3)
        for number in 0..<10 { try nodes[0].put("early-\(number)", #"{"n":1}"#) }
        expectSettled(mesh, [:], seed)
        let backup = nodes[0].snapshot()
        for number in 0..<10 { try nodes[0].put("late-\(number)", #"{"n":2}"#) }
        expectSettled(mesh, ["late-9": #"{"n":2}"#], seed)
        nodes[0].stop()
        nodes[0].restore(backup)
        try nodes[0].start()
        var bodies: [String: String?] = [:]
        for number in 0..<mesh.random.within(5...15) {
            try nodes[0].put("other-\(number)", #"{"n":3}"#)
            bodies["other-\(number)"] = #"{"n":3}"#
            bodies["late-\(number % 10)"] = #"{"n":2}"#
        }
        expectSettled(mesh, bodies, seed)
        // Once more, twice in a row without a meeting.
        for _ in 0..<2 {
            nodes[0].stop(kill: true)
            nodes[0].restore(backup)
            try nodes[0].start()
            try nodes[0].put("again", #"{"n":4}"#)
        }
        bodies["again"] = #"{"n":4}"#
        expectSettled(mesh, bodies, seed)
    }

    @Test(arguments: seeds) func anEditThatARestoredNodeHadForgottenAndThenDeletedOver(seed: UInt64) throws {
        let mesh = try StoreMesh(seed: seed)
        let nodes = try mesh.add(nodes: 3)
        for id in ["edited", "unchanged", "deleted"] { try nodes[0].put(id, #"{"a":1,"b":1}"#) }
        expectSettled(mesh, [:], seed)
        let backup = nodes[0].snapshot()
        try nodes[0].put("edited", #"{"a":2,"b":1}"#)
        try nodes[0].delete("deleted")
        expectSettled(mesh, ["edited": #"{"a":2,"b":1}"#, "deleted": nil], seed)
        nodes[0].stop()
        nodes[0].restore(backup)
        try nodes[0].start()
        // The deletions have seen the documents as they were; the edit that was forgotten nobody has deleted.
        for id in ["edited", "unchanged"] { try nodes[0].delete(id) }
        // And what was deleted and forgotten is edited, by one who has not seen the deletion.
        try nodes[0].put("deleted", #"{"a":3,"b":1}"#)
        expectSettled(
            mesh,
            ["edited": #"{"a":2,"b":1}"#, "unchanged": nil, "deleted": #"{"a":3,"b":1}"#], seed)
    }

    @Test(arguments: seeds) func lastCommitsThatWereLost(seed: UInt64) throws {
        let mesh = try StoreMesh(seed: seed)
        let nodes = try mesh.add(nodes: 3)
        for number in 0..<5 { try nodes[0].put("early-\(number)", #"{"n":1}"#) }
        expectSettled(mesh, [:], seed)
        var bodies: [String: String?] = [:]
        for number in 0..<20 {
            let writer = nodes[number % 2]
            try writer.put("late-\(number)", #"{"n":\#(number)}"#)
            bodies["late-\(number)"] = #"{"n":\#(number)}"#
            if number % 3 == 0 { mesh.run(20) }
        }
        expectSettled(mesh, bodies, seed)
        // A power cut after which the log ends anywhere: at the end of a commit, within one, or before its first.
        for (round, node) in [nodes[0], nodes[1], nodes[0]].enumerated() {
            mesh.disconnectAll(of: node)
            node.stop(kill: true)
            var files = node.snapshot()
            let log = try #require(files["db.sqlite3-wal"])
            let commits = WriteAheadLog.commits(log)
            try #require(commits.count > 3)
            let kept = mesh.random.pick(commits)
            files["db.sqlite3-wal"] = Array(log.prefix(kept + (mesh.random.chance(1, in: 2) ? 0 : 100)))
            node.restore(files)
            try node.start()
            if mesh.random.chance(1, in: 2) {
                // Another body each time: an equal one would write nothing where the last was lost.
                try node.put("after", #"{"n":\#(round)}"#)
                bodies["after"] = #"{"n":\#(round)}"#
            }
            expectSettled(mesh, bodies, seed)
        }
    }

    // MARK: Copied

    @Test(arguments: seeds) func aDatabaseFileCopiedIntoAnotherNode(seed: UInt64) throws {
        for withLog in [true, false] {
            let mesh = try StoreMesh(seed: seed)
            let nodes = try mesh.add(nodes: 3)
            for number in 0..<10 { try nodes[0].put("a-\(number)", #"{"n":1}"#) }
            for number in 0..<10 { try nodes[1].put("b-\(number)", #"{"n":1}"#) }
            if mesh.random.chance(1, in: 2) { expectSettled(mesh, [:], seed) }
            try nodes[1].delete(nodes[1].body("a-3") == nil ? "b-3" : "a-3")
            let gone = nodes[1].body("a-3") == nil && nodes[1].body("b-3") != nil ? "a-3" : "b-3"
            try nodes[1].put("b-own", #"{"n":1}"#)
            mesh.run(UInt64(mesh.random.below(30)))
            // A copy of the running node's file, over that of another.
            var files = nodes[0].snapshot()
            if !withLog { files["db.sqlite3-wal"] = nil }
            nodes[1].stop()
            let hadAll = [nodes[0], nodes[2]].contains { $0.body("b-own") != nil }
            nodes[1].restore(files)
            try nodes[1].start()
            try nodes[1].put("after", #"{"n":2}"#)
            expectSettled(mesh, ["after": #"{"n":2}"#, "a-9": #"{"n":1}"#], seed)
            if hadAll { expectSettled(mesh, ["b-own": #"{"n":1}"#], seed) }
            _ = gone
        }
    }

    @Test(arguments: seeds) func aDatabaseFileCopiedUnderAnotherName(seed: UInt64) throws {
        let mesh = try StoreMesh(seed: seed)
        let nodes = try mesh.add(nodes: 3)
        for number in 0..<10 { try nodes[0].put("a-\(number)", #"{"n":1}"#) }
        expectSettled(mesh, [:], seed)
        // On one node a copy of its own file, on another a copy that is older.
        let older = nodes[1].snapshot()
        for number in 0..<5 { try nodes[0].put("a-\(number)", #"{"n":2}"#) }
        expectSettled(mesh, [:], seed)
        for (node, files) in [(nodes[0], nodes[0].snapshot()), (nodes[1], older)] {
            node.stop()
            for suffix in ["", "-wal"] {
                TestFolder.write(files["db.sqlite3\(suffix)"] ?? [], to: "\(node.directory)/other.sqlite3\(suffix)")
            }
            try node.start()
        }
        for node in nodes { try node.carry("other") }
        try nodes[0].put("a-0", #"{"n":3}"#, in: "other")
        try nodes[1].put("new", #"{"n":1}"#, in: "other")
        #expect(mesh.settle("other"), "seed \(seed)")
        expectSettled(mesh, ["a-0": #"{"n":2}"#, "new": nil], seed)
        for node in nodes {
            #expect(node.body("a-0", in: "other") == #"{"n":3}"#)
            #expect(node.body("a-1", in: "other") == #"{"n":2}"#)
            #expect(node.body("new", in: "other") == #"{"n":1}"#)
        }
    }

    /// Two machines with one identity, of which the others meet now the one and now the other; then the copy becomes a
    /// node of its own.
    @Test(arguments: seeds) func aClonedMachine(seed: UInt64) throws {
        let mesh = try StoreMesh(seed: seed)
        let nodes = try mesh.add(nodes: 3)
        for number in 0..<10 { try nodes[2].put("early-\(number)", #"{"n":1}"#) }
        expectSettled(mesh, [:], seed)
        // The copy is made while the original runs.
        let clone = try mesh.add()
        clone.stop()
        clone.restore(nodes[2].snapshot())
        clone.becomeNew(UInt8(nodes[2].number))
        try clone.start()
        var bodies: [String: String?] = [:]
        for round in 0..<6 {
            let (one, other) = round % 2 == 0 ? (clone, nodes[2]) : (nodes[2], clone)
            try one.put("round-\(round)", #"{"n":\#(one.number)}"#)
            try other.put("away-\(round)", #"{"n":\#(other.number)}"#)
            if round == 2 { try one.delete("early-5") }
            bodies["round-\(round)"] = #"{"n":\#(one.number)}"#
            bodies["away-\(round)"] = #"{"n":\#(other.number)}"#
            mesh.disconnectAll(of: other)
            for node in nodes.prefix(2) { mesh.connect(one, node) }
            mesh.connect(nodes[0], nodes[1])
            mesh.run(UInt64(mesh.random.below(3_000)))
        }
        bodies["early-5"] = .some(nil)
        clone.stop()
        clone.becomeNew(77)
        try clone.start()
        expectSettled(mesh, bodies, seed)
    }

    /// A snapshot of a machine put back under the running process: it goes on in its timeline with sequences and stamps
    /// that it has handed out before. What peers send back of its own tells it.
    @Test(arguments: seeds) func aMachineSnapshotRolledBackUnderARunningProcess(seed: UInt64) throws {
        let mesh = try StoreMesh(seed: seed)
        let nodes = try mesh.add(nodes: 2)
        for id in ["a", "b", "c"] { try nodes[0].put(id, #"{"x":1,"y":1}"#) }
        expectSettled(mesh, [:], seed)
        let timeline = nodes[0].store().summary.position.timeline
        // A twin that goes on in the same timeline stands for what the process did between snapshot and roll-back.
        let lost = try mesh.add()
        lost.stop()
        lost.restore(nodes[0].snapshot())
        lost.becomeNew(UInt8(nodes[0].number))
        try lost.start()
        let future = try Self.deliveries(ofEdits: ["a", "new"], by: timeline, after: lost, mesh: mesh)
        let end = lost.store().summary.position.sequence + 2
        lost.stop()
        // A peer has them, and has come that far in that timeline; the process knows nothing of it, and goes on writing, at
        // later times than those it has forgotten, the same sequences again.
        mesh.disconnect(nodes[0], nodes[1])
        try nodes[1].apply(future, of: nodes[0].id, checkpoint: Position(timeline: timeline, sequence: end))
        mesh.run(1_000)
        try nodes[0].put("b", #"{"x":4,"y":1}"#)
        try nodes[0].put("other", #"{"x":4}"#)
        expectSettled(
            mesh,
            ["a": #"{"x":2,"y":1}"#, "new": #"{"x":2}"#, "b": #"{"x":4,"y":1}"#, "other": #"{"x":4}"#], seed)
        #expect(nodes[0].rollbacks > 0)
        #expect(nodes[0].store().summary.position.timeline != timeline)
        // What the timeline says is believed by nobody any more.
        #expect(try nodes[0].reader().resume(at: Position(timeline: timeline, sequence: 3)) == nil)
        try nodes[0].put("after", #"{"x":5}"#)
        expectSettled(mesh, ["after": #"{"x":5}"#], seed)
    }

    /// Edits as the writer of a timeline makes them, a second after what a node has.
    private static func deliveries(
        ofEdits ids: [String], by timeline: TimelineID, after node: MeshNode, mesh: StoreMesh
    ) throws -> [Delivery] {
        let time = Stamp.time(ofMilliseconds: StoreMesh.wallClockStart + Int64(mesh.now) + 500)
        return try ids.map { text in
            let id = DocumentID(unchecked: text)
            let base = try node.reader().load(id)?.tree.leaves.first
            var version = base?.content?.version ?? Version()
            version.set(timeline, to: time)
            let stamps = FieldStamps(defaultStamp: Stamp(time: time, writer: timeline))
            let body = base == nil ? #"{"x":2}"# : #"{"x":2,"y":1}"#
            let revision = Revision(
                parent: base?.id, kind: .edit, body: Array(body.utf8), stamps: stamps, version: version)
            return Delivery(document: id, items: [.init(revision: revision, ancestors: [])])
        }
    }

    // MARK: Made again

    @Test(arguments: seeds) func aStoreDeletedAndMadeAgainUnderItsName(seed: UInt64) throws {
        let mesh = try StoreMesh(seed: seed)
        let nodes = try mesh.add(nodes: 3)
        for number in 0..<40 { try nodes[number % 3].put("d-\(number)", #"{"n":1}"#) }
        expectSettled(mesh, [:], seed)
        try nodes[0].delete("d-7")
        var bodies: [String: String?] = ["d-7": nil, "d-8": #"{"n":1}"#]
        expectSettled(mesh, bodies, seed)
        // While the node is stopped.
        nodes[0].stop()
        nodes[0].restore([:])
        try nodes[0].start()
        try nodes[0].put("new-0", #"{"n":2}"#)
        bodies["new-0"] = #"{"n":2}"#
        expectSettled(mesh, bodies, seed)
        // While it runs and documents are on their way, again and again.
        for round in 1...4 {
            try nodes[1].put("new-\(round)", #"{"n":2}"#)
            bodies["new-\(round)"] = #"{"n":2}"#
            mesh.run(UInt64(mesh.random.below(12)))
            try nodes[0].drop("db")
            if mesh.random.chance(1, in: 2) { mesh.run(UInt64(mesh.random.below(500))) }
            try nodes[0].carry("db")
            mesh.run(UInt64(mesh.random.below(12)))
        }
        expectSettled(mesh, bodies, seed)
        #expect(nodes[0].living().count == nodes[1].living().count)
    }

    // MARK: Purged

    @Test(arguments: seeds) func aPurgeOnSomeNodesBeforeANewOneJoins(seed: UInt64) throws {
        let mesh = try StoreMesh(seed: seed)
        let nodes = try mesh.add(nodes: 3)
        for id in ["a", "b", "c", "d"] { try nodes[0].put(id, #"{"n":1}"#) }
        expectSettled(mesh, [:], seed)
        try nodes[0].purge("a")
        try nodes[1].purge("a")
        try nodes[1].purge("b")
        let newcomer = try mesh.add()
        #expect(mesh.settle(), "seed \(seed)")
        #expect(newcomer.living() == ["a", "b", "c", "d"])
        #expect(nodes.map { $0.living() } == [["b", "c", "d"], ["c", "d"], ["a", "b", "c", "d"]])
        #expect(nodes[2].digest == newcomer.digest)
        // Each pair says what is left out, and where.
        for (one, other, here, there) in [
            (nodes[0], newcomer, 1, 0), (newcomer, nodes[0], 0, 1), (nodes[1], newcomer, 2, 0),
            (newcomer, nodes[1], 0, 2), (nodes[0], nodes[1], 1, 2), (nodes[2], newcomer, 0, 0),
        ] {
            let status = try #require(mesh.status(one, other))
            #expect(
                status.leftOutHere == here && status.leftOutByPeer == there,
                "seed \(seed): nodes \(one.number) and \(other.number): \(status)")
        }
        // Nobody fetches it again, and another edit brings it back everywhere.
        try newcomer.put("a", #"{"n":2}"#)
        #expect(mesh.settle(), "seed \(seed)")
        for node in mesh.nodes { #expect(node.body("a") == #"{"n":2}"#) }
        #expect(mesh.status(nodes[0], newcomer)?.leftOutHere == 0)
        #expect(nodes[0].digest == newcomer.digest)
    }

    @Test(arguments: seeds) func aPurgeAndANewWriteBesideAPeersOldCopy(seed: UInt64) throws {
        let mesh = try StoreMesh(seed: seed)
        let nodes = try mesh.add(nodes: 3)
        for id in ["a", "b"] { try nodes[0].put(id, #"{"x":1,"y":1}"#) }
        expectSettled(mesh, [:], seed)
        mesh.disconnectAll(of: nodes[0])
        for id in ["a", "b"] { try nodes[0].purge(id) }
        mesh.run(1_000)
        try nodes[0].put("a", #"{"x":2}"#)
        try nodes[0].put("b", #"{"x":2}"#)
        // One of the peers' copies is edited meanwhile.
        try nodes[1].put("b", #"{"x":1,"y":3}"#)
        if seed % 2 == 0 {
            nodes[0].stop(kill: true)
            try nodes[0].start()
        }
        // The new document has not seen the old one, which lives on beside it: both fields are kept.
        expectSettled(mesh, ["a": #"{"x":2,"y":1}"#, "b": #"{"x":2,"y":3}"#], seed)
        // Whoever deletes it now has seen both.
        try nodes[2].delete("a")
        expectSettled(mesh, ["a": nil], seed)
    }

    // MARK: Checkpoints

    @Test(arguments: seeds) func aCheckpointWithTwoSourcesOfWhichOneDies(seed: UInt64) throws {
        let mesh = try StoreMesh(seed: seed)
        let nodes = try mesh.add(nodes: 2)
        var bodies: [String: String?] = [:]
        for number in 0..<600 {
            let body = #"{"n":\#(number),"text":"\#(String(repeating: "x", count: 400))"}"#
            try nodes[number % 2].put("d-\(number)", body)
            bodies["d-\(number)"] = body
        }
        expectSettled(mesh, [:], seed)
        // Both offer everything; each is asked for a part. One dies while its part is on the way.
        let puller = try mesh.add()
        mesh.connect(puller, nodes[0])
        mesh.connect(puller, nodes[1])
        let some = mesh.random.within(1...400)
        #expect(mesh.run { puller.living().count >= some }, "seed \(seed)")
        mesh.disconnectAll(of: nodes[0])
        nodes[0].stop(kill: true)
        // No checkpoint stands behind what is here, at any moment.
        let source = nodes[1]
        let isWhole = mesh.run(120_000) {
            if let checkpoint = try? puller.reader().checkpoint(of: source.id) {
                let passed = (try? source.reader().feed(after: 0, limit: .max)) ?? []
                for entry in passed where entry.sequence <= checkpoint.sequence {
                    if puller.body(entry.document.string) == nil {
                        Issue.record("seed \(seed): \(entry.document) is behind the checkpoint and not here")
                        return true
                    }
                }
            }
            return mesh.status(puller, source)?.isInSync == true
        }
        #expect(isWhole, "seed \(seed)")
        // A crash of the puller now repeats no more than a batch, and misses nothing.
        puller.stop(kill: true)
        try puller.start()
        try nodes[0].start()
        expectSettled(mesh, bodies, seed)
    }
}

/// The same faults at random, one after the other, under three nodes that write.
@Suite struct RandomSequenceTests {
    @Test func whateverHappensToTheirFilesAllNodesEndTheSame() throws {
        let runs = getenv("KITH_LONG_TESTS") == nil ? 20 : 3_000
        let first = getenv("KITH_SEQUENCE_SEED").flatMap { UInt64(String(cString: $0)) }
        for seed in first.map({ $0...$0 }) ?? 1...UInt64(runs) { try run(seed) }
    }

    /// What a run remembers.
    private struct Past {
        var lastNumber = 0
        /// By id the bodies that were written, and whether it was deleted.
        var written: [String: Int] = [:]
        var deleted: Set<String> = []
        var snapshots: [Int: [[String: [UInt8]]]] = [:]
        /// The last things done, for the message.
        var steps: [String] = []
    }

    private func run(_ seed: UInt64) throws {
        let mesh = try StoreMesh(seed: seed)
        let nodes = try mesh.add(nodes: 3)
        var past = Past()
        for _ in 0..<mesh.random.within(20...60) {
            let node = mesh.random.pick(nodes)
            try step(mesh, node, &past, seed)
            mesh.run(UInt64(mesh.random.below(20)))
        }
        let isSettled = mesh.settle()
        let standing = nodes.map { "\($0.number): \($0.store().summary)" }.joined(separator: "\n")
        let story = "seed \(seed)\n\(past.steps.joined(separator: "; "))\n\(standing)"
        #expect(isSettled, "\(story)")
        #expect(Set(nodes.map(\.digest)).count == 1, "\(story)")
        #expect(mesh.protocolErrors.isEmpty, "\(mesh.protocolErrors) \(story)")
        let living = nodes[0].living()
        for node in nodes.dropFirst() { #expect(node.living() == living, "\(story)") }
        for id in past.deleted { #expect(!living.contains(id), "\(id) came back: \(story)") }
        for (id, number) in past.written where !past.deleted.contains(id) {
            #expect(nodes[0].body(id) == #"{"n":\#(number)}"#, "\(id): \(story)")
        }
    }

    /// One thing happens. What a fault may forget is first brought to another node, so that it may not be lost.
    private func step(_ mesh: StoreMesh, _ node: MeshNode, _ past: inout Past, _ seed: UInt64) throws {
        let others = mesh.nodes.filter { $0 !== node }
        switch mesh.random.below(20) {
        case 0...7:
            past.lastNumber += 1
            let id = "d\(past.lastNumber)"
            try node.put(id, #"{"n":\#(past.lastNumber)}"#)
            past.written[id] = past.lastNumber
            past.steps.append("\(node.number) writes \(id)")
        case 8:
            // Of what this node has: whoever edits it elsewhere has not seen the deletion, so nobody edits.
            guard let id = node.living().filter({ !past.deleted.contains($0) }).first else { return }
            try node.delete(id)
            past.deleted.insert(id)
            past.steps.append("\(node.number) deletes \(id)")
        case 9: mesh.disconnectAll(of: node)
        case 10, 11: mesh.connectAll()
        case 12:
            past.snapshots[node.number, default: []].append(node.snapshot())
            past.steps.append("\(node.number) is copied")
        default:
            // A fault: everything that is acknowledged is with another node before.
            #expect(mesh.settle(), "seed \(seed): \(past.steps)")
            try fault(mesh, node, others, &past)
        }
    }

    private func fault(_ mesh: StoreMesh, _ node: MeshNode, _ others: [MeshNode], _ past: inout Past) throws {
        var files = node.snapshot()
        node.stop(kill: mesh.random.chance(1, in: 2))
        let kind = mesh.random.below(6)
        switch kind {
        case 0: if let older = past.snapshots[node.number] { files = mesh.random.pick(older) }
        case 1: files = mesh.random.pick(others).snapshot()
        case 2:
            files = mesh.random.pick(others).snapshot()
            files["db.sqlite3-wal"] = nil
        case 3: files = [:]
        case 4:
            let log = files["db.sqlite3-wal"] ?? []
            if let end = ([0] + WriteAheadLog.commits(log)).randomElement(by: &mesh.random) {
                files["db.sqlite3-wal"] = Array(log.prefix(end))
            }
        default: break
        }
        past.steps.append("\(node.number) fault \(kind)")
        node.restore(files)
        try node.start()
    }
}

extension Array {
    fileprivate func randomElement(by random: inout SeededGenerator) -> Element? { isEmpty ? nil : random.pick(self) }
}
