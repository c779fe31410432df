import KithDocument
import KithQuery
import KithTestSupport
import KithVirtualDisk
import Testing

@testable import KithStore

/// Indexes are kept with every write and survive all that is done to a file.
@Suite struct IndexTests {
    private static let definitions: [IndexDefinition] = {
        do {
            return [
                try IndexDefinition("by-n", .values(["n"])),
                try IndexDefinition("even", .values(["LOWER(s)", "n"]), where: "n % 2 = 0"),
                try IndexDefinition("tags", .elements(of: "tags", path: nil)),
                try IndexDefinition("big", .elements(of: "parts", path: "k"), where: "n > 3"),
                try IndexDefinition("words", .text(["s", "tags"], TextIndexOptions()), where: "n > 2"),
            ]
        } catch { fatalError("\(error)") }
    }()

    private static func body(_ number: Int) -> String {
        let parts = (0..<number % 3).map { #"{"k":\#($0)}"# }.joined(separator: ",")
        return #"{"n":\#(number),"s":"S\#(number % 7)","tags":["t\#(number % 5)","x",\#(number)],"parts":[\#(parts)]}"#
    }

    /// A store with indexes and documents, some of them changed, deleted, in conflict and purged.
    private static func filled(indexesFirst: Bool = true) throws -> TestStore {
        let store = try TestStore()
        if indexesFirst { try makeIndexes(store) }
        for number in 0..<120 { try store.put("doc-\(number)", body(number)) }
        for number in stride(from: 0, to: 120, by: 7) { try store.put("doc-\(number)", body(number + 1)) }
        for number in stride(from: 0, to: 120, by: 11) { try store.delete("doc-\(number)") }
        try store.purge("doc-1")
        try store.setPolicy("manual", number: 1)
        let other = try TestStore(seed: 3)
        for number in 20..<30 { try other.put("doc-\(number)", body(number + 50)) }
        try store.pull(other)
        if !indexesFirst { try makeIndexes(store) }
        return store
    }

    private static func makeIndexes(_ store: TestStore) throws {
        for definition in definitions { try store.store.createIndex(definition) }
    }

    /// Looks whether all indexes have what they should, by the check of the file and by answers with and without them.
    private static func check(_ store: TestStore, _ location: SourceLocation = #_sourceLocation) throws {
        #expect(
            try store.reader.indexes().map(\.definition.name) == ["big", "by-n", "even", "tags", "words"],
            sourceLocation: location)
        #expect(try store.findings() == [], sourceLocation: location)
        for (query, index) in [
            ("SELECT RAW META().id FROM t WHERE n = 8", "by-n"),
            ("SELECT RAW META().id FROM t WHERE LOWER(s) = 's3' AND n % 2 = 0", "even"),
            ("SELECT RAW META().id FROM t WHERE 't3' IN tags", "tags"),
            ("SELECT RAW META().id FROM t WHERE MATCH(words, 's: s3 t3')", "words"),
            ("SELECT RAW META().id FROM t WHERE n > 3 AND ANY p IN parts SATISFIES p.k = 1 END", "big"),
        ] {
            #expect(try store.reader.explain(query).indexes.contains(index), "\(query)", sourceLocation: location)
            let plain = query.replacing("FROM t WHERE", with: "FROM t WHERE TRUE = (") + ")"
            let found = try store.reader.query(query).rows().map(\.value).sorted()
            #expect(
                try found == store.reader.query(plain).rows().map(\.value).sorted(), "\(query)",
                sourceLocation: location)
            #expect(!found.isEmpty, "\(query)", sourceLocation: location)
        }
    }

    @Test func indexesAreKeptWithEveryWrite() throws { try Self.check(try Self.filled()) }

    @Test func indexesOfWhatIsThereAreFilled() throws { try Self.check(try Self.filled(indexesFirst: false)) }

    @Test func indexesSurviveClosingAndOpening() throws {
        let store = try Self.filled()
        try store.reopen()
        try store.put("new", Self.body(8))
        try Self.check(store)
    }

    @Test func aWriteThatFailsLeavesTheIndexesAsTheyWere() throws {
        let store = try Self.filled()
        let body = try TestStore.canonical(Self.body(8))
        #expect(throws: StoreError.self) {
            try store.store.write { (transaction) throws(StoreError) in
                _ = try transaction.put(DocumentID(unchecked: "new"), body)
                throw StoreError(.conflict, "new", "no")
            }
        }
        try Self.check(store)
    }

    @Test func indexesSurviveCompactionAndChangesOfThemMeanwhile() throws {
        let store = try Self.filled()
        try store.store.createIndex(IndexDefinition("gone", .elements(of: "parts", path: nil)))
        try store.store.dropIndex("tags")
        try Compaction.write(store.file)
        try store.store.dropIndex("gone")
        try store.store.createIndex(Self.definitions[2])
        for number in 200..<220 { try store.put("doc-\(number)", Self.body(number)) }
        for number in stride(from: 2, to: 60, by: 7) { try store.put("doc-\(number)", Self.body(number + 3)) }
        try store.purge("doc-9")
        try store.store.completeCopy()
        store.close()
        try Compaction.install(store.file)
        try store.reopen()
        try store.check()
        try Self.check(store)
    }

    @Test func indexesAreInACopyAndComeBackWithIt() throws {
        let store = try Self.filled()
        let copy = store.directory.path + "/copy"
        try Backup.write(store.file, to: copy)
        try store.store.dropIndex("by-n")
        try store.put("late", Self.body(8))
        store.close()
        try Restoring.receive(store.file).write(TestFile.bytes(of: copy) ?? [])
        _ = try Restoring.ready(store.file, environment: store.environment)
        _ = try Restoring.install(store.file, at: "1")
        try store.reopen()
        #expect(try store.get("late") == nil)
        try Self.check(store)
    }

    @Test func indexesAreMadeAnewByARepair() throws {
        let store = try Self.filled()
        // An entry of the array index that no document has, and a document behind the backs of all indexes.
        let connection = try Connection(path: store.file.path, subject: "test", access: .write)
        try connection.run("DELETE FROM elements_3 WHERE number IN (SELECT number FROM documents LIMIT 3 OFFSET 5)")
        #expect(try store.findings().contains { $0.message.contains("the index tags is not that of the documents") })
        try store.repair()
        try Self.check(store)
    }

    @Test func aDefinitionThatIsWrongSaysWhere() throws {
        func message(_ kind: IndexDefinition.Kind, where filter: String? = nil) -> String? {
            do throws(QueryError) {
                _ = try IndexDefinition("i", kind, where: filter)
                return nil
            } catch { return error.message }
        }
        #expect(message(.values(["a +"])) == "line 1, column 4: expected a value, found the end of the query")
        #expect(message(.values(["$p"])) == "line 1, column 1: an index can't have parameters: expected a value")
        #expect(
            message(.values(["NOW_MILLIS()"]))
                == "line 1, column 1: an index can't have NOW_MILLIS, which depends on when it is asked")
        #expect(message(.values(["1 + 1"])) == "1 + 1 is the same for all documents: an index has fields")
        #expect(message(.values([])) == "an index has one to 8 expressions")
        #expect(
            message(.elements(of: "LOWER(a)", path: nil))
                == "the array of an index is a path, such as tags or a.b: found LOWER(a)")
        #expect(message(.values(["a"]), where: "NOPE(a)")?.contains("there is no function NOPE") == true)
        #expect(throws: QueryError.self) { try IndexDefinition("a b", .values(["a"])) }
        #expect(throws: QueryError.self) { try IndexDefinition("", .values(["a"])) }
        #expect(throws: QueryError.self) { try IndexDefinition(json: ["name": "x", "kind": "full-text"]) }
    }

    @Test func anIndexIsMadeOnceAndDroppedByItsName() throws {
        let store = try TestStore()
        let definition = try IndexDefinition("by-n", .values(["n"]))
        try store.store.createIndex(definition)
        try store.store.createIndex(definition)
        let other = try IndexDefinition("by-n", .values(["m"]))
        #expect(failure { try store.store.createIndex(other) } == .invalid)
        let error = #expect(throws: StoreError.self) { try store.store.dropIndex("by-m") }
        #expect(error?.code == .notFound)
        #expect(error?.message == "there is no index 'by-m'; there are: by-n")
        try store.store.dropIndex("by-n")
        #expect(try store.reader.indexes() == [])
        try store.put("a", #"{"n":1}"#)
        #expect(try store.findings() == [])
    }

    @Test func anIndexThatCanNotBeEvaluatedForADocumentDoesNotStopItsWriting() throws {
        let store = try TestStore()
        try store.store.createIndex(IndexDefinition("p", .values(["REGEXP_LIKE('a', p)"])))
        try store.put("a", #"{"p":"("}"#)
        try store.put("b", #"{"p":"a"}"#)
        #expect(
            try store.reader.query("SELECT RAW META().id FROM t WHERE REGEXP_LIKE('a', p) = TRUE").rows().count == 1)
        #expect(try store.findings() == [])
    }

    @Test func theBuildingOfAnIndexTellsHowFarItIsAndIsGivenUp() throws {
        let store = try TestStore()
        try store.store.write { (transaction) throws(StoreError) in
            for number in 0..<3_000 {
                _ = try transaction.put(
                    DocumentID(unchecked: "d\(number)"), JSONValue.object(["n": .number(number)]).canonicalBytes)
            }
        }
        var told: [UInt64] = []
        try store.store.createIndex(IndexDefinition("n", .values(["n"]))) { done, total in
            #expect(done <= total && total == 3_000)
            told.append(done)
            return true
        }
        #expect(told.last == 3_000)
        #expect(told == told.sorted())
        let code = failure { try store.store.createIndex(IndexDefinition("m", .values(["n + 1"]))) { _, _ in false } }
        #expect(code == .cancelled)
        #expect(try store.reader.indexes().map(\.definition.name) == ["n"])
        try store.put("late", #"{"n":1}"#)
        #expect(try store.findings() == [])
    }

    @Test func anIndexIsListedWithItsSizeAndItsLastUse() throws {
        let store = try Self.filled()
        #expect(try store.reader.indexes().allSatisfy { $0.lastUsed == nil && ($0.bytes ?? 1) > 0 })
        _ = try store.reader.query("SELECT n FROM t WHERE n = 3").rows()
        let used = store.reader.takeUsedIndexes()
        #expect(used == ["by-n"])
        store.world.now += 5
        try store.store.write { (transaction) throws(StoreError) in try transaction.noteIndexUse(used + ["nothing"]) }
        let listed = try store.reader.indexes().filter { $0.lastUsed != nil }
        #expect(listed.map(\.definition.name) == ["by-n"])
        #expect(listed.first?.lastUsed == store.world.now)
    }

    /// The power goes at every change of the disk that making indexes, writing and dropping one makes.
    @Test(arguments: Survival.allCases)
    func aPowerCutLeavesIndexesThatAreThoseOfTheDocuments(_ survival: Survival) throws {
        var cut = 1
        while try Self.writes(cutAfter: cut, survival) { cut += 11 }
        #expect(cut > 1)
    }

    /// - Returns: whether the power went before the work was done.
    private static func writes(cutAfter count: Int, _ survival: Survival) throws -> Bool {
        let disk = VirtualDisk()
        defer { disk.discard() }
        var numbers = SeededGenerator(seed: UInt64(count))
        func open(_ process: DiskProcess) throws -> Store {
            try Store(
                DatabaseFile(try DatabaseName("notes"), in: disk.directory, on: process),
                environment: StoreEnvironment(now: { 1_700_000_000_000 }, random: { numbers.next() }))
        }
        let first = disk.start()
        disk.powerGoesBefore = count
        do {
            let store = try open(first)
            for definition in definitions { try store.createIndex(definition) }
            for number in 0..<6 {
                let body = try TestStore.canonical(body(number))
                _ = try store.write { (transaction) throws(StoreError) in
                    try transaction.put(DocumentID(unchecked: "doc-\(number)"), body)
                }
            }
            try store.dropIndex("even")
        } catch {}
        let isCut = disk.isWithoutPower
        first.kill()
        var generator = SeededGenerator(seed: 1)
        disk.cutPower(survival, &generator)
        let process = disk.start()
        let store = try open(process)
        var found: [StoreFinding] = []
        _ = try Verification(store.file) { found.append($0) }.run { _, _ in }
        #expect(found == [], "cut after \(count) changes")
        let reader = try store.makeReader()
        for listing in try reader.indexes() where listing.definition.name == "by-n" {
            let some = try reader.query("SELECT RAW n FROM t WHERE n >= 0 ORDER BY n").rows().count
            #expect(try UInt64(some) == reader.summary().documents, "cut after \(count) changes")
        }
        return isCut
    }
}
