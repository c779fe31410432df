import KithDocument

/// What is known of one document from what clients did, and nothing else: their writes, and for every revision which of
/// them are in its past.
struct DocumentModel {
    enum WriteKind { case edit, deletion, initial }

    struct Write {
        let kind: WriteKind
        let node: Int
        let revision: RevisionID
        /// The stamp of an edit.
        let time: UInt64
        let writer: UInt64
        /// Whether a client was told that it is done.
        var isAcknowledged = false
        /// A fault has taken the only place that had it, as it may.
        var mayBeLost = false

        /// Whether it must be in the past of what is shown for ever.
        var mustStay: Bool { kind != .initial && !mayBeLost }
    }

    struct Known {
        let kind: Revision.Kind
        let history: WriteSet
        /// Nil where the fields are not modelled.
        let fields: FieldModel?
        let body: [UInt8]
    }

    let id: DocumentID
    private(set) var writes: [Write] = []
    /// Looked up only.
    private var revisions: [RevisionID: Known] = [:]
    private var merges: [[RevisionID]: RevisionID] = [:]
    private var closings: [RevisionID: RevisionID] = [:]
    /// Loads of initial data, which any edit outranks and any deletion ends.
    private(set) var initials = WriteSet()
    /// Writes that no version names.
    private var unnamed = WriteSet()
    /// False once a register and a deeper field may compete.
    private(set) var isModelled = true
    private var paths: [String] = []

    init(id: DocumentID) { self.id = id }

    subscript(revision: RevisionID) -> Known? { revisions[revision] }

    /// Writes that only a lost place had need not come back.
    mutating func mayLose(_ knowledge: WriteSet, besides elsewhere: WriteSet) {
        for index in writes.indices where knowledge.contains(index) && !elsewhere.contains(index) {
            writes[index].mayBeLost = true
        }
    }

    /// Writes that are there again, or still, whatever was lost elsewhere.
    mutating func mustKeep(_ knowledge: WriteSet) {
        for index in writes.indices where writes[index].mayBeLost && knowledge.contains(index) {
            writes[index].mayBeLost = false
        }
    }

    mutating func mayLose(_ revision: RevisionID) {
        for index in writes.indices where writes[index].revision == revision { writes[index].mayBeLost = true }
    }

    mutating func acknowledge(_ revision: RevisionID) {
        for index in writes.indices where writes[index].revision == revision { writes[index].isAcknowledged = true }
    }

    /// Fields that a client writes: from where one is under another on, nothing is foretold of the fields.
    mutating func notePaths(_ written: [String]) {
        for path in written where !paths.contains(where: { $0.utf8.elementsEqual(path.utf8) }) {
            if paths.contains(where: {
                $0.utf8.starts(with: (path + "/").utf8) || path.utf8.starts(with: ($0 + "/").utf8)
            }) {
                isModelled = false
            }
            paths.append(path)
        }
    }

    // What a client wrote.

    /// A client's revision.
    /// - Parameters:
    ///   - body: what the client meant to write, field by field; nil for a deletion.
    ///   - deletions: the deleted leaves that its node had.
    mutating func write(
        _ revision: Revision, by node: Int, kind: WriteKind, body: [(path: String, value: String)]?,
        deletions: [RevisionID]
    ) throws(Violation) {
        let number = writes.count
        var history = WriteSet(number)
        var base: Known?
        if let parent = revision.parent {
            guard let known = revisions[parent] else {
                throw Violation(.noInvention, "\(id): a client's \(revision.id) follows \(parent), which nobody wrote")
            }
            history.formUnion(known.history)
            if known.kind.isLive { base = known }
        }
        for deletion in deletions { if let known = revisions[deletion] { history.formUnion(known.history) } }
        // An edit's own stamp is the highest: later than all that any leaf knew.
        let own = revision.version.entries.max { $0.time < $1.time }
        let isEdit = kind == .edit
        writes.append(
            Write(
                kind: kind, node: node, revision: revision.id, time: isEdit ? own?.time ?? 0 : 0,
                writer: isEdit ? own?.writer ?? 0 : 0))
        if kind == .initial { initials.insert(number) }
        if kind != .edit { unnamed.insert(number) }
        var fields: FieldModel?
        if let body, isModelled {
            fields = (base?.fields ?? FieldModel()).written(
                body, time: writes[number].time, writer: writes[number].writer)
            if base != nil, base?.fields == nil { fields = nil }
        }
        // Whatever is known of the fields that it follows.
        if let body, !revision.body.elementsEqual(FieldModel.body(of: body).utf8) {
            throw Violation(.fidelity, "\(id): \(revision.id) is not the body that a client wrote")
        }
        try learn(revision, Known(kind: revision.kind, history: history, fields: fields, body: revision.body))
    }

    // What a node shows.

    /// A leaf that a node has: known from a client, or what the rules make of such.
    mutating func see(_ revision: Revision, policy: PolicyModel?) throws(Violation) {
        if let known = revisions[revision.id] {
            guard known.body == revision.body, known.kind == revision.kind else {
                throw Violation(.fidelity, "\(id): \(revision.id) is not what it was")
            }
            return
        }
        switch revision.kind {
        case .merge: try seeMerge(revision, policy: policy)
        case .closed: try seeClosing(revision)
        case .edit, .deleted:
            throw Violation(.noInvention, "\(id): nobody wrote \(revision.id) (\(revision.kind))")
        }
    }

    private mutating func seeMerge(_ merge: Revision, policy: PolicyModel?) throws(Violation) {
        guard let parent = merge.parent, policy?.merges != false else {
            throw Violation(.noInvention, "\(id): \(merge.id) merges what nobody asked to merge")
        }
        let parents = merge.mergedParents + [parent]
        var history = WriteSet()
        var fields: FieldModel? = isModelled && policy != nil ? FieldModel() : nil
        for parent in parents {
            guard let known = revisions[parent] else {
                // A merge that lived only within one transaction: what it knew is what its version names.
                history.formUnion(named(by: merge.version))
                fields = nil
                continue
            }
            history.formUnion(known.history)
            fields = known.fields.flatMap { its in policy.flatMap { fields?.merged(with: its, by: $0) } }
        }
        if let other = merges[parents], other != merge.id {
            throw Violation(.convergentMerges, "\(id): one conflict was merged as \(other) and as \(merge.id)")
        }
        merges[parents] = merge.id
        if let fields, !merge.body.elementsEqual(fields.body.utf8) {
            throw Violation(.mergeLaws, "\(id): \(merge.id) does not hold what its parents make by the policy")
        }
        try learn(merge, Known(kind: .merge, history: history, fields: fields, body: merge.body))
    }

    private mutating func seeClosing(_ closing: Revision) throws(Violation) {
        guard let parent = closing.parent else {
            throw Violation(.noInvention, "\(id): \(closing.id) closes nothing")
        }
        if let other = closings[parent], other != closing.id {
            throw Violation(.convergentMerges, "\(id): \(parent) was closed as \(other) and as \(closing.id)")
        }
        try verify(closing)
        closings[parent] = closing.id
        revisions[closing.id] = Known(kind: .closed, history: WriteSet(), fields: nil, body: [])
    }

    /// - Throws: S12 where the version names other writes than are in the revision's past, but for those that it has forgotten.
    private mutating func learn(_ revision: Revision, _ known: Known) throws(Violation) {
        try verify(revision)
        for (number, write) in writes.enumerated() where write.kind == .edit {
            let isNamed = (revision.version[write.writer] ?? 0) >= write.time
            if isNamed != known.history.contains(number) {
                // An edit keeps so many of the latest writers, and what follows it knows no others.
                let later = revision.version.entries.count { $0.time > write.time }
                if !isNamed, later >= DocumentLimits.versionEntries { continue }
                let verb = isNamed ? "claims to have seen" : "does not say that it has seen"
                throw Violation(.causality, "\(id): \(revision.id) \(verb) \(write.revision)")
            }
        }
        if let fields = known.fields, !revision.body.elementsEqual(fields.body.utf8) {
            throw Violation(.fidelity, "\(id): \(revision.id) is not the body that was written")
        }
        revisions[revision.id] = known
    }

    private func verify(_ revision: Revision) throws(Violation) {
        do {
            try revision.verify()
        } catch {
            throw Violation(.noInvention, "\(id): \(error.message)")
        }
    }

    private func named(by version: Version) -> WriteSet {
        var named = WriteSet()
        for (number, write) in writes.enumerated() where write.kind == .edit {
            guard (version[write.writer] ?? 0) >= write.time else { continue }
            named.insert(number)
            // A version names no deletions: those that an edit had seen are in its past.
            if let known = revisions[write.revision] { named.formUnion(known.history) }
        }
        return named
    }

    // What follows from what is known.

    /// The first write that must show in some open leaf, in its past at least: of which nothing is known that was lost.
    var firstThatMustShow: Write? {
        var behind = WriteSet()
        for write in writes where write.mayBeLost {
            if let known = revisions[write.revision] { behind.formUnion(known.history) }
        }
        return writes.indices.first { writes[$0].mustStay && !behind.contains($0) }.map { writes[$0] }
    }

    /// Deletions that need not reach whoever shows these leaves: one of them has seen every edit that the deletion had, and
    /// is a deletion itself or knows another edit. What was deleted lives on with that, so it makes no difference, counts in
    /// no digest, and who has it depends on how much history was sent.
    func overtaken(by leaves: [Delivery.Item]) -> WriteSet {
        var overtaken = WriteSet()
        for (number, write) in writes.enumerated() where write.kind == .deletion {
            guard let deleted = revisions[write.revision]?.history else { continue }
            let isOvertaken = leaves.contains { leaf in
                guard leaf.revision.kind != .closed, let known = revisions[leaf.revision.id]?.history,
                    deleted.firstMissing(in: known, ignoring: unnamed) == nil
                else { return false }
                return leaf.revision.kind == .deleted || known.firstMissing(in: deleted, ignoring: unnamed) != nil
            }
            if isOvertaken { overtaken.insert(number) }
        }
        return overtaken
    }

    /// Whether a document of which these writes are known must live: some edit that no known deletion had seen, or
    /// initial data that nobody edited or deleted.
    /// - Parameter isInTheEnd: what a lost write may have ended need not live then.
    func mustLive(_ knowledge: WriteSet, isInTheEnd: Bool = false) -> Bool {
        var deleted = WriteSet()
        var hasDeletion = false
        for (number, write) in writes.enumerated()
        where write.kind == .deletion && knowledge.contains(number) || isInTheEnd && write.mayBeLost {
            hasDeletion = true
            if let known = revisions[write.revision] { deleted.formUnion(known.history) }
        }
        for (number, write) in writes.enumerated() where knowledge.contains(number) {
            if write.kind == .edit, !deleted.contains(number) { return true }
            if write.kind == .initial, !hasDeletion { return true }
        }
        return false
    }
}
