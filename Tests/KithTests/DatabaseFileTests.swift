import Foundation
import Kith
import KithTestSupport
import KithTesting
import Testing

struct DatabaseFileTests {
    private let directory = TemporaryDirectory()
    private var folder: URL { URL(fileURLWithPath: directory.path + "/kith") }

    @Test func `what was saved is there after closing and opening`() async throws {
        let database = try Database("notes", in: folder)
        try await database.save(Document(id: "a", ["text": "hi"]))
        database.close()
        let again = try Database("notes", in: folder)
        #expect(try await again.document("a")?.string("text") == "hi")
        #expect(try again.summary().documents == 1)
    }

    @Test func `a database opened twice is refused with who has it`() throws {
        let database = try Database("notes", in: folder)
        let error = #expect(throws: KithError.self) { try Database("notes", in: folder) }
        #expect(error?.code == .inUse && error?.message.contains("this process") == true, "\(error?.message ?? "")")
        database.close()
        try Database("notes", in: folder).close()
    }

    @Test func `one that another process has names the process`() throws {
        try Database("notes", in: folder).close()
        // `flock` of the system is another process that has the file.
        let lock = folder.path + "/databases/notes.lock"
        let holder = try LineProcess([
            "flock", lock, "/bin/sh", "-c", "printf '4242\\n' > '\(lock)'; echo held; cat",
        ])
        _ = try holder.wait(seconds: 60, for: "lock") { $0 == "held" }
        let error = #expect(throws: KithError.self) { try Database("notes", in: folder) }
        #expect(error?.message.contains("4242") == true, "\(error?.message ?? "")")
        holder.end()
    }

    @Test func `what is asked of a closed database fails`() async throws {
        let database = try Database("notes", in: folder)
        database.close()
        let error = await #expect(throws: KithError.self) { try await database.document("a") }
        #expect(error?.code == .closed)
        #expect(throws: KithError.self) { try database.summary() }
    }

    @Test func `a database is made only where that is wanted`() throws {
        var options = DatabaseOptions()
        options.createsIfMissing = false
        let error = #expect(throws: KithError.self) { try Database("notes", in: folder, options: options) }
        #expect(error?.code == .notFound && !Database.exists("notes", in: folder))
        #expect(throws: KithError.self) { try Database("No Name", in: folder) }
    }

    @Test func `names lists them, delete removes one that is closed`() async throws {
        let database = try Database("notes", in: folder)
        try Database("archive", in: folder).close()
        #expect(try Database.names(in: folder) == ["archive", "notes"])
        let error = #expect(throws: KithError.self) { try Database.delete("notes", in: folder) }
        #expect(error?.code == .inUse)
        database.close()
        #expect(try Database.delete("notes", in: folder))
        #expect(try !Database.delete("notes", in: folder))
        #expect(try Database.names(in: folder) == ["archive"])
        try Database("notes", in: folder).close()
    }

    @Test func `one whose file is gone is not made anew`() async throws {
        try Database("notes", in: folder).close()
        try FileManager.default.removeItem(atPath: folder.path + "/databases/notes.sqlite3")
        let error = #expect(throws: KithError.self) { try Database("notes", in: folder) }
        #expect(error?.code == .disk && error?.message.contains("gone") == true, "\(error?.message ?? "")")
        #expect(try Database.delete("notes", in: folder))
        try Database("notes", in: folder).close()
    }

    @Test func `a copy has the documents and goes its own way`() async throws {
        let database = try Database("notes", in: folder)
        let saved = try await database.save(Document(id: "a", ["text": "hi"]))
        let file = URL(fileURLWithPath: directory.path + "/prebuilt.kith")
        try await database.copy(to: file)
        try Database.copy(from: file, as: "second", in: folder)
        let copy = try Database("second", in: folder)
        let read = try await copy.document("a")
        #expect(read?.revision == saved.revision && read?.json == saved.json)
        #expect(try copy.summary().digest == database.summary().digest)
        // Two writers of their own: both edits of one document live, as edits of two nodes do.
        try await database.update("a") { $0["x"] = 1 }
        try await copy.update("a") { $0["y"] = 2 }
        #expect(try copy.summary().digest != database.summary().digest)
        #expect(throws: KithError.self) { try Database.copy(from: file, as: "second", in: folder) }
    }

    @Test func `a copy made during writes is sound and has all that was there before`() async throws {
        let database = try Database("notes", in: folder)
        let written = Shared<[String]>([])
        let text = String(repeating: "x", count: 500)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for number in 0..<200 {
                        let id = "\(writer)-\(number)"
                        try await database.save(Document(id: id, ["text": .string(text)]))
                        written.change { $0.append(id) }
                    }
                }
            }
            group.addTask {
                for copy in 0..<3 {
                    #expect(await eventually(within: 60) { written.value.count > (copy + 1) * 100 })
                    let before = written.value
                    let file = URL(fileURLWithPath: "\(directory.path)/copy")
                    try await database.copy(to: file)
                    try Database.copy(from: file, as: "copy\(copy)", in: folder)
                    let copied = try Database("copy\(copy)", in: folder)
                    #expect(try await copied.verify().isSound)
                    for id in before { #expect(try await copied.document(id) != nil, "\(id)") }
                    copied.close()
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `a copy does not replace a database in use`() async throws {
        let database = try Database("notes", in: folder)
        let other = try Database("other", in: folder)
        try await database.save(Document(id: "a"))
        try await other.save(Document(id: "b"))
        for target in ["notes", "other"] {
            let file = folder.appending(path: "databases/\(target).sqlite3")
            let error = await #expect(throws: KithError.self) { try await database.copy(to: file) }
            #expect(error?.code == .invalid)
        }
        #expect(try await database.verify().isSound)
        #expect(try await other.verify().isSound)
        try await database.update("a") { $0["n"] = 1 }
        #expect(try await other.document("b") != nil)
    }

    @Test func `a copy that fails leaves the one before, and nothing beside it`() async throws {
        let database = try Database("notes", in: folder)
        try await database.save(Document(id: "a"))
        let file = URL(fileURLWithPath: directory.path + "/copy")
        try await database.copy(to: file)
        let whole = try Data(contentsOf: file)
        for number in 0..<200 { try await database.save(Document(id: "d\(number)", ["n": .int(number)])) }
        let task = Task { try await database.copy(to: file) }
        task.cancel()
        let cancelled = await task.result
        if case .failure(let error) = cancelled {
            #expect((error as? KithError)?.code == .cancelled)
            #expect(try Data(contentsOf: file) == whole)
        }
        let nowhere = URL(fileURLWithPath: directory.path + "/none/copy")
        await #expect(throws: KithError.self) { try await database.copy(to: nowhere) }
        // A folder is in the way of the name.
        let inTheWay = URL(fileURLWithPath: directory.path + "/folder")
        try FileManager.default.createDirectory(at: inTheWay.appending(path: "x"), withIntermediateDirectories: true)
        await #expect(throws: KithError.self) { try await database.copy(to: inTheWay) }
        #expect(Set(try FileManager.default.contentsOfDirectory(atPath: directory.path)) == ["copy", "folder", "kith"])
        try await database.copy(to: file)
        try Database.copy(from: file, as: "again", in: folder)
        #expect(try Database("again", in: folder).summary().documents == 201)
    }

    @Test func `what is no copy is refused, and a database that is open`() async throws {
        let file = URL(fileURLWithPath: directory.path + "/text")
        try Data("this is no database at all".utf8).write(to: file)
        #expect(throws: KithError.self) { try Database.copy(from: file, as: "n", in: folder) }
        #expect(throws: KithError.self) { try Database.copy(from: URL(fileURLWithPath: "/none"), as: "n", in: folder) }
        let database = try Database("open", in: folder)
        try await database.save(Document(id: "a"))
        let open = URL(fileURLWithPath: try database.summary().path)
        let error = #expect(throws: KithError.self) { try Database.copy(from: open, as: "n", in: folder) }
        #expect(error?.message.contains("log") == true, "\(error?.message ?? "")")
        #expect(try Database.names(in: folder) == ["open"])
    }

    @Test func `compacting keeps what is there, checking finds it sound`() async throws {
        let database = try Database("notes", in: folder)
        let text = String(repeating: "x", count: 2_000)
        try await database.write { batch in
            for number in 0..<500 { try batch.save(Document(id: "d\(number)", ["text": .string(text)])) }
        }
        try await database.write { batch in for number in 0..<490 { try batch.purge("d\(number)") } }
        let sizes = try await database.compact()
        #expect(sizes.after < sizes.before)
        try await database.save(Document(id: "after"))
        let report = try await database.verify()
        #expect(report.isSound && report.documents == 11, "\(report)")
    }

    @Test func `damage is what a check finds`() async throws {
        let database = try Database("notes", in: folder)
        try await database.save(Document(id: "a", ["text": "findable"]))
        database.close()
        let path = folder.path + "/databases/notes.sqlite3"
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let place = try #require(bytes.range(of: Data("findable".utf8)))
        bytes.replaceSubrange(place, with: Data("fundable".utf8))
        try bytes.write(to: URL(fileURLWithPath: path))
        let report = try await Database("notes", in: folder).verify()
        #expect(!report.isSound && report.listed.contains { $0.document == "a" }, "\(report)")
    }
}
