import KithDocument
import KithMerge
import Testing

/// Leaves of the highest generations that are taken from anyone: whatever is written over them, others must take too.
@Suite struct HighestGenerationTests {
    private static let highest = RevisionID.maximumGeneration

    private func leaf(_ generation: UInt64, _ writer: WriterID, version: Version? = nil) -> Revision {
        Revision(
            id: RevisionID(generation: generation, digest: Digest128(high: writer, low: 0)), parent: nil,
            mergedParents: [], kind: .edit, body: Array("{\"by\":\(writer)}".utf8),
            stamps: FieldStamps(defaultStamp: Stamp(time: writer, writer: writer)),
            version: version ?? Version(writer: writer, time: writer), isForeign: true)
    }

    /// A document of the leaves that a receiver takes.
    private func document(_ leaves: Revision...) throws -> Document {
        var document = Document(id: try DocumentID("one"))
        for leaf in leaves where (try? leaf.verify()) != nil {
            _ = document.receive(Delivery.Item(revision: leaf, ancestors: []))
        }
        return document
    }

    private func expectWithinBounds(_ document: Document, _ comment: Comment) {
        for leaf in document.tree.leaves {
            let limit = leaf.kind == .closed ? Self.highest : Self.highest - 1
            #expect(leaf.id.generation <= limit, comment)
        }
    }

    @Test func whatIsWrittenByTheRulesCanBeTakenByOthers() throws {
        for generation in (Self.highest - 3)...Self.highest {
            // Neither has seen the other: they are merged, or stay.
            var conflict = try document(leaf(generation, 1), leaf(generation, 2))
            conflict.settle(LatestPolicy())
            expectWithinBounds(conflict, "\(generation)")
            // One has seen the other, which is closed.
            var seen = Version(writer: 1, time: 1)
            seen.set(2, to: 2)
            var replaced = try document(leaf(generation, 1), leaf(generation, 2, version: seen))
            replaced.settle(LatestPolicy())
            expectWithinBounds(replaced, "\(generation)")
            #expect(replaced.live.count <= 1)
        }
    }

    @Test func whatAClientWritesCanBeTakenByOthersOrFails() throws {
        for generation in (Self.highest - 3)...Self.highest {
            let context = EditContext(clock: 9, writer: 9) { 10 }
            var edited = try document(leaf(generation, 1))
            if edited.tree.isEmpty { continue }
            let before = edited.tree.leaves.map(\.id)
            do { _ = try edited.edit(Array("{\"a\":1}".utf8), context) } catch {
                #expect(error.message.contains("generation"))
                #expect(edited.tree.leaves.map(\.id) == before)
            }
            expectWithinBounds(edited, "\(generation)")
            var deleted = try document(leaf(generation, 1))
            do { _ = try deleted.delete() } catch { #expect(error.message.contains("generation")) }
            expectWithinBounds(deleted, "\(generation)")
        }
    }

    @Test func aLeafThatNothingCouldFollowIsRefused() {
        #expect(throws: DocumentError.self) { try leaf(Self.highest, 1).verify() }
        #expect(throws: Never.self) { try leaf(Self.highest - 1, 1).verify() }
    }
}
