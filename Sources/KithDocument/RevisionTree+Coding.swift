extension RevisionTree {
    /// The form kept in the store: the number of nodes, then each in ascending order of id.
    ///
    /// A node: flags, the generation, 16 bytes of digest, the parent's place in the list from 1 (0 for none), and with
    /// content: merged parents, resolver, stamps and version, the last three with their length.
    /// - Complexity: O(n log n).
    package func encoded() -> [UInt8] {
        var writer = ByteWriter(capacity: encodedBytes)
        encode(into: &writer)
        return writer.bytes
    }

    /// About the bytes of the encoded form.
    package var encodedBytes: Int { 16 + 80 * nodes.count }

    /// Appends what `encoded` returns.
    package func encode(into writer: inout ByteWriter) {
        writer.append(varint: UInt64(nodes.count))
        for index in nodes.indices {
            let id = nodes[index].id
            writer.append(nodes[index].flags)
            writer.append(varint: id.generation)
            writer.append(bigEndian: id.digest.high, id.digest.low)
            writer.append(varint: UInt64(nodes[index].parent.flatMap { self.index(of: $0) }.map { $0 + 1 } ?? 0))
            guard let content = nodes[index].content else { continue }
            writer.append(varint: UInt64(content.mergedParents.count))
            for parent in content.mergedParents { parent.encode(into: &writer) }
            writer.append(varint: UInt64(content.resolver.utf8.count))
            writer.append(contentsOf: content.resolver.utf8)
            writer.appendLengthPrefixed { content.stamps?.encode(into: &$0) }
            writer.appendLengthPrefixed { content.version.encode(into: &$0) }
        }
    }

    /// Most nodes of a stored tree: leaves with their ancestors, more than any rule leaves standing.
    private static let maximumNodes = 1 << 20

    /// - Throws: `DocumentError.malformed` for bytes that `encoded` did not make: the file is damaged.
    package init(encoded: [UInt8]) throws(DocumentError) {
        var reader = ByteReader(encoded)
        let count = try reader.count(atMost: min(Self.maximumNodes, encoded.count))
        var nodes: [Node] = []
        nodes.reserveCapacity(count)
        for _ in 0..<count {
            let flags = try reader.byte()
            guard flags & ~Flags.all == 0, let kind = Revision.Kind(rawValue: flags & Flags.kind) else {
                throw .malformed("a revision has unknown flags")
            }
            let generation = try reader.varint()
            let digest = Digest128(high: try reader.bigEndian(), low: try reader.bigEndian())
            let id = RevisionID(generation: generation, digest: digest)
            if let last = nodes.last, id <= last.id { throw .malformed("the revisions of a tree do not ascend") }
            let parent = try reader.count(atMost: nodes.count)
            nodes.append(
                Node(
                    id: id, parent: parent == 0 ? nil : nodes[parent - 1].id, kind: kind,
                    isForeign: flags & Flags.foreign != 0, hasHashedParent: flags & Flags.hashedParent != 0,
                    content: flags & Flags.content != 0 ? try Content(from: &reader) : nil))
        }
        guard reader.isAtEnd else { throw .malformed("bytes follow a revision tree") }
        self.nodes = nodes
    }

    fileprivate enum Flags {
        static let kind: UInt8 = 3
        static let foreign: UInt8 = 4
        static let content: UInt8 = 8
        static let hashedParent: UInt8 = 16
        static let all: UInt8 = 31
    }
}

extension RevisionTree.Node {
    fileprivate var flags: UInt8 {
        kind.rawValue | (isForeign ? RevisionTree.Flags.foreign : 0) | (content != nil ? RevisionTree.Flags.content : 0)
            | (hasHashedParent ? RevisionTree.Flags.hashedParent : 0)
    }
}

extension RevisionTree.Content {
    fileprivate init(from reader: inout ByteReader) throws(DocumentError) {
        var mergedParents: [RevisionID] = []
        for _ in 0..<(try reader.count(atMost: DocumentLimits.leaves)) {
            mergedParents.append(try RevisionID(from: &reader))
        }
        let resolver = try reader.take(try reader.count(atMost: DocumentLimits.resolverBytes))
        var stampBytes = try reader.reader(of: Int(try reader.bigEndian(UInt32.self)))
        let stamps = stampBytes.isAtEnd ? nil : try FieldStamps(from: &stampBytes)
        var versionBytes = try reader.reader(of: Int(try reader.bigEndian(UInt32.self)))
        self.init(
            mergedParents: mergedParents, stamps: stamps, version: try Version(from: &versionBytes),
            resolver: String(decoding: resolver, as: UTF8.self))
    }
}
