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
