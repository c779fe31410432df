import KithDocument
import KithTestSupport

// Revisions that a hostile member makes: their ids are the hashes of what they hold, whatever that is.

extension HostileMember {
    /// An edit as any member may write it, but for what the parameters say.
    /// - Parameters:
    ///   - time: of its stamps; nil for now.
    ///   - version: nil for its own edit alone.
    func edit(
        _ body: String = "{\"hostile\":true}", parent: RevisionID? = nil, time: UInt64? = nil, writer: WriterID? = nil,
        version: Version? = nil
    ) -> Revision { edit(Array(body.utf8), parent: parent, time: time, writer: writer, version: version) }

    func edit(
        _ body: [UInt8], parent: RevisionID? = nil, time: UInt64? = nil, writer: WriterID? = nil,
        version: Version? = nil
    ) -> Revision {
        let stamp = Stamp(time: time ?? self.time, writer: writer ?? random.next())
        return Revision(
            parent: parent, kind: .edit, body: body, stamps: FieldStamps(defaultStamp: stamp),
            version: version ?? Version(writer: stamp.writer, time: stamp.time))
    }

    /// An id of nothing.
    func drawID(_ generation: UInt64) -> RevisionID {
        RevisionID(generation: generation, digest: Digest128(high: random.next(), low: random.next()))
    }
}

extension Revision {
    /// The same content under another id, or with other parts.
    func with(id: RevisionID? = nil, body: [UInt8]? = nil, isForeign: Bool = false) -> Revision {
        Revision(
            id: id ?? self.id, parent: parent, mergedParents: mergedParents, kind: kind, body: body ?? self.body,
            stamps: stamps, version: version, isForeign: isForeign)
    }

    func item(under ancestors: [RevisionID] = []) -> Delivery.Item {
        Delivery.Item(
            revision: self, ancestors: ancestors.map { Ancestor(id: $0) })
    }
}
