import KithDocument
import KithMerge
import Testing

/// Revisions whose stamps hold more than their bodies: what would not fit one delivery is not written.
@Suite struct LargeRevisionTests {
    /// A root that shows `{KEY:{"x":1}}` and hides a string of so many bytes behind that.
    private func leaf(_ key: String, hiding count: Int, writer: WriterID) -> Revision {
        let value = [UInt8(ascii: "\"")] + [UInt8](repeating: UInt8(ascii: "v"), count: count) + [UInt8(ascii: "\"")]
        let hidden = FieldStamps.Exception(
            path: FieldPath(keys: [key]), stamp: Stamp(time: 1, writer: writer), state: .hidden(value))
        return Revision(
            parent: nil, kind: .edit, body: Array("{\"\(key)\":{\"x\":1}}".utf8),
            stamps: FieldStamps(defaultStamp: Stamp(time: 2, writer: writer), exceptions: [hidden]),
            version: Version(writer: writer, time: 2))
    }

    private func document(_ leaves: Revision...) throws -> Document {
        var document = Document(id: try DocumentID("one"))
        for leaf in leaves {
            let isNew = document.receive(Delivery.Item(revision: leaf, ancestors: []))
            #expect(isNew)
        }
        return document
    }

    @Test func aMergeWithWhatItHidesIsNoLargerThanADeliveryTakes() throws {
        for (bytes, isWritten) in [(1 << 20, true), (DocumentLimits.revisionBytes / 2, false)] {
            var document = try document(leaf("a", hiding: bytes, writer: 1), leaf("b", hiding: bytes, writer: 2))
            let settlement = document.settle(LatestPolicy())
            #expect((settlement.merge != nil) == isWritten, "\(bytes)")
            #expect(document.live.count == (isWritten ? 1 : 2), "the conflict stays")
        }
    }

    @Test func anEditThatWouldBeTooLargeFailsAndChangesNothing() throws {
        let context = EditContext(clock: 3, writer: 3) { 4 }
        var document = try document(leaf("a", hiding: DocumentLimits.documentBytes, writer: 1))
        let before = document.winner?.node.id
        let filling = String(repeating: "y", count: DocumentLimits.revisionBytes - DocumentLimits.documentBytes)
        let error = #expect(throws: DocumentError.self) {
            try document.edit(Array("{\"a\":{\"x\":1},\"y\":\"\(filling)\"}".utf8), context)
        }
        #expect(error?.message.contains("\(DocumentLimits.revisionBytes) are the most") == true)
        #expect(document.winner?.node.id == before)
        // What it hides goes when what hides it is written over.
        let result = try document.edit(Array("{\"a\":2,\"y\":\"\(filling)\"}".utf8), context)
        guard case .written = result else {
            Issue.record("\(result)")
            return
        }
    }
}
