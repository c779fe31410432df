import KithDocument

/// All that clients did and were told, and what the nodes showed of it. Written apart from the product: plain lists and
/// dictionaries, and the rules as a user knows them.
struct Model {
    /// One database of one node.
    struct Place: Hashable {
        let node: Int
        let database: Int
    }

    let nodes: Int
    let databases: Int
    /// Of each database; nil once another one has been said: from then on nothing is foretold of what merges hold.
    var policies: [PolicyModel?]
    private var documents: [[DocumentID: DocumentModel]]
    private var replicas: [ReplicaModel]

    init(nodes: Int, databases: Int, policy: PolicyModel?) {
        self.nodes = nodes
        self.databases = databases
        policies = Array(repeating: policy, count: databases)
        documents = Array(repeating: [:], count: databases)
        replicas = Array(repeating: ReplicaModel(), count: nodes * databases)
    }

    subscript(place: Place) -> ReplicaModel {
        get { replicas[place.node * databases + place.database] }
        _modify { yield &replicas[place.node * databases + place.database] }
    }

    subscript(database: Int, document: DocumentID) -> DocumentModel {
        get { documents[database][document] ?? DocumentModel(id: document) }
        _modify { yield &documents[database][document, default: DocumentModel(id: document)] }
    }

    /// All documents of a database that anybody wrote, in the order of their ids.
    func allDocuments(_ database: Int) -> [DocumentModel] {
        documents[database].keys.sorted().compactMap { documents[database][$0] }
    }

    /// A node shows a document.
    /// - Parameter write: the client's write that made it change, if one did.
    /// - Throws: S1, S2, S3, S4, S6, S7, S8, S11, S12 or S14.
    mutating func see(
        _ id: DocumentID, at place: Place, sequence: UInt64, leaves: [Delivery.Item], write: ClientWrite?
    ) throws(Violation) {
        try Self.checkShape(id, leaves)
        let before = self[place][id]
        if before == nil { try self[place].comeBack(id, leaves.map(\.revision.id)) }
        if let write {
            // What came from a peer with the same commit, and its merges, are gone under the write before anybody sees them.
            for item in write.over { try self[place.database, id].see(item.revision, policy: policies[place.database]) }
            try learn(write, of: id, at: place, leaves)
        }
        for item in leaves { try self[place.database, id].see(item.revision, policy: policies[place.database]) }
        let document = self[place.database, id]
        let knowledge = Self.knowledge(leaves, document)
        if let before, let lost = before.knowledge.firstMissing(in: knowledge, ignoring: document.initials) {
            let what = document.writes[lost]
            throw Violation(
                what.isAcknowledged ? .acknowledgedDurability : .causality,
                "\(id) on node \(place.node): \(what.revision) was here and nothing that follows it is; it had "
                    + "\(Self.describe(before.leaves)) and has \(Self.describe(leaves))")
        }
        let isLive = leaves.contains { $0.revision.kind.isLive }
        if isLive != document.mustLive(knowledge), !leaves.allSatisfy({ $0.revision.kind == .closed }) {
            throw isLive
                ? Violation(.noResurrection, "\(id) on node \(place.node) lives though all of it was seen and deleted")
                : Violation(.noLoss, "\(id) on node \(place.node) is gone though no deletion had seen all of it")
        }
        try self[place].name(sequence, id)
        // What was closed is not there for that: only what shows it, or what follows, gets it to others.
        let state = ReplicaModel.State(sequence: sequence, leaves: leaves, knowledge: knowledge, isLive: isLive)
        if state.isOpen { self[place.database, id].mustKeep(knowledge) }
        self[place].set(id, state)
    }

    /// Takes up what a client wrote on a node of which nothing is expected, not even that it keeps it.
    mutating func learnOnly(_ write: ClientWrite, of id: DocumentID, at place: Place, _ leaves: [Delivery.Item])
        throws(Violation)
    {
        for item in write.over { try? self[place.database, id].see(item.revision, policy: policies[place.database]) }
        try learn(write, of: id, at: place, leaves)
        self[place.database, id].mayLose(write.revision)
    }

    /// Takes up what a client wrote: one revision, or the deletions by which it settled a conflict.
    private mutating func learn(
        _ write: ClientWrite, of id: DocumentID, at place: Place, _ leaves: [Delivery.Item]
    ) throws(Violation) {
        var deletions = write.over.filter { $0.revision.kind == .deleted }.map(\.revision.id)
        let written = leaves.map(\.revision).filter { revision in
            write.isSettling ? revision.kind == .deleted : revision.id == write.revision
        }.sorted { ($0.parent ?? $0.id) < ($1.parent ?? $1.id) }
        for revision in written {
            // Two clients may make one and the same deletion.
            if self[place.database, id][revision.id] == nil {
                try self[place.database, id].write(
                    revision, by: place.node, kind: write.kind, body: write.body, deletions: deletions)
            }
            deletions.append(revision.id)
        }
    }

    /// All writes in the past of leaves; a closed leaf counts with what it closed while there is no other.
    private static func knowledge(_ leaves: [Delivery.Item], _ document: DocumentModel) -> WriteSet {
        var knowledge = WriteSet()
        let open = leaves.filter { $0.revision.kind != .closed }
        for item in open { if let known = document[item.revision.id] { knowledge.formUnion(known.history) } }
        if open.isEmpty {
            for item in leaves {
                if let known = item.revision.parent.flatMap({ document[$0] }) { knowledge.formUnion(known.history) }
            }
        }
        return knowledge
    }

    /// A node has purged a document with these leaves.
    /// - Parameter places: those that hold what they hold: what none of them has is gone with it, as it is meant to be.
    mutating func purge(_ id: DocumentID, at place: Place, _ leaves: [RevisionID], besides places: [Place]) {
        mayLose(id, at: place, besides: places)
        self[place].purge(id, leaves)
    }

    private mutating func mayLose(_ id: DocumentID, at place: Place, besides places: [Place]) {
        guard let state = self[place][id] else { return }
        var elsewhere = WriteSet()
        for other in places where other != place {
            if let its = self[other][id], its.isOpen { elsewhere.formUnion(its.knowledge) }
        }
        self[place.database, id].mayLose(state.knowledge, besides: elsewhere)
    }

    /// What a place holds is gone, as a fault means it. Writes that no other place has need not come back.
    /// - Parameter places: those that hold what they hold.
    mutating func lose(_ place: Place, besides places: [Place]) {
        for id in self[place].documents { mayLose(id, at: place, besides: places) }
        let kept = self[place]
        self[place] = ReplicaModel()
        self[place].takeNames(of: kept)
    }

    /// The disk of a place is as it was at another time, with all that it held.
    mutating func bringBack(_ place: Place, _ earlier: ReplicaModel, at time: UInt64) {
        self[place].goBack(to: earlier, at: time)
        for id in earlier.documents {
            guard let state = earlier[id], state.isOpen else { continue }
            self[place.database, id].mustKeep(state.knowledge)
        }
    }

    static func describe(_ leaves: [Delivery.Item]) -> String {
        let words = leaves.map { item in
            "\(item.revision.kind) \(item.revision.id) over \(item.ancestors.map(\.id.description).shown(" < "))"
        }
        return "[\(words.shown(", "))]"
    }

    /// S4, as far as leaves and their ancestry show it.
    private static func checkShape(_ id: DocumentID, _ leaves: [Delivery.Item]) throws(Violation) {
        for (index, item) in leaves.enumerated() {
            let revision = item.revision
            if index > 0, leaves[index - 1].revision.id >= revision.id {
                throw Violation(.treeValidity, "\(id): leaves are out of order at \(revision.id)")
            }
            var below = revision.id
            for (step, ancestor) in item.ancestors.enumerated() {
                let fits =
                    step == 0 && revision.parent != nil
                    ? ancestor.id == revision.parent : ancestor.id.generation < below.generation
                guard fits, ancestor.id.generation + 1 == below.generation else {
                    throw Violation(.treeValidity, "\(id): \(ancestor.id) can't be the parent of \(below)")
                }
                if leaves.contains(where: { $0.revision.id == ancestor.id }) {
                    throw Violation(.treeValidity, "\(id): \(ancestor.id) is a leaf and an ancestor of \(revision.id)")
                }
                below = ancestor.id
            }
        }
    }
}

/// What a client meant to write, once its node has written it.
struct ClientWrite {
    /// The leaves that its transaction found.
    let over: [Delivery.Item]
    let revision: RevisionID
    let kind: DocumentModel.WriteKind
    /// Canonical values by path; nil for a deletion.
    let body: [(path: String, value: String)]?
    /// Whether it ended all live leaves but `revision`.
    let isSettling: Bool
}
