import KithDocument
import KithHTTPCore
import KithStore
import KithSystem
import KithTransport

extension NodeService {
    func document(
        _ id: DocumentID, in name: String, revision: RevisionID?, withMeta: Bool
    ) async throws(ControlError) -> ControlDocument {
        let found = try await reading(name) { reader throws(StoreError) in try reader.get(id, revision: revision) }
        guard let found else {
            if let revision {
                throw ControlError(
                    .notFound,
                    "there is no revision \(revision) of document \(Shown.name(id.string)) here; kith history lists them"
                )
            }
            throw .unknownDocument(id, database: name)
        }
        guard revision != nil || !found.isExpired(at: node.clock.wallMilliseconds) else {
            throw ControlError(
                .notFound,
                "document \(Shown.name(id.string)) in \(Shown.name(name)) has expired; put makes it anew, kith get --rev shows it"
            )
        }
        guard !found.isDeleted else {
            throw ControlError(
                .notFound,
                "document \(Shown.name(id.string)) in \(Shown.name(name)) is deleted; kith history shows it, put makes it anew"
            )
        }
        return ControlDocument(body: withMeta ? found.bodyWithMeta : found.body, revision: found.revision)
    }

    func put(
        _ body: [UInt8], as id: DocumentID, in name: String, revision: RevisionID?
    ) async throws(ControlError) -> ControlWritten {
        try node.requireWriter()
        let canonical: [UInt8]
        do throws(DocumentError) { canonical = try CanonicalJSON.object(from: body) } catch {
            throw ControlError(error, document: id.string)
        }
        let written = try await writing(name) { transaction throws(StoreError) in
            try transaction.put(id, canonical, if: revision.map(Precondition.revision) ?? .any)
        }
        return ControlWritten(id: id, revision: written.revision, isNew: !written.isUnchanged)
    }

    func delete(_ id: DocumentID, in name: String, revision: RevisionID?) async throws(ControlError) -> ControlWritten {
        try node.requireWriter()
        let written = try await writing(name) { transaction throws(StoreError) in
            try transaction.delete(id, if: revision)
        }
        return ControlWritten(id: id, revision: written.revision, isNew: true)
    }

    func purge(_ id: DocumentID, in name: String) async throws(ControlError) -> Int {
        let history = try await reading(name) { reader throws(StoreError) in try reader.history(id) }
        try await writing(name) { transaction throws(StoreError) in try transaction.purge(id) }
        return history?.nodes.count(where: \.isLeaf) ?? 0
    }

    func resolve(
        _ id: DocumentID, in name: String, keeping revision: RevisionID
    ) async throws(ControlError) -> ControlWritten {
        try node.requireWriter()
        let written = try await writing(name) { transaction throws(StoreError) in
            try transaction.resolve(id, keep: revision)
        }
        return ControlWritten(id: id, revision: written.revision, isNew: !written.isUnchanged)
    }

    func history(of id: DocumentID, in name: String) async throws(ControlError) -> ControlHistory {
        let history = try await reading(name) { reader throws(StoreError) in
            guard let history = try reader.history(id) else { return ControlHistory?.none }
            return try ControlHistory(history, reader)
        }
        guard let history else { throw .unknownDocument(id, database: name) }
        return history
    }

    // MARK: Asking a database

    func reading<Value: Sendable>(
        _ name: String, _ work: @escaping @Sendable (StoreReader) throws(StoreError) -> Value
    ) async throws(ControlError) -> Value {
        let database = try database(name)
        do throws(StoreError) { return try await database.read(work) } catch { throw ControlError(error) }
    }

    func writing<Value: Sendable>(
        _ name: String, _ work: @escaping @Sendable (WriteTransaction) throws(StoreError) -> Value
    ) async throws(ControlError) -> Value {
        let database = try database(name)
        do throws(StoreError) { return try await database.write(work) } catch { throw ControlError(error) }
    }
}

extension StoredDocument {
    /// The body with `_conflicts`, `_id`, `_rev` and `_sequence`, in canonical form: names with an underscore come before
    /// lower-case letters and after capitals, so they are woven in.
    var bodyWithMeta: [UInt8] {
        var meta = JSONObjectWriter()
        if !conflicts.isEmpty { meta.add("_conflicts", strings: conflicts.map(\.description)) }
        meta.add("_id", id.string)
        meta.add("_rev", revision.description)
        meta.add("_sequence", sequence)
        let separator: [UInt8] = body.count > 2 ? [UInt8(ascii: ",")] : []
        let joined = meta.bytes.dropLast() + separator + body.dropFirst()
        return (try? CanonicalJSON.object(from: Array(joined), limits: .withReservedNames)) ?? Array(joined)
    }
}

extension JSONLimits {
    /// For documents as they are shown, with what the store says of them.
    static let withReservedNames: JSONLimits = {
        var limits = JSONLimits()
        limits.allowsReservedNames = true
        limits.maximumBytes += 1 << 20
        return limits
    }()
}

extension ControlHistory {
    /// The tree, with what the merges that are leaves overruled, as far as the bodies of the merged leaves are kept.
    init(_ history: DocumentHistory, _ reader: StoreReader) throws(StoreError) {
        self.init(id: history.id, revisions: [])
        for node in history.nodes {
            var revision = Revision(id: node.id, kind: Kind(node.kind), parent: node.parent)
            revision.mergedParents = node.mergedParents
            revision.isLeaf = node.isLeaf
            revision.isWinner = node.isWinner
            revision.isForeign = node.isForeign
            revision.time = node.version.map { Stamp.milliseconds(ofTime: $0.highestTime) }
            if node.kind == .merge, node.isLeaf { revision.overruled = try Self.overruled(node, in: history, reader) }
            revisions.append(revision)
        }
    }

    private static func overruled(
        _ merge: DocumentHistory.Node, in history: DocumentHistory, _ reader: StoreReader
    ) throws(StoreError) -> [Overruled] {
        guard let shown = try reader.get(history.id, revision: merge.id) else { return [] }
        let merged = Fields.leaves(of: shown.body)
        var overruled: [Overruled] = []
        for parent in ([merge.parent].compactMap(\.self) + merge.mergedParents).sorted() {
            guard let kept = try reader.get(history.id, revision: parent) else { continue }
            var rest = merged[...]
            for field in Fields.leaves(of: kept.body) {
                while let next = rest.first, next.path < field.path { rest.removeFirst() }
                if rest.first?.path == field.path, rest.first?.value == field.value { continue }
                overruled.append(Overruled(path: field.path.pointer, revision: parent, value: field.value))
            }
        }
        return overruled
    }
}

extension ControlHistory.Kind {
    init(_ kind: Revision.Kind) {
        self =
            switch kind {
            case .edit: .edit
            case .merge: .merge
            case .deleted: .deleted
            case .closed: .closed
            }
    }
}
