import KithCrypto

#if KITH_MUTANTS
import KithSystem
#endif

/// One version of a document: immutable, and named by the hash of its content.
package struct Revision: Hashable, Sendable {
    package enum Kind: UInt8, Sendable {
        /// Written by somebody.
        case edit = 0
        /// Joins live leaves.
        case merge = 1
        /// A deletion: it replicates, and stays.
        case deleted = 2
        /// Ends the leaf that is its parent; it depends on that leaf alone and says nothing of the document.
        case closed = 3

        /// Whether a leaf of this kind has a body that a read may show.
        package var isLive: Bool { self == .edit || self == .merge }
    }

    package let id: RevisionID
    package let parent: RevisionID?
    /// The other leaves that a merge joined, ascending.
    package let mergedParents: [RevisionID]
    package let kind: Kind
    /// Canonical JSON; empty for deleted and closed revisions.
    package let body: [UInt8]
    /// Nil for deleted and closed revisions.
    package let stamps: FieldStamps?
    /// For closed revisions that of what they close; empty where this is foreign: then it is looked up.
    package let version: Version
    /// Name and version of the custom resolver that wrote a merge; empty for the rules of a policy.
    package let resolver: String
    /// Whether it was written by CouchDB or PouchDB: then its id is theirs and no hash of ours.
    package let isForeign: Bool

    /// A revision as received or stored. Its id is believed; see `verify`.
    package init(
        id: RevisionID, parent: RevisionID?, mergedParents: [RevisionID], kind: Kind, body: [UInt8],
        stamps: FieldStamps?,
        version: Version, resolver: String = "", isForeign: Bool
    ) {
        self.id = id
        self.parent = parent
        self.mergedParents = mergedParents
        self.kind = kind
        self.body = body
        self.stamps = stamps
        self.version = version
        self.resolver = resolver
        self.isForeign = isForeign
    }

    /// A new revision of Kith's own; its id is computed.
    package init(
        parent: RevisionID?, mergedParents: [RevisionID] = [], kind: Kind, body: [UInt8] = [],
        stamps: FieldStamps? = nil,
        version: Version = Version(), resolver: String = ""
    ) {
        self.parent = parent
        self.mergedParents = mergedParents
        self.kind = kind
        self.body = body
        self.stamps = stamps
        self.version = version
        self.resolver = resolver
        self.isForeign = false
        let digest = RevisionHash.digest(
            parent: parent, mergedParents: mergedParents, kind: kind, resolver: resolver, body: body, stamps: stamps,
            version: version)
        self.id = RevisionID(generation: (parent?.generation ?? 0) + 1, digest: digest)
    }

    /// The tombstone that ends a leaf.
    /// - Parameter version: the leaf's own, part of what its id is a hash of, so that the tombstone depends on the leaf
    ///   alone. A node that never had the leaf learns from it which others the leaf had replaced. Empty for a foreign
    ///   leaf, whose version each node makes itself.
    package static func closing(_ leaf: RevisionID, version: Version) -> Revision {
        Revision(parent: leaf, kind: .closed, version: version)
    }

    /// The first revision of initial data: stamp zero and a version that names the content, so that the same content
    /// loaded on many nodes is one revision and any edit outranks it.
    /// - Parameter body: a canonical object.
    package static func initial(_ body: [UInt8]) -> Revision {
        let content = SHA256.hash(body).words.0
        return Revision(
            parent: nil, kind: .edit, body: body, stamps: FieldStamps(defaultStamp: .zero),
            version: Version(writer: content, time: 0))
    }

    /// Checks all that a receiver must not take on trust: the kind's shape, bounds, canonical JSON, and for a Kith
    /// revision the hash.
    /// - Throws: `DocumentError.malformed`, `.invalidJSON` or `.hashMismatch`.
    /// - Complexity: O(size): one pass over the body for its form and one for the hash.
    package func verify() throws(DocumentError) {
        guard id.generation >= 1, id.generation <= RevisionID.maximumGeneration else {
            throw .malformed("revision \(id) has a generation out of range")
        }
        #if KITH_MUTANTS
        let isFollowed = Mutant.isActive(.followsHighest)
        #else
        let isFollowed = false
        #endif
        guard isFollowed || kind == .closed || id.generation < RevisionID.maximumGeneration else {
            throw .malformed("revision \(id) has a generation that nothing can follow")
        }
        if let parent, parent.generation >= id.generation {
            throw .malformed("revision \(id) does not come after its parent \(parent)")
        }
        guard version.entries.count <= DocumentLimits.maximumEntries, version.highestTime <= Stamp.maximumTime,
            mergedParents.count <= DocumentLimits.leaves, resolver.utf8.count <= DocumentLimits.resolverBytes
        else { throw .malformed("revision \(id) has too many entries or a time beyond the year 4000") }
        if kind.isLive {
            guard let stamps else { throw .malformed("revision \(id) has no stamps") }
            try body.withUnsafeBufferPointer { bytes throws(DocumentError) in
                try CanonicalJSON.checkObject(UnsafeRawBufferPointer(bytes))
            }
            try stamps.verify(of: id, body: body)
        } else if !body.isEmpty || stamps != nil {
            throw .malformed("revision \(id) is a tombstone and has a body")
        }
        if isForeign { return }
        guard kind == .merge || mergedParents.isEmpty,
            zip(mergedParents, mergedParents.dropFirst()).allSatisfy({ $0 < $1 }),
            id.generation == (parent?.generation ?? 0) + 1
        else { throw .malformed("revision \(id) has parents that do not fit its kind") }
        #if KITH_MUTANTS
        if Mutant.isActive(.acceptsWrongHash) { return }
        #endif
        if !hasItsHash { throw .hashMismatch(id) }
    }

    /// Whether the id is the hash of the content: nobody has another content for it then. False for what is not Kith's own.
    /// - Complexity: O(size).
    package var hasItsHash: Bool {
        !isForeign
            && id.digest
                == RevisionHash.digest(
                    parent: parent, mergedParents: mergedParents, kind: kind, resolver: resolver, body: body,
                    stamps: stamps, version: version)
    }
}

extension FieldStamps {
    /// Checks the exceptions against the body they belong to.
    fileprivate func verify(of id: RevisionID, body: [UInt8]) throws(DocumentError) {
        guard highestTime <= Stamp.maximumTime else {
            throw .malformed("revision \(id) has a time beyond the year 4000")
        }
        if exceptions.isEmpty { return }
        guard zip(exceptions, exceptions.dropFirst()).allSatisfy({ $0.path < $1.path }) else {
            throw .malformed("revision \(id) has stamps out of order")
        }
        guard exceptions.count(where: { $0.state != .visible }) <= DocumentLimits.maximumEntries else {
            throw .malformed("revision \(id) has more than \(DocumentLimits.maximumEntries) removed and hidden fields")
        }
        var leaves = Fields.leaves(of: body)[...]
        for exception in exceptions {
            while let leaf = leaves.first, leaf.path < exception.path { leaves.removeFirst() }
            let isLeaf = leaves.first?.path == exception.path
            guard isLeaf == (exception.state == .visible) else {
                throw .malformed("revision \(id) has a stamp that does not fit its body")
            }
            if case .hidden(let value) = exception.state, !Fields.isLeafValue(value) {
                throw .malformed("revision \(id) has a hidden field that is no canonical value")
            }
        }
    }
}
