import KithDocument
import Testing

@testable import KithStore

@Suite struct DigestTests {
    /// The example of docs/storage.md.
    @Test func theWorkedExampleHolds() throws {
        let id = try DocumentID("greeting")
        let stamp = Stamp(time: Stamp.time(ofMilliseconds: 1_700_000_000_000), writer: 0x0123_4567_89AB_CDEF)
        let revision = Revision(
            parent: nil, kind: .edit, body: Array(#"{"hello":"world"}"#.utf8), stamps: FieldStamps(defaultStamp: stamp),
            version: Version(writer: stamp.writer, time: stamp.time))
        #expect(revision.id.description == "1-de98469d685b7cbf80d5d14cce524731")
        let digests = DocumentDigest()
        #expect(
            digests.digest(of: id, RevisionTree(revision))?.description
                == "6d3c061640bfa3f70f06ec755aa6176637f19f0a431501a6e3f47b928998c6ca")
        #expect(digests.range(of: id) == 0x18F6)
    }

    @Test func closedLeavesAddNothing() throws {
        let id = try DocumentID("a")
        let leaf = Revision(
            parent: nil, kind: .edit, body: Array("{}".utf8), stamps: FieldStamps(defaultStamp: .zero),
            version: Version(writer: 1, time: 1))
        var tree = RevisionTree(leaf)
        let digests = DocumentDigest()
        #expect(digests.digest(of: id, tree) != nil)
        tree.insert(.closing(leaf.id, version: leaf.version))
        #expect(digests.digest(of: id, tree) == nil)
        #expect(digests.digest(of: id, RevisionTree()) == nil)
    }
}
