import KithDocument
import KithMerge

extension WriteTransaction {
    /// How the database merges at present.
    package var policy: StoredPolicy { memory.policy }

    /// Takes the policy of whoever knows it for certain, also in the place of one with a higher number: a file that was
    /// copied under another name, or that comes from another group, has the policy of what it was. The documents in
    /// conflict are merged by `maintain`, in steps.
    /// - Returns: whether it is another than before.
    package func setPolicy(_ policy: StoredPolicy) throws(StoreError) -> Bool {
        guard policy != memory.policy else { return false }
        try policy.write(connection)
        memory.policy = policy
        memory.merging = policy.policy(with: options.resolvers)
        if state.conflicts > 0 { try SettlingRange(after: 0, through: state.sequence).write(connection) }
        return true
    }

    /// A step of the work that waits: merging documents in conflict after a change of the policy, dropping documents that
    /// expired a day ago, and removing the bodies of overruled leaves whose time is over. To be called again while it says
    /// so.
    /// - Parameters:
    ///   - limit: documents, and bodies, of one step.
    ///   - dropsExpired: false where the wall clock is known to be wrong, or nobody says how long the store was open.
    /// - Returns: whether there may be more to do.
    package func maintain(limit: Int = 100, dropsExpired: Bool = true) throws(StoreError) -> Bool {
        try lookForConflicts()
        let isSettling = try settleConflicts(limit: limit)
        let isDropping = try dropExpired(limit: limit, isClockOff: !dropsExpired)
        let expired = try connection.statement(.dropExpired)
        defer { expired.reset() }
        expired.bind(1, environment.now())
        expired.bind(2, Int64(limit))
        var removed = 0
        while try expired.step() { removed += 1 }
        return isSettling || isDropping || removed == limit
    }

    /// Writes something that means nothing, and is another each time: an equal page would not be written.
    func writeProbe() throws(StoreError) {
        let last = try Setting.read(.probe, connection) ?? []
        let next = last.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } &+ 1
        var writer = ByteWriter()
        writer.append(bigEndian: next)
        try Setting.write(.probe, writer.bytes, connection)
    }

    /// Conflicts may have come while the code that merges them was not here.
    private func lookForConflicts() throws(StoreError) {
        if memory.hasLookedForConflicts { return }
        memory.hasLookedForConflicts = true
        guard !memory.merging.resolver.isEmpty, state.conflicts > 0 else { return }
        try SettlingRange(after: 0, through: state.sequence).write(connection)
    }

    private func settleConflicts(limit: Int) throws(StoreError) -> Bool {
        guard let range = try SettlingRange.read(connection) else { return false }
        var found: [(sequence: UInt64, id: DocumentID)] = []
        let list = try connection.statement(.feedOfConflicts)
        defer { list.reset() }
        list.bind(1, range.after)
        list.bind(2, range.through)
        list.bind(3, Int64(limit))
        while try list.step() { found.append((list.unsigned(0), DocumentID(unchecked: list.string(1)))) }
        list.reset()
        for (_, id) in found {
            var loaded = try load(id)
            let policy = memory.merging
            if !loaded.document.settle(policy).isEmpty { _ = try save(loaded) }
        }
        let isDone = found.count < limit
        if isDone {
            try Setting.write(.settling, nil, connection)
        } else {
            try SettlingRange(after: found[found.count - 1].sequence, through: range.through).write(connection)
        }
        return !isDone
    }

    // Local documents: they do not replicate and have no revisions.

    /// Stores a local document, in the place of what it was.
    package func putLocal(_ id: String, _ body: [UInt8]) throws(StoreError) {
        guard !id.isEmpty, id.utf8.count <= DocumentID.maximumBytes, body.count <= Limits.localDocumentBytes else {
            throw StoreError(
                .invalid, id,
                "a local document needs an id of 1 to \(DocumentID.maximumBytes) bytes and a body of at most "
                    + "\(Limits.localDocumentBytes) bytes")
        }
        let row = try connection.statement(.writeLocal)
        defer { row.reset() }
        row.bind(1, text: id)
        row.bind(2, text: body)
        _ = try row.step()
    }

    /// Removes a local document.
    /// - Returns: whether there was one.
    package func deleteLocal(_ id: String) throws(StoreError) -> Bool {
        let row = try connection.statement(.dropLocal)
        defer { row.reset() }
        row.bind(1, text: id)
        return try row.step()
    }
}

/// Documents in conflict that a new policy has still to see, by their sequences. A document that is merged moves beyond
/// the range.
private struct SettlingRange {
    let after: UInt64
    let through: UInt64

    static func read(_ connection: Connection) throws(StoreError) -> SettlingRange? {
        guard let bytes = try Setting.read(.settling, connection) else { return nil }
        do {
            var reader = ByteReader(bytes)
            return SettlingRange(after: try reader.bigEndian(), through: try reader.bigEndian())
        } catch {
            throw StoreError.damaged(connection.subject, error)
        }
    }

    func write(_ connection: Connection) throws(StoreError) {
        var writer = ByteWriter()
        writer.append(bigEndian: after)
        writer.append(bigEndian: through)
        try Setting.write(.settling, writer.bytes, connection)
    }
}
