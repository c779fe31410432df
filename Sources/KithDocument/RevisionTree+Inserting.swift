extension RevisionTree {
    /// Takes a revision with what its sender says of its ancestry.
    ///
    /// The parent is part of a Kith revision's hash and is believed. What lies above the parent is believed only where
    /// the revision's version covers the leaf that it would replace: there the ancestry is cut, whichever of the two
    /// came first.
    /// - Parameter ancestors: the parent and what lies above it, nearest first.
    /// - Returns: whether anything is new here.
    /// - Complexity: O(n log n) for n nodes.
    @discardableResult
    package mutating func insert(_ revision: Revision, ancestors: [Ancestor] = []) -> Bool {
        if let index = index(of: revision.id) {
            return complete(index, with: revision)
        }
        if nodes.isEmpty, revision.parent == nil {
            nodes = [Node(revision)]
            return true
        }
        let believed = believed(ancestry(of: revision, ancestors), of: revision)
        var node = Node(revision)
        node.parent = nil
        insert(node)
        var child = revision.id
        for ancestor in believed {
            guard ancestor.id.generation < child.generation else { break }
            link(child, to: ancestor)
            child = ancestor.id
        }
        if child != revision.id { dropContentNobodyNeeds() }
        return true
    }

    /// The ancestry from the parent on, whatever the sender left out.
    private func ancestry(of revision: Revision, _ ancestors: [Ancestor]) -> [Ancestor] {
        guard let parent = revision.parent else { return revision.isForeign ? ancestors : [] }
        return ancestors.first?.id == parent ? ancestors : [Ancestor(id: parent)]
    }

    /// The ancestors up to the first that would replace a leaf that the revision's version does not cover.
    private func believed(_ ancestors: [Ancestor], of revision: Revision) -> [Ancestor] {
        for (index, ancestor) in ancestors.enumerated() {
            if index == 0, revision.hasHashedParent { continue }
            guard let place = self.index(of: ancestor.id), let content = nodes[place].content, isLeaf(ancestor.id)
            else { continue }
            if nodes[place].kind == .closed || !content.version.isWithin(revision.version) {
                return Array(ancestors[..<index])
            }
        }
        return ancestors
    }

    /// A revision whose id is known already: it may bring what the node lacks.
    private mutating func complete(_ index: Int, with revision: Revision) -> Bool {
        let node = nodes[index]
        guard let known = node.content else { return completeAncestor(index, with: revision) }
        if node.isForeign, !revision.isForeign {
            nodes[index] = Node(revision)
            nodes[index].parent = node.parent
            if let parent = revision.parent { link(revision.id, to: Ancestor(id: parent)) }
            return true
        }
        guard node.isForeign, revision.isForeign else { return false }
        return join(index, known, with: revision)
    }

    /// A revision that was known by its id alone, as an ancestor. It is what a leaf replaced, unless nobody who says so
    /// had seen it: then it is a leaf.
    private mutating func completeAncestor(_ index: Int, with revision: Revision) -> Bool {
        let isClosed = leaves.contains { $0.kind == .closed && $0.parent == revision.id }
        let children = nodes.indices.filter { nodes[$0].parent == revision.id }
        let isReplaced =
            children.contains { nodes[$0].hasHashedParent }
            || descendantLeaves(of: revision.id).contains {
                revision.version.isWithin($0.content?.version ?? Version())
            }
        if isReplaced, !isClosed {
            // Its content is of no use any more, but its hash proves its parent.
            nodes[index].kind = revision.kind
            if let parent = revision.parent, revision.hasHashedParent {
                nodes[index].hasHashedParent = true
                link(revision.id, to: Ancestor(id: parent))
            }
            return false
        }
        if !isReplaced { for child in children { nodes[child].parent = nil } }
        let parent = nodes[index].parent
        nodes[index] = Node(revision)
        nodes[index].parent = parent
        if let parent = revision.parent { link(revision.id, to: Ancestor(id: parent)) }
        return true
    }

    private func descendantLeaves(of id: RevisionID) -> [Node] {
        leaves.filter { leaf in
            var next = leaf.parent
            while let ancestor = next, ancestor > id { next = self[ancestor]?.parent }
            return next == id
        }
    }

    /// Of two stampings of one foreign leaf the join stays.
    private mutating func join(_ index: Int, _ known: Content, with revision: Revision) -> Bool {
        let version = known.version.joined(with: revision.version)
        var stamps = known.stamps
        if let mine = known.stamps, let its = revision.stamps, mine != its {
            let fields = Fields(body: revision.body, stamps: mine)
            stamps = fields.joined(with: Fields(body: revision.body, stamps: its)).split().stamps
        }
        if version == known.version, stamps == known.stamps { return false }
        nodes[index].content = Content(
            mergedParents: known.mergedParents, stamps: stamps, version: version, resolver: known.resolver)
        return true
    }

    private mutating func insert(_ node: Node) { nodes.insert(node, at: insertionIndex(of: node.id)) }

    /// Makes `ancestor` the parent of a node that has none.
    private mutating func link(_ child: RevisionID, to ancestor: Ancestor) {
        if let index = index(of: ancestor.id) {
            // What is known by its id alone takes the most that anyone says of its kind.
            if nodes[index].content == nil, ancestor.kind.rawValue > nodes[index].kind.rawValue {
                nodes[index].kind = ancestor.kind
            }
        } else {
            insert(Node(ancestor))
        }
        guard let index = index(of: child), nodes[index].parent == nil else { return }
        nodes[index].parent = ancestor.id
    }

    /// Only leaves and what closed leaves ended keep their content.
    private mutating func dropContentNobodyNeeds() {
        // By place, without a copy of a node.
        var (isParent, isNeeded) = (
            Array(repeating: false, count: nodes.count), Array(repeating: false, count: nodes.count)
        )
        let parents = nodes.map { node in node.parent.flatMap { index(of: $0) } }
        for case .some(let parent) in parents { isParent[parent] = true }
        for index in nodes.indices where !isParent[index] {
            isNeeded[index] = true
            if nodes[index].kind == .closed, let ended = parents[index] { isNeeded[ended] = true }
        }
        for index in nodes.indices where !isNeeded[index] && nodes[index].content != nil { nodes[index].content = nil }
    }

    private func isLeaf(_ id: RevisionID) -> Bool { !nodes.contains { $0.parent == id } }
}

extension Revision {
    /// Whether the parent is part of what the id is a hash of.
    fileprivate var hasHashedParent: Bool { !isForeign && parent != nil }
}
