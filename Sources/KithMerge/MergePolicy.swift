package import KithDocument

/// How a database settles documents with several live leaves.
///
/// A policy is a pure function of the leaves, the same on every node. Its fields need not be a join for the nodes to
/// come to an end: versions only grow in a finite set.
package protocol MergePolicy: Sendable {
    /// The word that names the policy in a policy statement.
    static var name: String { get }

    /// Name and version of code that is not part of Kith: it enters the hash of the merges it writes. Empty for Kith's
    /// own policies.
    var resolver: String { get }

    /// The fields of the merge; nil leaves the conflict to the application.
    /// - Parameter leaves: the live leaves that stay, ascending by id, two or more; the last is the winner.
    func merge(_ leaves: [MergeLeaf]) -> Fields?
}

extension MergePolicy {
    package var resolver: String { "" }
}

/// A live leaf as a policy sees it. The stamps say who changed what, so no common ancestor is needed.
package struct MergeLeaf: Sendable {
    package let id: RevisionID
    package let fields: Fields
    package let version: Version

    package init(id: RevisionID, fields: Fields, version: Version) {
        self.id = id
        self.fields = fields
        self.version = version
    }
}

/// `latest`: per field the entry with the higher stamp. The default.
package struct LatestPolicy: MergePolicy {
    package static let name = "latest"

    package init() {}

    package func merge(_ leaves: [MergeLeaf]) -> Fields? {
        leaves.dropFirst().reduce(leaves.first?.fields) { $0?.joined(with: $1.fields) }
    }
}

/// `manual`: conflicts stay until the application settles them.
package struct ManualPolicy: MergePolicy {
    package static let name = "manual"

    package init() {}

    package func merge(_ leaves: [MergeLeaf]) -> Fields? { nil }
}

/// The policies by their names: a new one is one type and one line here; one for single paths is a line in `ValueRules`.
package enum MergePolicies {
    private static let all: [(name: String, make: @Sendable () -> any MergePolicy)] = [
        (LatestPolicy.name, { LatestPolicy() }),
        (ManualPolicy.name, { ManualPolicy() }),
    ]

    /// The names, for messages.
    package static var names: [String] { all.map(\.name) + [ResolverPolicy.name] }

    /// The policy of a name; nil for one that this node does not know, or whose code is not part of Kith (`ResolverSet`), which it
    /// treats as `manual`.
    /// - Parameter statement: what describes the paths of a `PathPolicy`; other names stand for themselves.
    package static func named(_ name: String, statement: [UInt8] = []) -> (any MergePolicy)? {
        if name.utf8.elementsEqual(PathPolicy.name.utf8) { return try? described(by: statement).policy }
        return all.first { $0.name.utf8.elementsEqual(name.utf8) }?.make()
    }
}
