import Foundation
import Kith
import KithTestSupport
import KithTesting
import Testing

@testable import ExampleNotes

@Suite(.timeLimit(.minutes(5))) struct NoteStoreTests {
    private let database: Database

    init() throws { database = try Database.inMemory("notes") }

    private func store(_ database: Database, on machine: String = "den") async throws -> NoteStore {
        try await NoteStore(database, on: machine)
    }

    @discardableResult
    private func write(_ text: String, to note: Note, in store: NoteStore) async throws -> Note {
        try await #require(store.write(text, to: note)).note
    }

    private func titles(_ store: NoteStore, _ search: String) async throws -> [String] {
        try await store.found(by: search).fetch().map(\.title)
    }

    @Test func `a note is made, changed and deleted, and the newest stands first`() async throws {
        let store = try await store(database)
        let milk = try await store.create(title: "Milk").note
        let bread = try await store.create(title: "Bread").note
        #expect(try await titles(store, "") == ["Bread", "Milk"])
        try await write("two litres", to: milk, in: store)
        #expect(try await titles(store, "") == ["Milk", "Bread"])
        #expect(try await store.rename(bread.id, to: "Rye bread")?.note.title == "Rye bread")
        #expect(try await store.tag(bread.id, with: ["shop", "shop", "home"])?.note.tagNames == ["home", "shop"])
        let saved = try await #require(store.tag(bread.id, with: []))
        #expect(try saved.note.tagNames == [] && saved.sequence == database.summary().sequence)
        try await store.delete(milk.id)
        #expect(try await titles(store, "") == ["Rye bread"])
        #expect(try await store.rename(milk.id, to: "gone") == nil)
    }

    @Test(arguments: [
        ("run", ["Morning"]), ("RUNNING sho", ["Morning"]), ("shoe eggs", []), ("鸡蛋", ["今天"]), ("蛋", ["今天"]),
        ("今", ["今天"]), ("买鸡", ["今天"]), ("牛奶", []), ("#shop", ["今天"]), ("#shop eggs", ["今天"]), ("#sho", []),
        ("#", ["今天", "Morning"]), ("\"", []), ("* OR NOT (", []), ("eggs\" OR \"run", []), ("#x') OR 1=1 --", []),
    ]) func `a search finds words in English and Chinese, and tags`(typed: String, found: [String]) async throws {
        let store = try await store(database)
        try await write("running in new shoes", to: store.create(title: "Morning").note, in: store)
        let shopping = try await write("今天去买鸡蛋, eggs", to: store.create(title: "今天").note, in: store)
        _ = try await store.tag(shopping.id, with: ["shop"])
        #expect(try await titles(store, typed) == found)
    }

    @Test func `the list and a search by tag and words use their indexes`() async throws {
        let store = try await store(database)
        #expect(try await store.found(by: "").explain().contains("index: by-date"))
        #expect(try await store.found(by: "#shop milk").explain().contains("index: words"))
    }

    @Test func `a text that came while another was written stays beside it`() async throws {
        let (den, attic) = (try await store(database), try await store(database, on: "attic"))
        let read = try await write("milk", to: den.create(title: "Shopping").note, in: den)
        try await write("milk, bread", to: read, in: attic)
        let both = try await write("milk, eggs", to: read, in: den)
        #expect(both.versions.map(\.text) == ["milk, eggs", "milk, bread"])
        #expect(both.versions.map { $0.key.split(separator: " ").last } == ["den", "attic"])
        #expect(try await titles(den, "bread") == ["Shopping"])
        let settled = try await write("milk, eggs, bread", to: both, in: den)
        #expect(settled.versions.map(\.text) == ["milk, eggs, bread"] && !settled.isInConflict)
    }

    @Test func `a note that was deleted while its text was written is there again`() async throws {
        let store = try await store(database)
        let note = try await store.create(title: "Shopping").note
        try await store.delete(note.id)
        try await write("milk", to: note, in: store)
        #expect(try await store.note(note.id)?.text == "milk")
    }

    @Test func `fields of a newer program stay`() async throws {
        let store = try await store(database)
        let note = try await store.create(title: "Shopping").note
        try await database.update(note.id) { $0["colour"] = "red" }
        try await write("milk", to: note, in: store)
        #expect(try await database.document(note.id)?.string("colour") == "red")
    }

    @Test func `the page shows the model as it is`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let page = try String(contentsOf: root.appending(path: "docs/example-notes.md"), encoding: .utf8)
        let code = try String(
            contentsOf: root.appending(path: "Sources/Examples/Notes/Note.swift"), encoding: .utf8)
        let declaration = code.prefix { $0 != "}" }.split(separator: "\n").filter {
            $0.contains(/^(public struct|    public var)/)
        }
        #expect(page.contains((["```swift"] + declaration + ["}", "```"]).joined(separator: "\n")), "\(declaration)")
    }

    // MARK: Two machines

    private struct Machines {
        let den: NoteStore
        let attic: NoteStore
        let id: Note.ID
    }

    /// Two machines that have a note with a text and a tag, and are parted; then they meet.
    private func apart(_ edit: (Machines, Note) async throws -> Void) async throws -> Note {
        try await TestGroup.with(nodes: 2) { group in
            let databases = [try await group[0].database("notes"), try await group[1].database("notes")]
            let den = try await store(databases[0])
            var note = try await den.create(title: "Shopping").note
            note = try await #require(den.tag(note.id, with: ["home"])).note
            note = try await write("milk", to: note, in: den)
            #expect(await group.isInSync("notes"))
            let machines = Machines(den: den, attic: try await store(databases[1], on: "attic"), id: note.id)
            try await group.part()
            try await edit(machines, note)
            try await group.meet()
            #expect(await group.isInSync("notes"))
            let there = try await #require(machines.attic.note(note.id))
            #expect(try await machines.den.note(note.id) == there)
            return there
        }
    }

    @Test func `title, tags and text that are edited apart are all there`() async throws {
        let note = try await apart { machines, note in
            _ = try await machines.den.rename(note.id, to: "Shopping list")
            _ = try await machines.den.tag(note.id, with: ["shop"])
            _ = try await machines.attic.tag(note.id, with: ["home", "urgent"])
            try await write("milk, bread", to: note, in: machines.attic)
        }
        #expect(note.title == "Shopping list" && note.text == "milk, bread" && note.tagNames == ["shop", "urgent"])
    }

    @Test func `of texts that are written apart both are shown, and what settles them holds`() async throws {
        var note = try await apart { machines, note in
            try await write("milk, eggs", to: note, in: machines.den)
            let begun = try await write("milk, bre", to: note, in: machines.attic)
            try await write("milk, bread", to: begun, in: machines.attic)
        }
        #expect(note.isInConflict && Set(note.versions.map(\.text)) == ["milk, eggs", "milk, bread"])
        note.write(note.versions[0].text, over: note.texts.keys, on: "den", at: Date())
        #expect(!note.isInConflict)
    }

    @Test func `the same text on both is no conflict`() async throws {
        let note = try await apart { machines, note in
            try await write("bread", to: note, in: machines.den)
            try await write("bread", to: note, in: machines.attic)
        }
        #expect(!note.isInConflict && note.text == "bread" && note.texts.count == 2)
    }

    @Test func `a text written apart outlives a deletion that had not seen it`() async throws {
        let note = try await apart { machines, note in
            try await machines.den.delete(note.id)
            try await write("milk, bread", to: note, in: machines.attic)
        }
        #expect(note.title == "Shopping" && note.text == "milk, bread")
    }

    /// Thousands of values to merge: seconds of work.
    @Test(.enabled(if: Lab.isLong), arguments: [200, 300])
    func `a text comes back that was removed more than 256 edits ago`(
        edits: Int
    ) async throws {
        let note = try await apart { machines, note in
            var read = note
            for number in 1...edits { read = try await write("\(number)", to: read, in: machines.den) }
            _ = try await machines.attic.tag(note.id, with: ["shop"])
        }
        #expect(note.versions.map(\.text) == (edits > 256 ? ["\(edits)", "milk"] : ["\(edits)"]))
    }

    @Test func `a note without its last tag decodes`() async throws {
        let note = try await apart { machines, note in
            _ = try await machines.den.tag(note.id, with: [])
            _ = try await machines.attic.tag(note.id, with: [])
        }
        #expect(note.tagNames == [])
        try await database.save(
            Document(
                id: "bare",
                ["type": "note", "title": "Bare", "createdAt": .date(.now), "updatedAt": .date(.now)]))
        #expect(try await store(database).note("bare")?.text == "")
    }
}
