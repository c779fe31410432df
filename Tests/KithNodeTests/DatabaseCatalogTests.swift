import Dispatch
import Glibc
import KithCrypto
import KithDocument
import KithStore
import KithSystem
import KithTestSupport
import Testing

@testable import KithNode

/// The databases of a directory, and those that should be there.
@Suite struct DatabaseCatalogTests {
    private let folder = TemporaryDirectory()
    private let notes: DatabaseName
    private let spare: DatabaseName

    init() throws {
        notes = try DatabaseName("notes")
        spare = try DatabaseName("spare")
    }

    private func catalog() throws -> DatabaseCatalog {
        try DatabaseCatalog(nodeDirectory: folder.path, on: .local)
    }

    /// Makes both databases, with a document each, and closes them.
    private func fill() async throws {
        let catalog = try catalog()
        for name in [notes, spare] {
            let database = try catalog.create(name).database
            _ = try await database.write { transaction throws(StoreError) in
                try transaction.put(DocumentID(unchecked: "one"), Array("{}".utf8))
            }
        }
        await onThread { catalog.close() }
    }

    private func files(of name: DatabaseName) -> [String] {
        TemporaryDirectory.names(in: folder.path + "/databases").filter {
            $0.hasPrefix("\(name).sqlite3")
        }
    }

    /// Takes the files of a database away, but not its lock; what brings them back.
    private func takeAway(_ name: DatabaseName) {
        for file in files(of: name) {
            rename("\(folder.path)/databases/\(file)", "\(folder.path)/\(file)")
        }
    }

    private func putBack(_ name: DatabaseName) {
        for file in TemporaryDirectory.names(in: folder.path) where file.hasPrefix("\(name).sqlite3") {
            rename("\(folder.path)/\(file)", "\(folder.path)/databases/\(file)")
        }
    }

    private func expectMissing(
        _ catalog: DatabaseCatalog, _ name: DatabaseName, location: SourceLocation = #_sourceLocation
    ) {
        #expect(catalog[name.string] == nil, sourceLocation: location)
        #expect(catalog.failure(of: name.string)?.code == .missing, sourceLocation: location)
        #expect(!catalog.wants(name), "it would be made anew", sourceLocation: location)
        #expect(throws: StoreError.self, sourceLocation: location) { try catalog.create(name) }
        let carried = try? catalog.carry(name)
        #expect(carried == nil, sourceLocation: location)
        #expect(files(of: name).isEmpty, sourceLocation: location)
    }

    @Test func aDatabaseWhoseFileIsGoneIsMissedAndNotMadeAnew() async throws {
        try await fill()
        takeAway(notes)
        let catalog = try catalog()
        #expect(catalog.databases.map(\.name) == [spare])
        expectMissing(catalog, notes)
        #expect(catalog.retryUnusable().isEmpty)
        expectMissing(catalog, notes)
        // Put back, it is used without a restart.
        putBack(notes)
        #expect(catalog.retryUnusable().map(\.name) == [notes])
        #expect(catalog["notes"]?.summary.documents == 1)
        await onThread { catalog.close() }
    }

    @Test func aWholeDirectoryThatIsGoneIsMissed() async throws {
        try await fill()
        TemporaryDirectory.remove(folder.path + "/databases")
        let catalog = try catalog()
        #expect(catalog.databases.isEmpty)
        for name in [notes, spare] { expectMissing(catalog, name) }
    }

    @Test func anEmptyLogIsNoDatabase() async throws {
        try await fill()
        takeAway(notes)
        creat("\(folder.path)/databases/notes.sqlite3-wal", 0o600)
        let catalog = try catalog()
        #expect(catalog.failure(of: "notes")?.code == .missing)
        #expect(files(of: notes) == ["notes.sqlite3-wal"])
        await onThread { catalog.close() }
    }

    @Test func aMissingDatabaseIsGivenUpOrComesFromACopy() async throws {
        try await fill()
        takeAway(notes)
        takeAway(spare)
        var catalog = try catalog()
        #expect(try catalog.drop(notes))
        #expect(catalog.failure(of: "notes") == nil)
        #expect(!catalog.wants(notes), "it was dropped")
        #expect(try catalog.create(notes).isNew)
        try catalog.reserve(spare, for: "restored")
        let (result, database) = catalog.exchange(spare) { _ throws(StoreError) in self.putBack(self.spare) }
        catalog.release(spare)
        try result.get()
        #expect(try database?.get().summary.documents == 1)
        await onThread { [catalog] in catalog.close() }
        catalog = try self.catalog()
        #expect(catalog.databases.map(\.name) == [notes, spare])
        #expect(catalog.unusable.isEmpty)
        await onThread { [catalog] in catalog.close() }
    }

    @Test func aDatabaseThatWasDroppedIsNotMissed() async throws {
        try await fill()
        var catalog = try catalog()
        #expect(try catalog.drop(notes))
        await onThread { [catalog] in catalog.close() }
        // As a crash between the removal and its note leaves it.
        let carried = try DatabaseNames(.carried, in: folder.path)
        try carried.set(notes, true)
        catalog = try self.catalog()
        #expect(catalog.databases.map(\.name) == [spare])
        #expect(catalog.unusable.isEmpty)
        await onThread { [catalog] in catalog.close() }
    }

    @Test func aDatabaseThatCameBackAfterItWasDroppedIsMissedAgain() async throws {
        try await fill()
        takeAway(notes)
        var catalog = try catalog()
        #expect(try catalog.drop(notes))
        // By hand; and as a crash between the note of a drop and the removal leaves it.
        putBack(notes)
        try DatabaseNames(.dropped, in: folder.path).set(spare, true)
        await onThread { [catalog] in catalog.close() }
        catalog = try self.catalog()
        #expect(catalog.databases.map(\.name) == [notes, spare])
        await onThread { [catalog] in catalog.close() }
        for name in [notes, spare] {
            takeAway(name)
            catalog = try self.catalog()
            expectMissing(catalog, name)
            await onThread { [catalog] in catalog.close() }
        }
    }

    @Test func aFileThatIsNotKithsInThePlaceOfADatabaseIsPutAsideWhenThatIsDropped() async throws {
        try await fill()
        let letter = Array("a letter that somebody kept here\n".utf8)
        func path(_ name: DatabaseName) -> String { "\(folder.path)/databases/\(name).sqlite3" }
        for end in ["", "-wal"] { TestFolder.write(letter, to: path(notes) + end) }
        let catalog = try catalog()
        #expect(catalog["notes"] == nil)
        // The other's is replaced while it is open.
        TestFolder.write(letter, to: folder.path + "/letter")
        rename(folder.path + "/letter", path(spare))
        for name in [notes, spare] {
            let isDropped = try await onThread { try catalog.drop(name) }
            #expect(isDropped)
            #expect(!catalog.wants(name))
            let kept = try #require(try KeptFile.all(of: catalog.file(of: name)).first)
            #expect(kept.path.hasPrefix(path(name) + ".damaged-"))
            #expect(TestFolder.read(kept.path) == letter)
            #expect(access(path(name), F_OK) != 0)
        }
        #expect(files(of: notes).count == 2, "its log stays with it")
        #expect(try catalog.create(notes).isNew)
        await onThread { catalog.close() }
    }

    @Test func whatNeverWasADatabaseHereIsNotMissed() async throws {
        try await fill()
        let stranger = "\(folder.path)/databases/stranger.sqlite3"
        creat(stranger, 0o600)
        let catalog = try catalog()
        #expect(catalog.failure(of: "stranger")?.code == .damaged)
        unlink(stranger)
        #expect(catalog.retryUnusable().isEmpty)
        #expect(catalog.failure(of: "stranger") == nil)
        await onThread { catalog.close() }
    }

    @Test func theFileOfDamageHoldsWhatWasNotedLast() async throws {
        let book = try DamageBook(nodeDirectory: folder.path)
        let names = try (0..<40).map { try DatabaseName("d\($0)") }
        await onThread {
            DispatchQueue.concurrentPerform(iterations: 200) { index in
                book.note(names[index % 40], index % 3 == 0 ? nil : .init(findings: UInt64(index), message: "m"))
            }
        }
        let read = try DamageBook(nodeDirectory: folder.path)
        #expect(read.all.map(\.name) == book.all.map(\.name))
        #expect(read.all.map(\.entry) == book.all.map(\.entry))
    }
}
