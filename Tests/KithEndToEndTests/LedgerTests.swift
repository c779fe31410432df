import Glibc
import KithTestSupport
import Testing

/// Who remembers what was acknowledged must find what is lost, and only that.
@Suite(.timeLimit(.minutes(10))) struct LedgerTests {
    @Test func idsAreFoundInDocumentsOfEachForm() {
        let text = Array(
            #"[{"_id":"a","n":1}, { "n" : "_id", "_id" : "b\"c" }, {"_id":7}, {"x":{"code":"y"},"_id":"d"}]"#.utf8)
        #expect(Ledger.ids(in: text) == ["a", "b\"c", "d"])
        #expect(Ledger.ids(in: text, field: "code") == ["y"])
        #expect(Ledger.ids(in: Array(#"{"_id":"#.utf8)).isEmpty && Ledger.ids(in: []).isEmpty)
    }

    @Test func whatWasAcknowledgedIsOwedUntilSomebodyTakesItAway() {
        let ledger = Ledger()
        ledger.succeeded(["put", "notes", "one", "{}"], input: [], of: "ada")
        ledger.succeeded(
            ["import", "notes", "-"], input: Array("{\"_id\":\"two\"}\n{\"_id\":\"three\"}\n".utf8), of: "ben")
        ledger.succeeded(["import", "notes", "-", "--dry-run"], input: Array("{\"_id\":\"four\"}\n".utf8), of: "ben")
        #expect(ledger.owed("notes", by: ["ada"]) == ["one"])
        #expect(ledger.owed("notes", by: ["ada", "ben"]) == ["one", "two", "three"])
        #expect(ledger.owed("other", by: ["ada", "ben"]).isEmpty)
        ledger.succeeded(["delete", "notes", "two"], input: [], of: "ada")
        #expect(ledger.owed("notes", by: ["ben"]) == ["three"])
        // Nobody runs who could have it.
        #expect(Ledger.isLoss(["db", "delete", "notes", "--yes"]) && !Ledger.isLoss(["db", "delete", "notes"]))
        ledger.willRun(["db", "delete", "notes", "--yes"], of: "ben")
        #expect(ledger.owed("notes", by: ["ada", "ben"]) == ["one"])
    }

    @Test func whatANodeLacksIsNamedAndWhatItLostAloneIsNot() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("notes")
            try await nodes.writeEach("both", in: "notes")
            try await nodes.settle("notes")
            // Acknowledged by somebody who never had it.
            lab.ledger.wrote(["ghost"], in: "notes", by: "ada")
            let lost = await #expect(throws: Failure.self) { try await nodes.settleEach("notes", within: 1) }
            #expect(lost?.description.contains("ben lacks 1 of 3: [\"ghost\"]") == true, "\(String(describing: lost))")
            // What one alone has is lost with it; what both have is owed by the other.
            try await nodes[1].stop()
            try await nodes[0].kith("put", "notes", "alone", "{}")
            await nodes[0].willLose("notes")
            #expect(lab.ledger.owed("notes", by: ["ada"]).isEmpty)
            #expect(lab.ledger.owed("notes", by: ["ada", "ben"]) == ["both-ada", "both-ben"])
            let apart = await #expect(throws: Failure.self) { try await nodes.settleEach("notes", within: 1) }
            #expect(apart?.description.contains("ben has the digest ?") == true, "\(String(describing: apart))")
        }
    }
}
