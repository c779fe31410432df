import KithDocument
import KithMerge
import KithTestSupport

/// What the checks know and no replica does: who saw what, and what each edit wrote.
struct World {
    /// Edits, deletions and initial data by number; a history has at most 80.
    typealias Events = UInt128

    /// What an edit stamped: path, stamp and value.
    typealias Writes = [ReferenceFields.Path: ReferenceFields.Entry]

    private var writers: WriterID = 1000
    private(set) var eventCount = 0
    /// The edits and deletions in the past of a revision, itself included.
    private(set) var seen: [RevisionID: Events] = [:]
    /// The fields of live revisions as the reference has them.
    private(set) var fields: [RevisionID: ReferenceFields] = [:]
    private(set) var edits: [(event: Int, past: Events, writes: Writes)] = []
    private(set) var deletions: [(event: Int, seen: Events)] = []
    private(set) var initial: [(event: Int, fields: ReferenceFields)] = []
    /// The fields of what was written, not merged.
    private(set) var written: [ReferenceFields] = []

    /// Where the real code and the reference differ, or a revision is malformed.
    var complaints: [String] = []

    mutating func newWriter() -> WriterID {
        writers += 1
        return writers
    }

    mutating func newEvent() -> Int {
        eventCount += 1
        precondition(eventCount < 128, "a history has too many events")
        return eventCount - 1
    }

    func seen(by ids: [RevisionID]) -> Events { ids.reduce(0) { $0 | (seen[$1] ?? 0) } }

    /// Initial data is an event too, so that it is known to exist, but no edit.
    mutating func noteInitial(_ id: RevisionID, _ fields: ReferenceFields) {
        if seen[id] != nil { return }
        let event = newEvent()
        seen[id] = 1 << event
        self.fields[id] = fields
        written.append(fields)
        initial.append((event, fields))
    }

    mutating func noteEdit(_ id: RevisionID, after past: Events, _ fields: ReferenceFields, _ stamp: Stamp) {
        let event = newEvent()
        seen[id] = past | 1 << event
        self.fields[id] = fields
        written.append(fields)
        edits.append((event, past, fields.entries.filter { $0.value.stamp == stamp }))
    }

    mutating func noteDeletion(_ id: RevisionID, after past: Events) {
        // Two who delete the same with the same knowledge write one revision.
        if seen[id] != nil { return }
        let event = newEvent()
        seen[id] = past | 1 << event
        deletions.append((event, past | 1 << event))
    }

    mutating func noteMerge(_ id: RevisionID, of leaves: [RevisionID], _ fields: ReferenceFields) {
        seen[id] = seen(by: leaves)
        self.fields[id] = fields
    }

    mutating func noteClosing(_ id: RevisionID, of leaf: RevisionID) { seen[id] = seen[leaf] ?? 0 }
}

/// The bounds that a run lowers, so that small histories reach them.
struct Bounds {
    var trim = TrimLimits()
    /// Ancestors kept per branch; nil keeps all.
    var ancestors: Int?
    var closedGenerations = DocumentLimits.closedGenerations
}

/// One node's copy of the one document, around the real code.
struct Replica {
    var document = Document(id: DocumentID(unchecked: "d"))
    var writer: WriterID
    var policy: any MergePolicy
    /// What the policy is held against; nil for one whose fields are not foretold.
    var reference: ReferencePolicy?
    /// The fresh writers of leaves that were written beside others.
    var onceWriters: [RevisionID: WriterID] = [:]
    var isPurged = false
    let bounds: Bounds

    init(_ world: inout World, policy: any MergePolicy, reference: ReferencePolicy?, bounds: Bounds) {
        writer = world.newWriter()
        self.policy = policy
        self.reference = reference
        self.bounds = bounds
    }

    var tree: RevisionTree { document.tree }

    /// What the document shows; nil when it does not live.
    var body: String? { document.winner.map { String(decoding: $0.body, as: UTF8.self) } }

    /// What must become equal everywhere: the leaves that are not closed with their versions, and the body.
    struct State: Equatable, CustomStringConvertible {
        let leaves: [RevisionID]
        let kinds: [Revision.Kind]
        let versions: [Version?]
        let body: String?

        var description: String {
            let listed = zip(leaves, zip(kinds, versions)).map { leaf, rest in
                let version = rest.1?.entries.map { "\($0.writer):\($0.time)" }.joined(separator: ",") ?? "?"
                return "\(leaf.description.prefix(8)) \(rest.0) {\(version)}"
            }
            return "[\(listed.joined(separator: "; "))] \(body ?? "-")"
        }
    }

    var state: State {
        let leaves = standing
        return State(
            leaves: leaves.map(\.id), kinds: leaves.map(\.kind), versions: leaves.map(\.content?.version), body: body)
    }

    /// The leaves that are not closed. Where versions are cut short, a deletion may be a leaf here and an ancestor there,
    /// as what had seen it can't be told: then only what lives is compared.
    private var standing: [RevisionTree.Node] {
        let isCut = bounds.trim.versionEntries < DocumentLimits.versionEntries
        return tree.leaves.filter { isCut ? $0.kind.isLive : $0.kind != .closed }
    }

    // MARK: Writing

    mutating func edit(
        _ world: inout World, over leaf: RevisionID?, clock: UInt64, _ change: (inout ReferenceFields.Leaves) -> Void
    ) {
        let base = leaf ?? document.live.last?.id
        let before = base.flatMap { world.fields[$0] } ?? ReferenceFields()
        var leaves = before.shown
        change(&leaves)
        let past = world.seen(by: (base.map { [$0] } ?? []) + tree.deleted.map(\.id))
        let highest = tree.highestTime
        let isFirst = tree.isEmpty && !isPurged
        let context = EditContext(
            clock: clock, writer: writer, isPurgedHere: isPurged, onceWriter: { [onceWriters] in onceWriters[$0] },
            freshWriter: { [next = world.newWriter()] in next })
        let result: Document.EditResult
        do throws(DocumentError) {
            result = try document.edit(
                Array(ReferenceFields.body(of: leaves).utf8), replacing: leaf, context, limits: bounds.trim)
        } catch {
            return world.complaints.append("an edit failed: \(error.message)")
        }
        switch result {
        case .unchanged(let id):
            if id != base || leaves != before.shown { world.complaints.append("an edit was taken for none") }
        case .written(let id, let author):
            if author != writer { onceWriters[id] = author }
            let stamp = Stamp(time: isFirst ? max(1, clock) : max(1, clock, highest + 1), writer: author)
            let limit = isFirst ? Int.max : bounds.trim.absentStamps
            let expected = before.edited(to: leaves, stamp: stamp, absentLimit: limit) ?? before
            check(id, has: expected, &world)
            world.noteEdit(id, after: past, expected, stamp)
            tidy()
        }
    }

    mutating func delete(_ world: inout World, _ leaf: RevisionID?) {
        guard let base = leaf ?? document.live.last?.id else { return }
        let past = world.seen(by: [base] + tree.deleted.map(\.id))
        do throws(DocumentError) {
            guard let id = try document.delete(leaf) else {
                return world.complaints.append("what lives could not be deleted")
            }
            world.noteDeletion(id, after: past)
        } catch {
            world.complaints.append("a deletion failed: \(error.message)")
        }
        tidy()
    }

    /// Initial data, where nothing is known yet.
    mutating func initialize(_ world: inout World, _ leaves: ReferenceFields.Leaves) {
        guard let id = document.initialize(Array(ReferenceFields.body(of: leaves).utf8)) else { return }
        var fields = ReferenceFields()
        for (path, value) in leaves { fields.entries[path] = .init(stamp: .zero, value: value) }
        check(id, has: fields, &world)
        world.noteInitial(id, fields)
    }

    // MARK: Merging

    mutating func settle(_ world: inout World) {
        let before = document
        let settlement = document.settle(policy)
        if let id = settlement.merge, let node = tree[id], let parent = node.parent {
            let leaves = (node.content?.mergedParents ?? []) + [parent]
            if let reference {
                let fields = reference.merge(leaves.map { world.fields[$0] ?? ReferenceFields() })
                check(id, has: fields, &world)
                world.noteMerge(id, of: leaves, fields)
            } else {
                world.noteMerge(id, of: leaves, realFields(of: id) ?? ReferenceFields())
            }
        }
        for tombstone in tree.leaves where tombstone.kind == .closed {
            if let leaf = tombstone.parent, settlement.closed.contains(leaf) {
                world.noteClosing(tombstone.id, of: leaf)
            }
        }
        if settlement.isEmpty && document.tree != before.tree { world.complaints.append("settling hid a change") }
        tidy()
    }

    /// Takes leaves of another replica; of each leaf only its ids above come along.
    mutating func pull(_ source: Replica, _ takes: (RevisionID) -> Bool) {
        for leaf in source.tree.leaves where takes(leaf.id) {
            guard let revision = source.document.revision(leaf.id) else { continue }
            _ = document.receive(
                Delivery.Item(revision: revision, ancestors: source.tree.ancestors(of: leaf.id)))
        }
        tidy()
    }

    // MARK: Faults

    /// Put back to an earlier copy and opened: a new timeline, and with it a new writer.
    mutating func restore(_ copy: Replica, _ world: inout World) {
        document = copy.document
        writer = world.newWriter()
        onceWriters = [:]
    }

    mutating func purge() {
        document = Document(id: document.id)
        isPurged = true
    }

    /// What a store does after each write: branches are cut, and old closed leaves dropped.
    private mutating func tidy() {
        guard bounds.ancestors != nil || bounds.closedGenerations < DocumentLimits.closedGenerations else { return }
        var tree = document.tree
        if let ancestors = bounds.ancestors { tree.stem(to: ancestors) }
        tree.dropOldClosedLeaves(below: bounds.closedGenerations)
        var bodies = RevisionBodies()
        for node in tree.nodes { bodies[node.id] = document.body(of: node.id) }
        document = Document(id: document.id, tree: tree, bodies: bodies)
    }

    // MARK: Checks

    private func realFields(of id: RevisionID) -> ReferenceFields? {
        guard let stamps = tree[id]?.content?.stamps, let body = document.body(of: id) else { return nil }
        return ReferenceFields(Fields(body: body, stamps: stamps))
    }

    /// A new revision must be well formed and have the fields that the reference has.
    private func check(_ id: RevisionID, has expected: ReferenceFields, _ world: inout World) {
        guard let revision = document.revision(id), let real = realFields(of: id) else {
            return world.complaints.append("revision \(id) is not there after it was written")
        }
        do throws(DocumentError) { try revision.verify() } catch { world.complaints.append(error.message) }
        if real != expected { world.complaints.append("revision \(id) has \(real), expected \(expected)") }
        let body = String(decoding: revision.body, as: UTF8.self)
        if body != ReferenceFields.body(of: expected.shown) {
            world.complaints.append(
                "revision \(id) shows \(body), expected \(ReferenceFields.body(of: expected.shown))")
        }
    }
}
