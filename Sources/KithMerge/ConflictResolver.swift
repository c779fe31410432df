package import KithDocument

/// Code of an application that merges the leaves of a document: a pure function, named and versioned. Nodes that have the same
/// name and version are taken to have the same code.
package struct ConflictResolver: Hashable, Sendable {
    package let name: String
    package let version: Int
    /// The body of the merge, or nil to leave the conflict.
    package let body: @Sendable ([ResolverLeaf]) throws -> JSONValue?

    /// - Returns: nil for a name or a version that is none.
    package init?(name: String, version: Int, body: @escaping @Sendable ([ResolverLeaf]) throws -> JSONValue?) {
        guard Self.isValid(name: name, version: version) else { return nil }
        self.name = name
        self.version = version
        self.body = body
    }

    /// 1 to 63 of `a` to `z`, digits, `-`, `_` and `.`; from 1 on.
    package static func isValid(name: String, version: Int) -> Bool {
        let known = Array("abcdefghijklmnopqrstuvwxyz0123456789-_.".utf8)
        return (1...MergeLimits.resolverNameBytes).contains(name.utf8.count) && name.utf8.allSatisfy(known.contains)
            && (1...MergeLimits.resolverVersion).contains(version)
    }

    /// What enters the hash of its merges.
    package var mark: String { "\(name)/\(version)" }

    package static func == (left: Self, right: Self) -> Bool { left.mark.utf8.elementsEqual(right.mark.utf8) }

    package func hash(into hasher: inout Hasher) { hasher.combine(mark) }
}

/// A live leaf as a resolver sees it.
package struct ResolverLeaf: Sendable {
    package let id: RevisionID
    /// Whether it is the one that reads give.
    package let isWinner: Bool
    package let body: JSONValue
    /// Who wrote each field last, and when; removed fields too.
    package let fields: Fields

    init(_ leaf: MergeLeaf, isWinner: Bool) {
        id = leaf.id
        self.isWinner = isWinner
        body = JSONValue(canonical: leaf.fields.body)
        fields = leaf.fields
    }
}

/// Why a resolver's answer was not taken: the conflict stays.
package struct ResolverFailure: Hashable, Sendable {
    /// The resolver's name and version.
    package let resolver: String
    /// For people; without anything of a document.
    package let reason: String
}

/// The resolvers that a program has, and who is told of what goes wrong with them.
package struct ResolverSet: Sendable {
    private let resolvers: [ConflictResolver]
    private let report: @Sendable (ResolverFailure) -> Void

    /// - Parameter resolvers: of two with one name and version the last counts.
    package init(
        _ resolvers: [ConflictResolver] = [], report: @escaping @Sendable (ResolverFailure) -> Void = { _ in }
    ) {
        self.resolvers = resolvers
        self.report = report
    }

    package var isEmpty: Bool { resolvers.isEmpty }

    /// The same ones, telling another.
    package func reporting(to report: @escaping @Sendable (ResolverFailure) -> Void) -> ResolverSet {
        ResolverSet(resolvers, report: report)
    }

    /// The policy that a statement names; nil where it names no resolver, or one that is not here.
    package func policy(_ name: String, statement: [UInt8]) -> (any MergePolicy)? {
        guard name.utf8.elementsEqual(ResolverPolicy.name.utf8),
            let mark = try? MergePolicies.resolver(of: JSONValue(parsing: statement)),
            let code = resolvers.last(where: { $0.mark.utf8.elementsEqual(mark.utf8) })
        else { return nil }
        return ResolverPolicy(code, report: report)
    }
}
