import Glibc
import KithDocument
import KithMerge
import KithTestSupport
import Testing

/// Trees of up to six revisions in every order of arrival: nothing may depend on the order.
@Suite struct ArrivalTests {
    /// A forest by the parent of each node, parents first.
    private struct Shape: CustomStringConvertible {
        let parents: [Int?]
        let kinds: [Revision.Kind]

        func children(of node: Int?) -> [Int] { parents.indices.filter { parents[$0] == node } }

        var description: String {
            parents.indices.map { "\($0) \(kinds[$0])" + (parents[$0].map { " of \($0)" } ?? "") }.joined(
                separator: ", ")
        }

        /// The same for forests that differ only in the order of siblings.
        var canonical: String { text(of: nil) }

        private func text(of node: Int?) -> String {
            "(" + (node.map { "\(kinds[$0].rawValue)" } ?? "")
                + children(of: node).map { text(of: $0) }.sorted().joined() + ")"
        }
    }

    /// One revision for each node, with its ancestors as a sender tells them.
    private struct Forest {
        let shape: Shape
        var items: [Delivery.Item] = []

        init(_ shape: Shape) {
            self.shape = shape
            let versions = Self.versions(shape)
            for node in shape.parents.indices {
                let parent = shape.parents[node].map { items[$0] }
                let ancestors = parent.map { item in
                    [Ancestor(id: item.revision.id, kind: item.revision.kind)] + item.ancestors
                }
                items.append(
                    Delivery.Item(
                        revision: Self.revision(shape.kinds[node], node, after: parent?.revision.id, versions[node]),
                        ancestors: ancestors ?? []))
            }
        }

        /// What each node knows: its parent's version and its own edit; leaves besides what was closed, since a leaf is
        /// closed only when another had seen it.
        private static func versions(_ shape: Shape) -> [Version] {
            var versions: [Version] = []
            for (node, parent) in shape.parents.enumerated() {
                var version = parent.map { versions[$0] } ?? Version()
                if shape.kinds[node] == .edit { version.set(UInt64(node) + 1, to: version.highestTime + 1) }
                versions.append(version)
            }
            let closed = shape.kinds.indices.filter { shape.kinds[$0] == .closed }
            let known = closed.reduce(Version()) { $0.joined(with: versions[$1]) }
            for node in versions.indices where shape.children(of: node).isEmpty && shape.kinds[node] != .closed {
                versions[node] = versions[node].joined(with: known)
            }
            return versions
        }

        private static func revision(
            _ kind: Revision.Kind, _ node: Int, after parent: RevisionID?, _ version: Version
        ) -> Revision {
            switch kind {
            case .closed:
                return .closing(parent!, version: version)
            case .deleted:
                return Revision(parent: parent, kind: .deleted, version: version)
            case .edit, .merge:
                let stamp = Stamp(time: version.highestTime, writer: UInt64(node) + 1)
                return Revision(
                    parent: parent, kind: .edit, body: Array("{\"a\":\(node),\"k\(node % 2)\":\(node)}".utf8),
                    stamps: FieldStamps(defaultStamp: stamp), version: version)
            }
        }

        var leaves: [Delivery.Item] { items.indices.filter { shape.children(of: $0).isEmpty }.map { items[$0] } }

        /// Whether all leaves are closed and one ends a revision that another branch goes on from. What it holds is kept
        /// or not as the branch or the tombstone comes first, so what lives until a leaf of another kind comes may differ.
        var livesByContentThatIsDropped: Bool {
            leaves.allSatisfy { $0.revision.kind == .closed }
                && leaves.contains { leaf in
                    items.contains { $0.revision.kind != .closed && $0.revision.parent == leaf.revision.parent }
                }
        }

        /// The revisions that live, by the words of docs/merge.md.
        var live: [RevisionID] {
            let leaves = leaves.map(\.revision)
            let live =
                leaves.allSatisfy { $0.kind == .closed }
                ? leaves.compactMap(\.parent) : leaves.filter(\.kind.isLive).map(\.id)
            return live.sorted()
        }
    }

    /// All forests of `count` nodes, siblings in any order being the same. Deleted revisions may have children, closed
    /// ones end an edit.
    private static func forests(_ count: Int) -> [Shape] {
        var found: [Shape] = []
        var known: Set<String> = []
        func extend(_ parents: [Int?], _ kinds: [Revision.Kind]) {
            if parents.count == count {
                let shape = Shape(parents: parents, kinds: kinds)
                if known.insert(shape.canonical).inserted { found.append(shape) }
                return
            }
            for parent in [nil] + parents.indices.map({ Optional($0) }) {
                let above = parent.map { kinds[$0] }
                for kind in [Revision.Kind.edit, .deleted, .closed] {
                    switch (kind, above) {
                    case (_, .closed), (.closed, nil), (.closed, .deleted), (.deleted, nil), (.deleted, .deleted):
                        continue
                    default: break
                    }
                    // A revision is closed once: the tombstone depends on it alone; so is a deletion with this knowledge.
                    if kind != .edit, parents.indices.contains(where: { parents[$0] == parent && kinds[$0] == kind }) {
                        continue
                    }
                    extend(parents + [parent], kinds + [kind])
                }
            }
        }
        extend([], [])
        return found
    }

    /// What a node knows in the end, and what it writes then.
    private struct Outcome {
        let tree: RevisionTree
        let leaves: [RevisionTree.Node]
        let live: [RevisionTree.Node]
        let settled: RevisionTree
        let body: [UInt8]?

        init(_ document: Document) {
            tree = document.tree
            leaves = tree.leaves
            live = document.live
            var settling = document
            settling.settle(LatestPolicy())
            settled = settling.tree
            body = settling.winner?.body
        }

        func difference(from other: Outcome) -> String? {
            if leaves != other.leaves { return "leaves\n\(Self.list(leaves))\n\(Self.list(other.leaves))" }
            if live != other.live { return "live\n\(Self.list(live))\n\(Self.list(other.live))" }
            if body != other.body { return "body" }
            if settled.leaves != other.settled.leaves { return "settled leaves" }
            func places(_ tree: RevisionTree) -> [[RevisionID?]] { tree.nodes.map { [$0.id, $0.parent] } }
            if places(tree) != places(other.tree) {
                return "tree\n\(Self.list(tree.nodes))\n\(Self.list(other.tree.nodes))"
            }
            return places(settled) != places(other.settled) ? "settled" : nil
        }

        static func list(_ nodes: [RevisionTree.Node]) -> String {
            nodes.map { node in
                "\(node.id.description.prefix(6)) \(node.kind) of \(node.parent?.description.prefix(6) ?? "none")"
                    + (node.content == nil ? " bare" : "") + (node.hasHashedParent ? " hashed" : "")
            }.joined(separator: "; ")
        }
    }

    /// Calls back with the document after each order of arrival; orders with a common beginning share its work.
    private func arrive(
        _ items: [Delivery.Item], at document: Document = Document(id: DocumentID(unchecked: "d")),
        _ visit: (Document) -> Void
    ) {
        if items.isEmpty { return visit(document) }
        for index in items.indices {
            var next = document
            _ = next.receive(items[index])
            var rest = items
            rest.remove(at: index)
            arrive(rest, at: next, visit)
        }
    }

    /// The first thing that is wrong with the trees of a shape, and how often something is.
    private func check(_ shape: Shape) {
        let forest = Forest(shape)
        if forest.livesByContentThatIsDropped { return }
        var complaints: [String] = []
        var first: Outcome?
        arrive(forest.items) { document in
            let outcome = Outcome(document)
            if let first {
                if let difference = outcome.difference(from: first) { complaints.append("order: \(difference)") }
            } else {
                first = outcome
            }
            var again = document
            for item in forest.items { _ = again.receive(item) }
            if let difference = Outcome(again).difference(from: outcome) { complaints.append("again: \(difference)") }
        }
        guard let first else { return }
        if first.tree.leaves.map(\.id) != forest.leaves.map(\.revision.id).sorted() { complaints.append("leaves") }
        if first.live.map(\.id) != forest.live { complaints.append("live") }

        // Leaves alone, as peers send them, give the same life.
        var leavesAlone: Outcome?
        arrive(forest.leaves) { document in
            let outcome = Outcome(document)
            if let leavesAlone {
                if let difference = outcome.difference(from: leavesAlone) {
                    complaints.append("leaves alone: \(difference)")
                }
            } else {
                leavesAlone = outcome
            }
        }
        let isAllClosed = forest.leaves.allSatisfy { $0.revision.kind == .closed }
        if !isAllClosed, leavesAlone?.body != first.body || leavesAlone?.live != first.live {
            complaints.append("leaves alone live otherwise")
        }
        if let complaint = complaints.first { Issue.record("\(shape): \(complaints.count) times, \(complaint)") }
    }

    @Test(arguments: 1...4)
    func `Trees of up to four revisions of any kinds are the same in every order of arrival`(count: Int) {
        for shape in Self.forests(count) { check(shape) }
    }

    @Test(arguments: 5...6, 0..<8)
    func `Trees of five and six revisions are the same in every order of arrival`(count: Int, part: Int) {
        // All kinds take minutes (KITH_LONG_TESTS); by default each shape comes with edits alone and a few others.
        let isLong = getenv("KITH_LONG_TESTS") != nil
        var random = SeededGenerator(seed: UInt64(count))
        var byShape: [String: [Shape]] = [:]
        let all = Self.forests(count)
        for shape in all {
            let plain = Shape(parents: shape.parents, kinds: shape.kinds.map { _ in .edit }).canonical
            byShape[plain, default: []].append(shape)
        }
        let chosen = byShape.keys.sorted().flatMap { key in
            guard let kinds = byShape[key], !isLong else { return byShape[key] ?? [] }
            return kinds.filter { $0.canonical == key } + random.shuffle(kinds).prefix(count == 5 ? 4 : 1)
        }
        for index in stride(from: part, to: chosen.count, by: 8) { check(chosen[index]) }
    }
}
