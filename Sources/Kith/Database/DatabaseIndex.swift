import KithNode
import KithQuery
import KithStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An index: what makes queries find documents without reading them all, and every write a little dearer. It is this node's
/// alone, stands in the file of the database, and is kept with each write, in the same transaction.
public struct DatabaseIndex: Hashable, Sendable {
    let definition: IndexDefinition

    /// Of the values of expressions, in this order.
    ///
    ///     try DatabaseIndex("by-due", on: "dueDate", "title", where: "type = 'todo'")
    ///
    /// - Parameters:
    ///   - name: up to 100 letters from a to z, digits, `_` and `-`.
    ///   - expressions: in SQL++, as queries have them: `dueDate`, `LOWER(title)`.
    ///   - filter: only documents for which it is true are in it. Without parameters and without the time.
    /// - Throws: `KithError` `invalid` with the place in the expression that is wrong.
    public init(_ name: String, on expressions: String..., where filter: String? = nil) throws(KithError) {
        try self.init(name, .values(expressions), filter)
    }

    /// Of the elements of an array, for UNNEST, ANY and IN.
    /// - Parameters:
    ///   - name: up to 100 letters from a to z, digits, `_` and `-`.
    ///   - array: the path of the array: `tags`, `order.lines`.
    ///   - path: of each element this, where it is an object.
    ///   - filter: only documents for which it is true are in it.
    /// - Throws: `KithError` `invalid` with the place in the expression that is wrong.
    public init(
        _ name: String, onElementsOf array: String, path: String? = nil, where filter: String? = nil
    ) throws(KithError) {
        try self.init(name, .elements(of: array, path: path), filter)
    }

    /// Of the words of fields, for MATCH, RANK and HIGHLIGHT (docs/query.md, "Full text").
    ///
    ///     try DatabaseIndex("words", fullTextOf: "title", "text", language: .english)
    ///
    /// Words are found in all scripts, in Chinese, Japanese and Korean too; case never counts.
    /// - Parameters:
    ///   - name: up to 100 letters from a to z, digits, `_` and `-`.
    ///   - fields: as `on:` has them. Of arrays and objects it is all strings and numbers within.
    ///   - language: whose words are found in all their forms; nil for words as they stand.
    ///   - keepsDiacritics: whether letters with marks are others than those without.
    ///   - filter: only documents for which it is true are in it.
    /// - Throws: `KithError` `invalid` with the place in the expression that is wrong.
    public init(
        _ name: String, fullTextOf fields: String..., language: TextLanguage? = nil, keepsDiacritics: Bool = false,
        where filter: String? = nil
    ) throws(KithError) {
        let options = TextIndexOptions(language: language?.options, keepsDiacritics: keepsDiacritics)
        try self.init(name, .text(fields, options), filter)
    }

    private init(_ name: String, _ kind: IndexDefinition.Kind, _ filter: String?) throws(KithError) {
        do throws(QueryError) { definition = try IndexDefinition(name, kind, where: filter) } catch {
            throw KithError(.invalid, name, "index \(name): \(error.message)")
        }
    }

    init(_ definition: IndexDefinition) { self.definition = definition }

    /// The name that it is dropped by.
    public var name: String { definition.name }

    /// Whether both have one name and are of the same.
    public static func == (left: Self, right: Self) -> Bool { left.definition == right.definition }

    /// By the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(definition.name) }
}

/// A language whose words a full-text index finds in all their forms.
public enum TextLanguage: Hashable, Sendable, CaseIterable {
    /// `run` finds `runs` and `running`.
    case english

    var options: TextIndexOptions.Language {
        switch self {
        case .english: .english
        }
    }
}

/// An index as it is listed.
public struct ListedIndex: Hashable, Sendable {
    /// What it is of.
    public let index: DatabaseIndex
    /// When it was made.
    public let created: Date
    /// Bytes of its pages; nil where SQLite does not count them.
    public let bytes: Int?
}

/// How far the making of an index is.
public struct IndexProgress: Hashable, Sendable {
    /// Documents that were looked at.
    public let documents: Int
    /// All that there are.
    public let total: Int
}

extension Database {
    /// Makes an index of what is there, kept by every write from then on. On disk when this returns, as a whole or not at all;
    /// nobody writes meanwhile. One that is there already with the same definition stays. When the task is cancelled, nothing is
    /// left of it.
    ///
    ///     try await database.createIndex(DatabaseIndex("by-due", on: "dueDate")) { progress in
    ///         show(Double(progress.documents) / Double(max(1, progress.total)))
    ///     }
    ///
    /// - Parameters:
    ///   - index: its name and what it is of.
    ///   - progress: called now and then on a queue of the database, and once at the end.
    /// - Throws: `KithError`: `invalid` where another has the name, or where there are too many; `cancelled`; what the disk gives.
    /// - Complexity: O(n log n) in the documents.
    public func createIndex(
        _ index: DatabaseIndex, progress: (@Sendable (IndexProgress) -> Void)? = nil
    ) async throws {
        let cancelled = Flag()
        try await withTaskCancellationHandler {
            try await write { batch in
                try batch.carryOut { transaction throws(StoreError) in
                    try transaction.createIndex(index.definition) { done, total in
                        progress?(IndexProgress(documents: Int(done), total: Int(total)))
                        return !cancelled.isSet
                    }
                }
            }
        } onCancel: {
            cancelled.set()
        }
    }

    /// Takes an index away.
    /// - Throws: `KithError` `notFound` with the names that there are.
    public func dropIndex(_ name: String) async throws {
        try await write { batch in
            try batch.carryOut { transaction throws(StoreError) in try transaction.dropIndex(name) }
        }
    }

    /// The indexes, ascending by name.
    public func indexes() async throws -> [ListedIndex] {
        // SQLite counts their pages.
        try await read { snapshot in
            let reader = try snapshot.access.reader()
            return try Database.store { () throws(StoreError) in try reader.indexes() }.map { listing in
                ListedIndex(
                    index: DatabaseIndex(listing.definition),
                    created: Date(timeIntervalSince1970: Double(listing.created) / 1_000),
                    bytes: listing.bytes.map { Int($0) })
            }
        }
    }
}
