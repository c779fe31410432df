import KithDocument
import KithMerge
import KithNode

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Code of an application that merges a document which was edited in several places at once.
///
///     let resolver = try Resolver("invoices", version: 1) { revisions in
///         var merged = revisions.first { $0.isShown }?.body ?? [:]
///         let sums = revisions.compactMap { $0.body["sum"]?.int }
///         merged["sum"] = sums.max().map { .int($0) }
///         return merged
///     }
///     options.resolvers = [resolver]
///
/// It must be a **pure function of what it is given**: no clock, no randomness, no files, no state; the same answer whatever the
/// order of the revisions. All nodes that have a name and version must have the same code: change the version with the code. Kith asks it
/// twice, the second time in reverse order; where the answers differ, where it throws, and where the answer is no object or too
/// large, the conflict stays, and `status` says so (`CONFLICTS`). It is called within the transaction that stores what came: what
/// it takes, all writers of the database wait. **How long that is can't be bounded**: code that does not return stops the database.
public struct Resolver: Hashable, Sendable {
    let code: ConflictResolver

    /// Names the code.
    /// - Parameters:
    ///   - name: 1 to 63 lower-case letters, digits, `-`, `_` and `.`; stands in the policy of the database.
    ///   - version: 1 to 1,000,000; the policy names it too, and it enters the ids of the revisions that are merged.
    ///   - merge: the body of the merge of two or more revisions; nil to leave the conflict to people.
    /// - Throws: `KithError` `invalid` for a name or version that is none.
    public init(
        _ name: String, version: Int, merge: @escaping @Sendable ([ConflictingRevision]) throws -> JSONValue?
    ) throws(KithError) {
        let code = ConflictResolver(name: name, version: version) { leaves in
            try merge(leaves.map { ConflictingRevision($0) })?.tree
        }
        guard let code else {
            throw KithError(
                .invalid, Shown.name(name),
                "\(Shown.name(name)) \(version) names no resolver: use 1 to 63 of a to z, digits, -, _ and ., and a "
                    + "version from 1 to 1000000")
        }
        self.code = code
    }
}

/// One of the revisions that a resolver merges.
public struct ConflictingRevision: Sendable {
    /// Its revision.
    public let id: String
    /// Whether reads give this one while the conflict lasts.
    public let isShown: Bool
    /// Its fields.
    public let body: JSONValue
    private let fields: Fields

    init(_ leaf: ResolverLeaf) {
        id = leaf.id.description
        isShown = leaf.isWinner
        body = JSONValue(leaf.body)
        fields = leaf.fields
    }

    /// Who wrote each field last, removed ones too, ascending by path.
    public var edits: [FieldEdit] { fields.entries.map { FieldEdit($0) } }

    /// Who wrote a field last; nil where it never was.
    /// - Parameter path: a JSON Pointer to a value that is no object with members: `/address/city`.
    public func edit(at path: String) -> FieldEdit? { edits.first { $0.path.utf8.elementsEqual(path.utf8) } }
}

/// When a field was last written, and by whom.
public struct FieldEdit: Hashable, Sendable {
    /// A JSON Pointer.
    public let path: String
    /// Whether it was removed then, or hidden by another.
    public let isRemoved: Bool
    /// By the clock of who wrote, or later: an edit that knew of another one is never before it.
    public var time: Date { Date(timeIntervalSince1970: Double(Stamp.milliseconds(ofTime: stamp.time)) / 1_000) }
    /// The same for all that one run of a node wrote.
    public var writer: UInt64 { stamp.writer }
    private let stamp: Stamp

    init(_ entry: Fields.Entry) {
        path = entry.path.pointer
        isRemoved = entry.value == .absent
        stamp = entry.stamp
    }

    /// Which of two edits of one field shows with `latest`.
    /// - Parameter other: an edit of the same field.
    /// - Returns: whether it is this one.
    public func isLater(than other: FieldEdit) -> Bool { other.stamp < stamp }
}
