import CSQLite
import KithDocument
import KithTestSupport
import Testing

@testable import KithStore

@Suite struct TransactionTests {
    private typealias Work = (WriteTransaction) throws(StoreError) -> Written

    private func work(_ id: String, _ json: String, if precondition: Precondition = .any) throws -> Work {
        let (id, body) = (try DocumentID(id), try TestStore.canonical(json))
        return { (transaction) throws(StoreError) in try transaction.put(id, body, if: precondition) }
    }

    @Test func ofAGroupEachPieceStandsOrFallsAlone() throws {
        let test = try TestStore()
        try test.put("a", #"{"x":1}"#)
        let fails: Work = { (transaction) throws(StoreError) in
            _ = try transaction.put(DocumentID(unchecked: "half"), Array(#"{"x":1}"#.utf8))
            _ = try transaction.delete(DocumentID(unchecked: "a"))
            throw StoreError(.invalid, "half", "changed its mind")
        }
        let results = test.store.commit([
            try work("b", #"{"x":1}"#), fails, try work("a", #"{"x":9}"#, if: .mustNotExist),
            try work("c", #"{"x":1}"#),
        ])
        #expect(try results[0].get().sequence == 2)
        #expect(results[1].code == .invalid)
        #expect(results[2].code == .conflict)
        #expect(try results[3].get().sequence == 3)
        #expect(try test.get("half") == nil)
        #expect(try test.body("a") == #"{"x":1}"#)
        try test.check()
        try test.reopen()
        #expect(try test.reader.feed(after: 0, limit: 9).map(\.document.string) == ["a", "b", "c"])
    }

    @Test func aTransactionThatFailsBeginsNoTimeline() throws {
        let test = try TestStore()
        let before = test.store.summary
        #expect(
            failure {
                try test.store.write { (transaction) throws(StoreError) in
                    _ = try transaction.put(DocumentID(unchecked: "a"), Array(#"{"x":1}"#.utf8))
                    throw StoreError(.invalid, "a", "changed its mind")
                }
            } == .invalid)
        #expect(test.store.summary == before)
        #expect(before.position == Position(timeline: 0, sequence: 0))
        try test.put("a", #"{"x":1}"#)
        #expect(test.store.summary.position.timeline != 0)
        try test.check()
    }

    @Test func aFullDiskLeavesTheDatabaseAsItWas() throws {
        let directory = TemporaryDirectory()
        let test = try TestStore(directory: directory, options: StoreOptions(maximumPages: 60))
        var written = 0
        let filling = String(repeating: "x", count: 3000)
        var code: StoreError.Code?
        while code == nil, written < 1000 {
            code = failure { try test.put("d\(written)", "{\"x\":\"\(filling)\"}") }
            if code == nil { written += 1 }
        }
        #expect(code == .storageFull)
        #expect(written > 5)
        #expect(test.store.summary.documents == UInt64(written))
        try test.check()
        #expect(failure { try test.put("d\(written)", "{\"x\":\"\(filling)\"}") } == .storageFull)
        // In a group the large piece fails, or all do; what is said to be written is.
        let results = test.store.commit([try work("large", "{\"x\":\"\(filling)\"}"), try work("d0", #"{"x":1}"#)])
        #expect(results[0].code == .storageFull)
        if case .success = results[1] { #expect(try test.body("d0") == #"{"x":1}"#) }
        try test.check()
        test.close()
        let again = try TestStore(seed: 3, directory: directory)
        try again.put("more", "{\"x\":\"\(filling)\"}")
        try again.check()
    }

    @Test func aCopyTakenInMidLifeOpensWithAllThatWasAcknowledged() throws {
        var generator = SeededGenerator(seed: 5)
        let test = try TestStore()
        for round in 0..<30 {
            for _ in 0..<generator.within(1...5) {
                try test.put("d\(generator.below(10))", "{\"n\":\(generator.below(1000))}")
            }
            if round % 11 == 10 { try test.store.truncateLog() }
            let copy = try TestStore(seed: 77, directory: test.directory.copy())
            #expect(copy.store.summary == test.store.summary)
            for number in 0..<10 { #expect(try copy.body("d\(number)") == (try test.body("d\(number)"))) }
            try copy.check()
        }
    }

    @Test func aTornLogLosesWholeTransactionsOnly() throws {
        let test = try TestStore()
        try test.put("a", #"{"n":0}"#)
        try test.store.truncateLog()
        var acknowledged: [UInt64: StoreSummary] = [test.store.summary.position.sequence: test.store.summary]
        for number in 1...20 {
            try test.put("a", "{\"n\":\(number)}")
            acknowledged[test.store.summary.position.sequence] = test.store.summary
        }
        let log = test.directory.read("things.sqlite3-wal")
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<40 {
            let copy = test.directory.copy()
            copy.write("things.sqlite3-wal", Array(log[..<generator.within(0...log.count)]))
            let opened = try TestStore(seed: 78, directory: copy)
            let summary = opened.store.summary
            #expect(summary == acknowledged[summary.position.sequence])
            #expect(try opened.body("a") == "{\"n\":\(summary.position.sequence - 1)}")
            try opened.check()
        }
    }

    @Test func aSecondOpenerIsToldWhoHasTheDatabase() throws {
        let test = try TestStore()
        do {
            _ = try TestStore(seed: 2, directory: test.directory)
            Issue.record("two writers")
        } catch let error as StoreError {
            #expect(error.code == .locked)
            #expect(error.message.contains("in this process"))
            #expect(error.message.unicodeScalars.count <= 200)
        }
        test.close()
        _ = try TestStore(seed: 2, directory: test.directory)
    }

    @Test func filesOfOthersAreRefusedAndLeftAsTheyAre() throws {
        let directory = TemporaryDirectory()
        do {
            let test = try TestStore(directory: directory)
            try test.put("a", #"{"x":1}"#)
            try test.store.truncateLog()
        }
        let file = DatabaseFile(TestStore.name, in: directory.path)
        func change(_ sql: String) throws { try Connection(path: file.path, subject: "test", access: .create).run(sql) }
        try change("PRAGMA user_version=2")
        let newer = directory.read("things.sqlite3")
        #expect(failure { _ = try TestStore(directory: directory) } == .newerFile)
        #expect(directory.read("things.sqlite3") == newer)
        try change("PRAGMA user_version=1; PRAGMA application_id=7")
        #expect(failure { _ = try TestStore(directory: directory) } == .foreignFile)
        directory.write("things.sqlite3", Array(repeating: 65, count: 8192))
        directory.write("things.sqlite3-wal", [])
        #expect(failure { _ = try TestStore(directory: directory) } == .damaged)
    }

    @Test func aDatabaseThatIsNotThereIsNotMadeUnlessAskedTo() throws {
        let directory = TemporaryDirectory()
        var options = StoreOptions()
        options.creates = false
        #expect(failure { _ = try TestStore(directory: directory, options: options) } == .notFound)
        do { _ = try TestStore(directory: directory) }
        #expect(try Store.names(in: directory.path) == [TestStore.name])
        do {
            let test = try TestStore(directory: directory, options: options)
            #expect(failure { try Store.remove(test.store.file) } == .locked)
        }
        try Store.remove(DatabaseFile(TestStore.name, in: directory.path))
        #expect(try Store.names(in: directory.path).isEmpty)
    }

    @Test func aDamagedTreeIsAnErrorOfThatDocumentAlone() throws {
        let test = try TestStore()
        try test.put("a", #"{"x":1}"#)
        try test.put("b", #"{"x":1}"#)
        try Connection(path: test.store.file.path, subject: "test", access: .write)
            .run("UPDATE documents SET tree = x'ffff' WHERE id = 'a'")
        #expect(failure { try test.put("a", #"{"x":2}"#) } == .damaged)
        try test.put("b", #"{"x":2}"#)
        #expect(try test.body("b") == #"{"x":2}"#)
    }

    @Test func namesOfDatabasesAreChecked() {
        for name in ["a", "a0_$()+-", String(repeating: "a", count: 238)] { #expect(DatabaseName.isValid(name)) }
        for name in ["", "A", "0a", "_a", "a/b", "a.b", "é", "a\u{0}", String(repeating: "a", count: 239)] {
            #expect(!DatabaseName.isValid(name))
        }
    }

    @Test func theFeedAndTheConflictsAreReadByIndex() throws {
        let test = try TestStore()
        for sql in [SQL.feed, .feedOfConflicts, .winners, .documentsById] {
            let plan = try test.reader.connection.prepare("EXPLAIN QUERY PLAN " + sql.text)
            var text = ""
            while try plan.step() { text += plan.string(3) + "\n" }
            #expect(!text.contains("SCAN documents\n") && !text.contains("TEMP B-TREE"), "\(text)")
            if sql == .feedOfConflicts { #expect(text.contains("INDEX conflicts"), "\(text)") }
        }
    }
}

extension Result where Failure == StoreError {
    var code: StoreError.Code? { if case .failure(let error) = self { error.code } else { nil } }
}
