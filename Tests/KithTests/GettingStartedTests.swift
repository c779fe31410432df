import Foundation
import Kith
import KithTestSupport
import KithTesting
import Testing

/// The code of the page "Getting started" (Sources/Kith/Kith.docc), compiled and, as far as it needs no second machine, run.
struct GettingStartedTests {
    private let directory = TemporaryDirectory()

    @Test func `the first steps do what the page says`() async throws {
        let folder = URL(fileURLWithPath: directory.path + "/kith")
        let notes = try Database("notes", in: folder)

        try await notes.save(Document(id: "milk", ["type": "note", "title": "Milk", "tags": ["shop"]]))

        struct Note: Codable {
            var type = "note"
            var title: String
            var text: String?
        }
        try await notes.save(Note(title: "Bread", text: "a large one"), id: "bread")

        let bread = try await notes.document("bread", as: Note.self)
        print(bread?.title ?? "none")
        #expect(bread?.title == "Bread")

        try await notes.update("milk") { $0["done"] = true }

        try await notes.write { batch in
            try batch.delete("bread")
            try batch.save(Document(id: "eggs", ["type": "note", "title": "Eggs"]))
        }

        try await notes.createIndex(DatabaseIndex("by-title", on: "type", "title"))
        let titles = try await notes.query(
            "SELECT RAW title FROM _ WHERE type = $type ORDER BY title", ["type": "note"])
        print(titles.compactMap(\.string))
        #expect(titles.compactMap(\.string) == ["Eggs", "Milk"])

        struct Entry: Codable, Identifiable, Sendable {
            var id: String
            var title: String
            var done: Bool?
        }
        let entries = try notes.collection(of: Entry.self, type: "note")
        try await entries.save(Entry(id: "tea", title: "Tea"))
        let open = try await entries.where(\.done == nil).order(\.title).fetch()
        print(open.map(\.title))
        #expect(open.map(\.title) == ["Eggs", "Tea"])

        let task = Task {
            for try await result in try entries.where(\.done == nil).order(\.title).live() {
                print("open: \(result.rows.map(\.title))")
            }
        }
        try await entries.update("tea") { $0.done = true }
        task.cancel()
        try await task.value
    }

    @Test func `a database in memory is as the page says`() async throws {
        let database = try Database.inMemory()
        try await database.save(Document(id: "a", ["text": "hi"]))
    }

    // What follows takes the port and the announcement of the machine's node, so it is compiled here alone; `NodeTests` does
    // the same on ports of its own.

    private func share(_ notes: Database, _ folder: URL) async throws -> LocalNode {
        notes.close()
        try LocalNode.makeGroup("home", in: folder, as: "den")
        let node = try LocalNode(in: folder)
        try await node.start()
        let code = try await node.invite().code
        print("on the other machine: \(code)")
        return node
    }

    private func join(_ code: String, _ folder: URL) async throws -> Database {
        try await LocalNode.join(code, in: folder, as: "attic")
        let node = try LocalNode(in: folder)
        try await node.start()
        let notes = try await node.database("notes")
        return notes
    }

    private func follow(_ node: LocalNode) async {
        for await status in node.statusUpdates() {
            print(status.state, status.peers.map(\.name))
            if status.state == .idle { break }
        }
        await node.stop()
    }

    // MARK: The page has this code

    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func `every block of the page is compiled here`() throws {
        let page = try String(
            contentsOf: root.appending(path: "Sources/Kith/Kith.docc/GettingStarted.md"), encoding: .utf8)
        let tests = Self.lines(try String(contentsOfFile: #filePath, encoding: .utf8)).joined(separator: "\n")
        let blocks = page.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
        #expect(blocks.count >= 10)
        for block in blocks {
            #expect(tests.contains(Self.lines(block).joined(separator: "\n")), "not compiled: \(block)")
        }
    }

    /// Without what they are indented by.
    private static func lines(_ text: String) -> [String] {
        text.components(separatedBy: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
