import Foundation
import Kith
import KithTestSupport
import KithTesting
import Testing

// The code that the articles show which docs/seeds.md answers, as it is with Kith: each kind once, as a program would write it.

/// A note of the notes application.
private struct Note: Codable, Identifiable, Equatable, Sendable {
    var id = UUID().uuidString
    var title: String
    var content: String
    var createdAt = Date()
    var updatedAt = Date()
    var tags: [String] = []
}

struct DatabaseThatSyncsTests {
    private let database: Database
    private let notes: ModelCollection<Note>

    init() throws {
        database = try Database.inMemory("notes")
        notes = try database.collection(of: Note.self, type: "note")
    }

    @Test func `create, set typed fields, read, update, delete, purge`() async throws {
        var document = Document(id: "note:1")
        document["title"] = "Milk"
        document["done"] = false
        document["count"] = 2
        document["createdAt"] = .date(Date(timeIntervalSince1970: 1_764_520_472))
        document["owner"] = ["name": "Ada", "mails": ["a@example.org"]]
        try await database.save(document)

        let read = try #require(try await database.document("note:1"))
        #expect(read.string("title") == "Milk" && read.int("count") == 2 && read.bool("done") == false)
        #expect(read.date("createdAt") == Date(timeIntervalSince1970: 1_764_520_472))
        #expect(read["owner"]?["mails"]?[0]?.string == "a@example.org")
        #expect(read.keys == ["count", "createdAt", "done", "owner", "title"])
        #expect(read.value["owner"]?["name"] == "Ada")

        // Under the id of a document that is there a new one loses nothing.
        try await database.save(Document(id: "note:1", ["title": "Bread"]))
        #expect(try await database.document("note:1")?["createdAt"] != nil)

        try await database.delete("note:1")
        #expect(try await database.document("note:1") == nil)
        try await database.save(Document(id: "cache:1", ["x": 1]))
        #expect(try await database.purge("cache:1"))
    }

    @Test func `queries as text and built in Swift, with compound indexes, explained`() async throws {
        for (number, title) in ["Milk", "Bread", "Tea"].enumerated() {
            try await notes.save(
                Note(
                    id: "n\(number)", title: title, content: "", createdAt: Date(timeIntervalSince1970: Double(number)),
                    tags: number == 1 ? ["food"] : []))
        }
        let text = "SELECT META().id, title FROM _ WHERE type = $type ORDER BY createdAt DESC LIMIT 2"
        #expect(try await database.query(text, ["type": "note"]).map { $0["title"] } == ["Tea", "Bread"])

        let built = DocumentQuery(from: "_").where(Field("type") == "note").where(Field("tags").containsElement("food"))
            .select(value: Field("title"))
        #expect(try await database.query(built) == ["Bread"])

        #expect(try await notes.order(\.createdAt, .descending).fetch().map(\.title) == ["Tea", "Bread", "Milk"])
        #expect(try await notes.where { $0.title.starts(with: "B") || $0.title == "Tea" }.count() == 2)

        try await database.createIndex(DatabaseIndex("by-date", on: "type", "createdAt"))
        #expect(try await database.explain(text).contains("index: by-date"))
        #expect(try await notes.order(\.createdAt, .descending).explain().contains("index: by-date"))
        // What a user typed is a value, whatever it says.
        #expect(try await database.query(text, ["type": "x' OR 1 = 1 --"]).isEmpty)
    }

    @Test func `conflicts between writers: the later write, an error, a rule in code`() async throws {
        let first = try await database.save(Document(id: "list", ["items": ["a"], "updatedAt": 1]))
        var (mine, theirs) = (first, first)
        theirs["items"] = ["a", "b"]
        theirs["updatedAt"] = 2
        try await database.save(theirs)
        mine["items"] = ["a", "c"]
        await #expect(throws: KithError.self) { try await database.save(mine, .failOnConflict) }
        // The union without duplicates, in an order that does not hang on a hash.
        let settled = try await database.save(mine) { conflict in
            var value = conflict.mine.value
            let items = (conflict.stored?.array("items") ?? []) + (conflict.mine.array("items") ?? [])
            value["items"] = .array(items.reduce(into: [JSONValue]()) { if !$0.contains($1) { $0.append($1) } })
            value["updatedAt"] = .int(
                max(conflict.mine.int("updatedAt") ?? 0, conflict.stored?.int("updatedAt") ?? 0))
            return value
        }
        #expect(settled.value == ["items": ["a", "b", "c"], "updatedAt": 2])
    }

    @Test(.timeLimit(.minutes(2)))
    func `listeners of a database, a document and a query, and their end`() async throws {
        let note = Note(id: "n", title: "Milk", content: "")
        var changes = database.changes().makeAsyncIterator()
        var document = database.updates(of: "n").makeAsyncIterator()
        var list = try notes.order(\.updatedAt, .descending).live().makeAsyncIterator()
        #expect(try await document.next() == .some(nil))
        #expect(try await list.next()?.rows == [])
        try await notes.save(note)
        #expect(try await changes.next()?.id == "n")
        #expect(try await document.next()??.string("title") == "Milk")
        #expect(try await list.next()?.rows.map(\.id) == ["n"])

        let live = try notes.all.live()
        let listener = Task { for try await result in live where result.rows.isEmpty { return } }
        listener.cancel()
        try await listener.value
    }

    @Test func `a batch is one transaction`() async throws {
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await database.write { batch in
                for number in 0..<100 { try batch.save(Document(id: "d\(number)", ["n": .int(number)])) }
                throw Stop()
            }
        }
        #expect(try database.summary().documents == 0)
    }

    @Test func `results are values that any thread may use`() async throws {
        try await notes.save((0..<20).map { Note(id: "n\($0)", title: "\($0)", content: "") })
        let rows = try await database.query("SELECT RAW title FROM _")
        let sum = await Task.detached { rows.compactMap(\.string).compactMap(Int.init).reduce(0, +) }.value
        #expect(sum == 190)
    }

    @Test func `a database that a program brings along is copied on its first start`() async throws {
        let directory = TemporaryDirectory()
        let folder = URL(fileURLWithPath: directory.path)
        let made = try Database("made", in: folder.appending(path: "build"))
        try await made.save(Document(id: "welcome", ["text": "hi"]))
        try await made.copy(to: folder.appending(path: "prebuilt.kith"))
        made.close()

        let home = folder.appending(path: "app")
        if !Database.exists("notes", in: home) {
            try Database.copy(from: folder.appending(path: "prebuilt.kith"), as: "notes", in: home)
        }
        let database = try Database("notes", in: home)
        defer { database.close() }
        #expect(try await database.document("welcome")?.string("text") == "hi")
    }

    @Test func `the folder is an argument, names have a rule, and a file is open once`() async throws {
        let directory = TemporaryDirectory()
        let folder = URL(fileURLWithPath: directory.path)
        let name = #expect(throws: KithError.self) { try Database("My Notes!", in: folder) }
        #expect(name?.code == .invalid)
        let database = try Database("notes", in: folder)
        let second = #expect(throws: KithError.self) { try Database("notes", in: folder) }
        #expect(second?.code == .inUse && second?.message.contains("this process") == true)
        try await database.compact()
        #expect(try await database.verify().isSound)
        database.close()
    }

    @Test(.timeLimit(.minutes(2)))
    func `sync is configuration, and its status is a stream`() async throws {
        try await TestGroup.with(nodes: 2) { group in
            let here = try await group[0].database("notes")
            let there = try await group[1].database("notes")
            try await here.collection(of: Note.self, type: "note").save(Note(id: "n", title: "Milk", content: ""))
            #expect(await group.isInSync("notes"))
            let note = try await there.collection(of: Note.self, type: "note").get("n")
            #expect(note?.title == "Milk")
            for await status in group[1].statusUpdates() where status.state == .idle { break }
        }
    }
}

/// An article of the news application.
private struct Article: Codable, Identifiable, Equatable, Sendable {
    struct Author: Codable, Equatable, Sendable {
        var name: String
        var avatar: URL?
    }

    var id: String
    var title: String
    var author: Author
    var images: [URL]?
    var publishedAt: Date
}

private enum Theme: String, Codable, Sendable { case light, dark }

extension SettingKey where Value == Theme {
    fileprivate static var theme: SettingKey { SettingKey("theme", default: .light) }
}

struct PersistenceTests {
    private let database: Database

    init() throws { database = try Database.inMemory("news") }

    @Test func `settings are typed and have defaults`() async throws {
        #expect(try await database.setting(.theme) == .light)
        try await database.set(.theme, to: .dark)
        #expect(try await database.setting(.theme) == .dark)
    }

    private struct Profile: Codable, Equatable, Sendable {
        var name: String
        /// Came with a later version.
        var nickname: String?
    }

    @Test func `objects are saved and read, what is not there is nil, and versions live with each other`() async throws
    {
        #expect(try await database.document("profile", as: Profile.self) == nil)
        try await database.save(Document(id: "profile", ["name": "Ada", "theme": "of a newer program"]))
        var profile = try #require(try await database.document("profile", as: Profile.self))
        #expect(profile == Profile(name: "Ada", nickname: nil))
        profile.nickname = "A"
        try await database.save(profile, id: "profile")
        #expect(try await database.document("profile")?.string("theme") == "of a newer program")
    }

    @Test func `the first row of a query, and what to know of LIMIT without an order`() async throws {
        try await database.save(Document(id: "a", ["type": "user", "name": "Ada"]))
        let text = "SELECT RAW name FROM _ WHERE type = 'user' LIMIT 1"
        #expect(try await database.query(text).first?.string == "Ada")
        #expect(try await database.explain(text).contains { $0.hasPrefix("note: LIMIT or OFFSET without ORDER BY") })
    }

    private func page(_ numbers: Range<Int>) -> [Article] {
        numbers.map { number in
            Article(
                id: "article:\(number)", title: "Title \(number)", author: Article.Author(name: "Ada"),
                images: number == 0 ? nil : [URL(string: "https://example.org/\(number).png")!],
                publishedAt: Date(timeIntervalSince1970: Double(number) * 3_600))
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `a cache is shown first, and what was fetched is inserted or replaces`() async throws {
        let articles = try database.collection(of: Article.self, type: "article")
        try await articles.save(page(0..<10))
        var list = try articles.order(\.publishedAt, .descending).limit(20).live().makeAsyncIterator()
        #expect(try await list.next()?.rows.count == 10)
        // The next fetch has some of the same, and one of them with another title.
        var fetched = page(5..<15)
        fetched[0].title = "Title 5, mended"
        try await articles.save(fetched)
        let result = try #require(try await list.next())
        #expect(result.rows == Array((page(0..<5) + [fetched[0]] + page(6..<15)).reversed()))
        #expect(result.difference.inserted == [0, 1, 2, 3, 4] && result.difference.updated == [9])
        // What was fetched as it was is written anew nowhere.
        let sequence = try database.summary().sequence
        try await articles.save(fetched)
        #expect(try database.summary().sequence == sequence)
    }

    @Test(.timeLimit(.minutes(2)))
    func `the same article fetched on two nodes is one revision`() async throws {
        try await TestGroup.with(nodes: 2) { group in
            let article = page(3..<4)[0]
            let document = try Document(id: article.id, encoding: article)
            let here = try await group[0].database("news")
            let there = try await group[1].database("news")
            let saved = try await here.write { try $0.saveInitial(document) }
            let other = try await there.write { try $0.saveInitial(document) }
            #expect(saved?.revision == other?.revision)
            #expect(await group.isInSync("news"))
            #expect(try await here.document(article.id)?.conflicts == [])
        }
    }

    @Test func `a backup is a copy`() async throws {
        let directory = TemporaryDirectory()
        let folder = URL(fileURLWithPath: directory.path)
        let database = try Database("news", in: folder)
        try await database.save(Document(id: "a", ["x": 1]))
        try await database.copy(to: folder.appending(path: "news.backup"))
        try await database.delete("a")
        database.close()
        try Database.copy(from: folder.appending(path: "news.backup"), as: "news", in: folder.appending(path: "back"))
        let back = try Database("news", in: folder.appending(path: "back"))
        #expect(try await back.document("a")?.int("x") == 1)
        back.close()
    }
}

/// An item of the to-do application, as its data layer has it; the whole of it is `Sources/Examples/Todo`.
private struct ListedItem: Codable, Identifiable, Equatable, Sendable {
    enum Status: String, Codable, CaseIterable, Sendable { case pending, completed }
    enum Priority: Int, Codable, CaseIterable, Sendable, QueryOrdered { case low = 1, medium, high }

    var id: String
    var title: String
    var details = ""
    var priority = Priority.medium
    var status = Status.pending
    var category = "personal"
    var dueDate: Date?
    var completedAt: Date?
    var isPinned = false
    var createdAt = Date(timeIntervalSince1970: 1_796_000_000)
    var updatedAt = Date(timeIntervalSince1970: 1_796_000_000)
}

struct TodoDataLayerTests {
    private let database: Database
    private let items: ModelCollection<ListedItem>
    private let now = Date(timeIntervalSince1970: 1_796_000_000)

    init() throws {
        database = try Database.inMemory("todo")
        items = try database.collection(of: ListedItem.self, type: "todo")
    }

    private func fill() async throws {
        try await items.save([
            ListedItem(id: "a", title: "100% of it", status: .completed, category: "work", completedAt: now),
            ListedItem(id: "b", title: "1000 things", priority: .high, category: "work", dueDate: now + 60),
            ListedItem(id: "c", title: "snake_case", dueDate: now - 60),
            ListedItem(id: "d", title: "milk", priority: .low, isPinned: true),
        ])
    }

    @Test func `an item is made, read, toggled and deleted, and its making stays`() async throws {
        let item = ListedItem(id: "a", title: "Milk", dueDate: now + 60)
        try await items.save(item)
        #expect(try await items.get("a") == item)
        let time = now + 1
        let toggled = try await items.update("a") { item in
            let isDone = item.status == .completed
            item.status = isDone ? .pending : .completed
            item.completedAt = isDone ? nil : time
            item.updatedAt = time
        }
        #expect(toggled?.status == .completed && toggled?.completedAt == time && toggled?.createdAt == item.createdAt)
        #expect(try await items.delete("a"))
        #expect(try await items.get("a") == nil)
    }

    @Test func `status, category and text go together, and signs are meant as typed`() async throws {
        try await fill()
        let work = items.where(\.status == .pending).where(\.category == "work")
        #expect(try await work.where { $0.title.ignoringCase.contains("THINGS") }.fetch().map(\.id) == ["b"])
        #expect(try await items.where { $0.title.contains("100%") }.fetch().map(\.id) == ["a"])
        #expect(try await items.where { $0.title.contains("e_c") }.fetch().map(\.id) == ["c"])
    }

    @Test func `pinned comes first, and no due date last`() async throws {
        try await fill()
        let query = items.order(\.isPinned, .descending).order(\.dueDate, nils: .last).order(\.id)
        #expect(try await query.fetch().map(\.id) == ["d", "c", "b", "a"])
        let priority = items.order(\.isPinned, .descending).order(\.priority, .descending).order(\.id, .descending)
        #expect(try await priority.fetch().map(\.id) == ["d", "b", "c", "a"])
        try await database.createIndex(DatabaseIndex("by-priority", on: "type", "isPinned", "priority", "META().id"))
        #expect(try await priority.explain().contains("index: by-priority"))
    }

    @Test func `counts, what is overdue, and all that is done deleted`() async throws {
        try await fill()
        #expect(try await items.count() == 4)
        #expect(try await items.where(\.status == .completed).count() == 1)
        #expect(
            try await items.where(\.status == .pending).where(\.dueDate < now).fetch().map(\.id) == ["c"])
        #expect(try await items.where(\.status == .completed).delete() == 1)
        #expect(try await items.count() == 3)
    }

    @Test func `an enumeration's value that nobody knows is an error with id and path`() async throws {
        try await fill()
        try await database.update("b") { $0["status"] = "later" }
        let error = await #expect(throws: KithError.self) { try await items.all.fetch() }
        #expect(error?.code == .decoding)
        #expect(error?.message.contains("document b") == true && error?.message.contains("/status") == true)
    }

    @Test func `the version stands in the database, and a step runs once`() async throws {
        try await database.save(Document(id: "old", ["type": "todo", "done": true]))
        var migrator = Migrator()
        migrator.addForEach("status") { document in
            guard let done = document.bool("done") else { return }
            document["status"] = done ? "completed" : "pending"
            document["done"] = nil
        }
        #expect(try await migrator.migrate(database) == ["status"])
        #expect(try await migrator.migrate(database) == [])
        #expect(try await database.document("old")?.value == ["type": "todo", "status": "completed"])
    }
}
