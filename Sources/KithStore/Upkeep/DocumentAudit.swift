import KithDocument
import KithMerge

/// Checks what stands in a file of one document, from nothing but what stands there: every revision by its hash, and
/// whether the row says of them what they say themselves.
struct DocumentAudit {
    private let digests = DocumentDigest()

    struct Result {
        /// What is wrong; empty for a sound document.
        var faults: [String] = []
        /// The leaves that the row names, as far as its tree can be read.
        var leaves: [RevisionID] = []
        /// What the document adds to the digest; meaningful where it is sound.
        var digest: Digest256?
        var flags: DocumentFlags = []
        /// Nil where the tree or the id can't be read.
        var document: Document?
        /// The leaves whose content and body are what their hash says.
        fileprivate(set) var sound: [Revision] = []

        var isSound: Bool { faults.isEmpty }
        var soundLeaves: Int { sound.count }
    }

    func check(_ row: StoredRow) -> Result {
        var result = Result()
        guard let text = String(validating: row.id, as: UTF8.self), let id = try? DocumentID(text) else {
            result.faults.append("its id is no id of a document")
            return result
        }
        let tree: RevisionTree
        do throws(DocumentError) { tree = try RevisionTree(encoded: row.tree) } catch {
            result.faults.append("its revision tree can't be read: \(error.message)")
            return result
        }
        if row.sequence == 0 || row.sequence > UInt64(Int64.max) {
            result.faults.append("its sequence is out of range")
        }
        let leaves = tree.leaves
        result.leaves = leaves.map(\.id)
        let document = Document(id: id, tree: tree, bodies: bodies(of: row, tree, &result))
        result.document = document
        checkRevisions(document, leaves, &result)
        checkOtherBodies(row, document, &result)
        checkRow(row, document, &result)
        result.digest = digests.digest(of: id, tree)
        return result
    }

    /// The document as far as it is sound: as if only those leaves had come. Nil where none is.
    func rescued(_ result: Result) -> Document? {
        guard let id = result.document?.id, !result.sound.isEmpty else { return nil }
        var document = Document(id: id)
        // Closed leaves last: which of them count hangs on the others.
        for revision in result.sound.filter({ $0.kind != .closed }) + result.sound.filter({ $0.kind == .closed }) {
            let kind = revision.parent.flatMap { result.document?.tree[$0]?.kind } ?? .edit
            _ = document.receive(
                Delivery.Item(
                    revision: revision, ancestors: revision.parent.map { [Ancestor(id: $0, kind: kind)] } ?? []))
        }
        return document.shownRevision == nil ? nil : document
    }

    /// The bodies that the row and those beside it hold, by revision.
    private func bodies(of row: StoredRow, _ tree: RevisionTree, _ result: inout Result) -> RevisionBodies {
        var bodies = RevisionBodies()
        if let body = row.body {
            if let shown = RevisionID(column: row.revision) {
                bodies[shown] = body
            } else {
                result.faults.append("the row's revision id can't be read")
                // Whose body it is the hash will tell.
                if let winner = tree.live.last { bodies[winner.id] = body }
            }
        }
        for other in row.bodies where other.keptUntil == nil {
            if let revision = RevisionID(column: other.revision) { bodies[revision] = other.body }
        }
        return bodies
    }

    private func checkRevisions(_ document: Document, _ leaves: [RevisionTree.Node], _ result: inout Result) {
        let live = document.tree.live.map(\.id)
        for node in document.tree.nodes {
            guard node.content != nil else { continue }
            let isLeaf = leaves.contains { $0.id == node.id }
            // Of an ancestor whose parent was cut the hash can't be made any more, nor without its body.
            guard isLeaf || live.contains(node.id) else { continue }
            if !isLeaf, node.parent == nil, node.id.generation > 1 { continue }
            let body = document.body(of: node.id)
            if node.kind.isLive, body == nil {
                if live.contains(node.id) { result.faults.append("the body of revision \(node.id) is missing") }
                continue
            }
            guard let revision = node.revision(body: node.kind.isLive ? body ?? [] : []) else { continue }
            do throws(DocumentError) {
                try revision.verify()
                if isLeaf { result.sound.append(revision) }
            } catch {
                result.faults.append("its content and its hash differ: \(error.message)")
            }
        }
    }

    private func checkOtherBodies(_ row: StoredRow, _ document: Document, _ result: inout Result) {
        let others = document.live.dropLast().map(\.id)
        for other in row.bodies {
            guard let revision = RevisionID(column: other.revision) else {
                result.faults.append("a body is kept of a revision whose id can't be read")
                continue
            }
            if other.keptUntil != nil {
                let isObject = other.body.withUnsafeBytes { CanonicalJSON.isCanonicalObject($0) }
                if !isObject { result.faults.append("the body kept of the overruled revision \(revision) is damaged") }
            } else if !others.contains(revision) {
                result.faults.append("a body stands there of revision \(revision), which needs none")
            }
        }
    }

    /// Whether the row says what follows from the tree and the bodies.
    private func checkRow(_ row: StoredRow, _ document: Document, _ result: inout Result) {
        let live = document.live
        guard let shown = live.last?.id ?? document.shownRevision else {
            result.faults.append("it has no revision")
            return
        }
        result.flags = DocumentFlags(
            live: live, tree: document.tree, shown: shown, body: live.last.flatMap { document.body(of: $0.id) })
        if !result.faults.isEmpty { return }
        if shown.encoded != row.revision { result.faults.append("it shows another revision than its winner \(shown)") }
        if result.flags.rawValue != row.flags {
            result.faults.append("its flags are \(row.flags) and should be \(result.flags.rawValue)")
        }
        if row.body != nil, live.isEmpty { result.faults.append("it has a body and nothing of it lives") }
    }
}
