import KithDocument
import KithReplication
import Testing

@testable import KithNode

/// The settings of databases, as they are kept.
@Suite struct ReplicationBookTests {
    private var pulled: DatabaseReplication {
        var settings = DatabaseReplication()
        settings.direction = .pull
        settings.mode = .onDemand
        settings.isPaused = true
        return settings
    }

    @Test func whatIsKeptIsReadAgainAndTheUsualTakesNoLine() {
        var book = ReplicationBook()
        book["notes"] = pulled
        book["a"] = pulled
        book["a"] = DatabaseReplication()
        #expect(book.lines == ["notes pull on-demand paused"])
        #expect(ReplicationBook(lines: book.lines) == book)
        #expect(book["other"] == DatabaseReplication() && book.paused == ["notes"])
    }

    @Test func aFilterIsKeptAndADatabaseWhoseFilterCantBeReadIsPaused() throws {
        var book = ReplicationBook()
        book["notes"].filter = try FeedFilter(json: JSONValue(parsing: #"{"type":"task","text":"a b"}"#))
        book["maps"].filter = try FeedFilter(json: JSONValue(parsing: #"["b c","a"]"#))
        #expect(book.lines.allSatisfy { $0.split(separator: " ").count == 5 })
        #expect(ReplicationBook(lines: book.lines) == book)
        #expect(book["maps"].filterJSON == .array([.string("a"), .string("b c")]))
        for text in ["07", "0", "0141"] {
            let unread = ReplicationBook(lines: ["maps both continuous running \(text)"])
            #expect(unread["maps"].isPaused && unread["maps"].filter == nil)
        }
        #expect(book["maps"].limitation == nil && book["maps"].directions.filter == book["maps"].filter)
    }

    @Test func whatIsNoFilterIsRefusedWithWhatOneIs() throws {
        let wrong = [
            (#""text""#, "a filter is"), ("[1]", "a filter is"), (#"[""]"#, "id"), (#"{"a":{"$near":1}}"#, "selector"),
            ("[" + (0..<4_000).map { "\"document-\($0)\"" }.joined(separator: ",") + "]", "32768"),
        ]
        for (text, part) in wrong {
            let json = try JSONValue(parsing: text)
            let error = #expect(throws: ControlError.self) { try FeedFilter(json: json) }
            #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
        }
    }

    @Test func whatDamageLeavesOpenIsPausedUntilSomebodySaysOtherwise() {
        var book = ReplicationBook(lines: ["notes push continuous running", "b0rken", "x up continuous running"])
        book.pauseOthers()
        #expect(!book["notes"].isPaused && book["x"].isPaused && book["new"].isPaused)
        book["x"].isPaused = false
        #expect(
            book.lines == ["* both continuous paused", "notes push continuous running", "x both continuous running"])
        #expect(ReplicationBook(lines: book.lines) == book)
        book.resumeOthers()
        #expect(book.lines == ["notes push continuous running"])
    }
}
