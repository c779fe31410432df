import KithCrypto
import KithDocument
import KithQuery

/// Which documents of a database are taken by who wants a part of it. The same on every node: it looks at nothing but the
/// document, and counts what it costs in steps and not in time.
package struct DocumentFilter: Sendable {
    enum Rule: Sendable {
        case documents([DocumentID], Set<DocumentID>)
        case selector(CheckedFilter)
    }

    let rule: Rule
    /// Names the filter among all: checkpoints hold for one.
    let name: [UInt8]

    /// These documents, whatever they are.
    /// - Parameters:
    ///   - documents: ascending, each once.
    ///   - bytes: what the filter is, in one way to write it.
    package init(_ documents: [DocumentID], bytes: [UInt8]) {
        rule = .documents(documents, Set(documents))
        name = SHA256.hash(bytes).bytes
    }

    /// The documents of which something lives and whose winner fits a Mango selector.
    /// - Throws: `StoreError` `invalid` for what is no selector.
    package init(selector: [UInt8], bytes: [UInt8]) throws(StoreError) {
        guard let value = try? JSONValue(parsing: selector), value.canonicalBytes == selector else {
            throw StoreError(.invalid, "filter", "the filter is no canonical JSON")
        }
        do {
            rule = .selector(try MangoQuery.filter(value))
        } catch {
            throw StoreError(.invalid, "filter", "the filter is no selector: \(error.message)")
        }
        name = SHA256.hash(bytes).bytes
    }

    /// Documents that are named; nil where it looks into bodies.
    var documents: [DocumentID]? { if case .documents(let list, _) = rule { list } else { nil } }
}

/// Applies a filter to rows, and counts what that costs.
final class DocumentMatcher {
    /// Looks at whether the work is still wanted, each after some steps: in all, and at the document at hand.
    private final class Looks {
        var all = 0
        var atOne = 0
    }

    private let rule: DocumentFilter.Rule
    private let looks: Looks
    private let work: QueryWork
    private let evaluator: QueryEvaluator

    init(_ filter: DocumentFilter) {
        rule = filter.rule
        let looks = Looks()
        self.looks = looks
        work = QueryWork {
            looks.all += 1
            looks.atOne += 1
            return looks.atOne > Limits.filterLooksPerDocument
        }
        evaluator = QueryEvaluator(context: FunctionContext(work: work))
    }

    /// Whether so much was evaluated that a page should end.
    var isSpent: Bool { looks.all >= Limits.filterLooksPerPage }

    /// - Parameter row: of sequence, id, flags, revision, tree and body.
    func matches(_ row: Statement, _ id: DocumentID) throws(StoreError) -> Bool {
        switch rule {
        case .documents(_, let wanted): return wanted.contains(id)
        case .selector(let filter):
            if row.isNull(5) || DocumentFlags(rawValue: row.number(2)).contains(.deleted) { return false }
            guard let body = row.withBytes(5, { JSONValue(canonical: $0) })?.object else { return false }
            let revision = try RevisionID(row, 3, of: id.string)
            let metadata = DocumentMetadata(id: id.string, revision: revision.description)
            looks.atOne = 0
            work.beginAnew()
            // One that costs too much, or can't be evaluated, does not match: it holds up no other.
            return (try? evaluator.isTrue(filter, of: QueryDocument(metadata, body))) ?? false
        }
    }
}
