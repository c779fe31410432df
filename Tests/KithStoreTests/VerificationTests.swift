import KithDocument
import KithTestSupport
import Testing

@testable import KithStore

/// What a check of a file finds.
struct VerificationTests {
    @Test func aSoundDatabaseHasNothingFound() throws {
        let store = try TestStore()
        try store.fill()
        #expect(try store.findings() == [])
        store.close()
        #expect(try store.findings() == [])
        try store.reopen()
        #expect(try store.findings() == [])
    }

    /// What is changed in the file, and the kind and document of what is found.
    @Test(arguments: [
        (
            "UPDATE documents SET body = replace(body, 'x', 'y') WHERE id = 'doc-200'", StoreFinding.Kind.document,
            "doc-200"
        ),
        ("UPDATE documents SET body = NULL WHERE id = 'doc-200'", .document, "doc-200"),
        ("UPDATE documents SET tree = zeroblob(40) WHERE id = 'doc-200'", .document, "doc-200"),
        ("UPDATE documents SET revision = zeroblob(24) WHERE id = 'doc-200'", .document, "doc-200"),
        ("UPDATE documents SET flags = flags + 1 WHERE id = 'doc-200'", .document, "doc-200"),
        ("UPDATE bodies SET body = '{\"by\":\"nobody\"}' WHERE id = 'both-2'", .document, "both-2"),
        ("DELETE FROM bodies WHERE id = 'both-2'", .document, "both-2"),
        ("INSERT INTO bodies VALUES ('stray', zeroblob(24), NULL, '{}')", .document, "stray"),
        ("UPDATE state SET digest = zeroblob(32)", .numbers, ""),
        ("UPDATE state SET documents = documents + 1", .numbers, ""),
        ("UPDATE state SET conflicts = 0", .numbers, ""),
        ("UPDATE state SET sequence = 3", .numbers, ""),
        ("DELETE FROM documents WHERE id = 'doc-200'", .numbers, ""),
        ("UPDATE timelines SET last = 0 WHERE first = 1; INSERT INTO timelines VALUES (2, 5, 900000)", .records, ""),
        ("INSERT INTO checkpoints VALUES (x'00', 1, 1)", .records, ""),
        ("UPDATE purged SET leaves = x'0102'", .records, "gone"),
        ("UPDATE settings SET value = x'ff' WHERE key = 'policy'", .file, ""),
    ])
    func whatWasChangedIsFoundAndMended(_ change: String, _ kind: StoreFinding.Kind, _ document: String) throws {
        let store = try TestStore()
        try store.fill()
        store.close()
        try store.tamper(change)
        let found = try store.findings()
        #expect(found.contains { $0.kind == kind && ($0.document ?? "") == document }, "\(found)")
        let report = try store.repair()
        let isLost =
            kind == .document && document != "stray" && !change.contains("flags")
            && !change.contains("SET revision")
        #expect(report.damaged.map(\.id) == (isLost ? [document] : []))
    }

    @Test func aPageThatCannotBeReadIsFoundWithTheDocumentsOnIt() throws {
        let store = try TestStore()
        try store.fill(2_000)
        store.close()
        let pages = try store.pages(of: "documents")
        store.destroy(page: pages[pages.count / 2])
        let found = try store.findings()
        #expect(found.contains { $0.kind == .document && $0.document != nil }, "\(found.prefix(3))")
        #expect(found.contains { $0.kind == .file })
    }

    @Test func aFileThatIsNoDatabaseAnyMoreIsAFinding() throws {
        let store = try TestStore()
        try store.fill()
        store.close()
        store.destroy(page: 1)
        #expect(try store.findings().map(\.kind) == [.file])
    }

    @Test func aCheckBesideWritesFindsNothing() throws {
        let store = try TestStore()
        try store.fill()
        let file = store.file
        for round in 0..<20 {
            for number in 0..<20 { try store.put("doc-\(number)", #"{"round":\#(round)}"#) }
            var found: [StoreFinding] = []
            var pages = 0
            _ = try Verification(file) { found.append($0) }.run { _, _ in
                pages += 1
                _ = try? store.put("doc-\(pages)", #"{"meanwhile":\#(round)}"#)
            }
            #expect(found == [])
        }
    }

    @Test func aCheckThatIsGivenUpSaysSo() throws {
        let store = try TestStore()
        try store.fill()
        #expect(
            failure { _ = try Verification(store.file, isCancelled: { true }) { _ in }.run { _, _ in } } == .cancelled)
    }
}
