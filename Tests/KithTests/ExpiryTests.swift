import Foundation
import Kith
import KithTesting
import Testing

struct ExpiryTests {
    private let database: Database

    init() throws { database = try Database.inMemory() }

    @Test func `a document that has expired is not there for who reads`() async throws {
        var document = Document(id: "a", ["x": 1])
        document.expiresAt = Date(timeIntervalSinceNow: 3_600)
        let saved = try await database.save(document)
        let time = try #require(saved.expiresAt)
        #expect(time.timeIntervalSinceNow > 3_000)
        #expect(try await database.document("a") != nil)
        try await database.update("a") { $0.expiresAt = Date(timeIntervalSinceNow: -1) }
        #expect(try await database.document("a") == nil)
        #expect(try await database.read { try $0.documents() }.isEmpty)
        #expect(try await !database.delete("a"))
        let again = try await database.save(Document(id: "a", ["y": 2]))
        #expect(again.json == #"{"y":2}"# && again.expiresAt == nil)
    }

    @Test func `a page leaves out what has expired and is full all the same`() async throws {
        try await database.write { batch in
            for number in 0..<10 {
                var document = Document(id: "d\(number)")
                if number < 8 { document.expiresAt = Date(timeIntervalSince1970: 1) }
                try batch.save(document, .replace)
            }
        }
        #expect(try await database.read { try $0.documents(limit: 2) }.map(\.id) == ["d8", "d9"])
    }
}
