import Foundation
import Kith
import KithTestSupport
import KithTesting
import Synchronization
import Testing

/// A document that is wrong at one node and refused by another, over real nodes.
struct RefusedDocumentTests {
    private final class Events: Sendable {
        private let all = Mutex<[ReplicatedDocument]>([])

        func take(_ event: ReplicatedDocument) { all.withLock { $0.append(event) } }

        func errors() -> [ReplicatedDocument] { all.withLock { $0.filter { $0.error != nil } } }
    }

    /// Changes a letter in the file of a node that is stopped, as a disk does that fails: the content is not the one that its
    /// revision is the hash of any more.
    private func damage(_ folder: URL, from text: String, to other: String) throws {
        let path = folder.appending(path: "databases/notes.sqlite3")
        var data = try Data(contentsOf: path)
        let place = try #require(data.firstRange(of: Data(text.utf8)))
        data.replaceSubrange(place, with: Data(other.utf8))
        try data.write(to: path)
    }

    @Test func `a document that is refused is an event with its reason on both sides, and the others come`()
        async throws
    {
        try await TestGroup.with(nodes: 2) { group in
            let attic = group[1]
            _ = try await group[0].database("notes").save(Document(id: "first", ["n": 1]))
            #expect(await group.isInSync("notes"))
            try await group.part()
            let notes = try await group[0].database("notes")
            _ = try await notes.save(Document(id: "bad", ["text": "a letter is lost here"]))
            _ = try await notes.save(Document(id: "good", ["text": "as it was written"]))
            await group[0].stop()
            try damage(group.folders[0], from: "a letter is lost here", to: "a letter is l0st here")

            var options = NodeOptions.loopback
            options.peers = attic.listening
            let den = try LocalNode(in: group.folders[0], options: options)
            try await den.start()
            let (here, there) = (Events(), Events())
            let readers = [
                Task { for await event in attic.documentEvents(of: "notes") { here.take(event) } },
                Task { for await event in den.documentEvents(of: "notes") { there.take(event) } },
            ]
            // The streams begin on the nodes' queues, before what is asked of them next.
            _ = (try await attic.status(), try await den.status())
            try await attic.resume()
            try await den.resume()
            #expect(await eventually(within: 60) { !here.errors().isEmpty && !there.errors().isEmpty })
            #expect(try await eventually(within: 60) { try await attic.database("notes").document("good") != nil })
            let (came, went) = (try #require(here.errors().first), try #require(there.errors().first))
            #expect(came.id == "bad" && came.direction == .came && went.id == "bad" && went.direction == .went)
            #expect(came.error == went.error && came.error?.contains("hash") == true, "\(came)")
            #expect(came.error?.contains("letter") == false, "an error holds nothing of a document")
            #expect(try await attic.database("notes").document("bad") == nil)
            #expect(try await attic.status().problems.contains { $0.code == "DOCUMENTS_REFUSED" })
            await den.stop()
            for reader in readers { reader.cancel() }
        }
    }
}
