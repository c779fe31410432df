import KithDocument
import KithQuery
import KithStore
import Testing

/// Documents that expire: hidden at their time, dropped after a day of running.
@Suite struct ExpiryTests {
    private static let hour: Int64 = 3_600_000
    private static let day = 24 * hour
    private static let year = 365 * day

    /// Lets time pass, with the work that is due every hour.
    private func pass(_ milliseconds: Int64, on store: TestStore, isClockOff: Bool = false) throws {
        var left = milliseconds
        while left > 0 {
            let step = min(left, Self.hour)
            store.world.now += step
            store.world.monotonic += UInt64(step)
            left -= step
            try maintain(store, isClockOff: isClockOff)
        }
    }

    private func maintain(_ store: TestStore, isClockOff: Bool = false) throws {
        while try store.store.write({ (transaction) throws(StoreError) in
            try transaction.maintain(dropsExpired: !isClockOff)
        }) {}
    }

    private func put(_ id: String, expiring milliseconds: Int64, on store: TestStore) throws {
        try store.put(id, "{\"_expires\":\(store.world.now + milliseconds),\"x\":1}")
    }

    private func document(_ id: String, _ store: TestStore) throws -> StoredDocument? {
        try store.reader.get(try DocumentID(id))
    }

    @Test func `a document is hidden at its time and dropped a day of running later, without a trace`() throws {
        let store = try TestStore()
        try put("a", expiring: Self.hour, on: store)
        try store.put("stays", "{\"x\":1}")
        let stored = try #require(try document("a", store))
        #expect(
            !stored.isExpired(at: store.world.now + Self.hour - 1) && stored.isExpired(at: store.world.now + Self.hour))
        try pass(24 * Self.hour, on: store)
        #expect(try document("a", store) != nil)
        try pass(3 * Self.hour, on: store)
        #expect(try document("a", store) == nil)
        let summary = store.store.summary
        #expect(summary.documents == 1 && summary.purged == 0 && summary.deleted == 0)
        let other = try TestStore(seed: 1)
        try other.put("stays", "{\"x\":1}")
        #expect(try document("stays", store) != nil)
    }

    @Test func `what is dropped while the store is compacted does not come back`() throws {
        let store = try TestStore()
        try put("a", expiring: Self.hour, on: store)
        try store.put("stays", "{\"x\":1}")
        try pass(24 * Self.hour, on: store)
        try Compaction.write(store.file)
        try pass(3 * Self.hour, on: store)
        #expect(try document("a", store) == nil)
        try store.store.completeCopy()
        store.close()
        try Compaction.install(store.file)
        try store.reopen()
        #expect(try document("a", store) == nil && store.store.summary.documents == 1)
        #expect(try store.findings().map(\.message) == [])
        try store.check()
    }

    @Test func `a clock twenty years ahead for an hour loses nothing`() throws {
        let store = try TestStore()
        try put("a", expiring: 30 * Self.day, on: store)
        try pass(2 * Self.day, on: store)
        store.world.now += 20 * Self.year
        try pass(Self.hour, on: store)
        store.world.now -= 20 * Self.year
        try pass(27 * Self.day, on: store)
        #expect(try document("a", store) != nil)
        try pass(3 * Self.day, on: store)
        #expect(try document("a", store) == nil)
    }

    @Test func `a clock that comes up ahead after each start loses nothing within the hour`() throws {
        let store = try TestStore()
        try put("a", expiring: 300 * Self.day, on: store)
        for _ in 0..<10 {
            store.world.now += 20 * Self.year
            store.world.monotonic = 5
            try store.reopen()
            try maintain(store)
            try pass(Self.hour, on: store)
            store.world.now -= 20 * Self.year
            try pass(2 * Self.hour, on: store)
        }
        #expect(try document("a", store) != nil)
    }

    @Test func `while the machine is off no time passes for it`() throws {
        let store = try TestStore()
        try put("a", expiring: Self.hour, on: store)
        try pass(2 * Self.hour, on: store)
        store.close()
        store.world.now += 10 * Self.day
        store.world.monotonic = 0
        try store.reopen()
        try maintain(store)
        #expect(try document("a", store) != nil)
        try pass(25 * Self.hour, on: store)
        #expect(try document("a", store) == nil)
    }

    @Test func `nothing is dropped while the clock is known to be off`() throws {
        let store = try TestStore()
        try put("a", expiring: Self.hour, on: store)
        try pass(3 * Self.day, on: store, isClockOff: true)
        #expect(try document("a", store) != nil)
        try pass(26 * Self.hour, on: store)
        #expect(try document("a", store) == nil)
    }

    @Test func `a document whose time is put off stays`() throws {
        let store = try TestStore()
        try put("a", expiring: Self.hour, on: store)
        try pass(20 * Self.hour, on: store)
        try put("a", expiring: Self.year, on: store)
        try pass(10 * Self.day, on: store)
        #expect(try document("a", store)?.isExpired(at: store.world.now) == false)
        try store.put("a", "{\"x\":2}")
        try pass(400 * Self.day, on: store)
        #expect(try document("a", store) != nil)
    }

    @Test func `a time is a number of milliseconds, and no other name with an underscore is taken`() throws {
        let store = try TestStore()
        for value in ["\"tomorrow\"", "1.5", "-1", "null", "true"] {
            #expect(throws: StoreError.self) { try store.put("a", "{\"_expires\":\(value)}") }
        }
        #expect(throws: DocumentError.self) { try store.put("a", "{\"_expire\":1}") }
        #expect(throws: DocumentError.self) { try store.put("a", "{\"_expiress\":1}") }
        try store.put("a", "{\"\\u005fexpires\":5,\"A\":1}")
        #expect(try document("a", store)?.expiresAt == 5)
        try store.put("b", "{\"deep\":{\"_expires\":5}}")
        #expect(try document("b", store)?.expiresAt == nil)
    }

    @Test func `what expired for long is left out when nodes compare`() throws {
        let store = try TestStore()
        try put("a", expiring: Self.hour, on: store)
        try store.put("b", "{}")
        let now = store.world.now
        #expect(try store.reader.exclusions(expired: now) == [])
        #expect(try store.reader.exclusions(expired: now + Self.hour) == [DocumentID("a")])
        #expect(try store.reader.exclusions() == [])
    }

    @Test func `checks find it sound, and a compact file drops as before`() throws {
        let store = try TestStore()
        try store.put("b", "{}")
        try Compaction.write(store.store.file)
        // The index comes after the copy was made.
        try put("a", expiring: Self.hour, on: store)
        try store.store.completeCopy()
        let file = store.store.file
        store.close()
        try Compaction.install(file)
        try store.reopen()
        try pass(27 * Self.hour, on: store)
        #expect(try document("a", store) == nil)
        try put("c", expiring: Self.hour, on: store)
        var findings: [StoreFinding] = []
        _ = try Verification(file) { findings.append($0) }.run { _, _ in }
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test(arguments: [false, true])
    func `what is saved under the id of a dropped document lives where the old one still is`(reopens: Bool) throws {
        let (one, other) = (try TestStore(seed: 1), try TestStore(seed: 2))
        try put("a", expiring: Self.hour, on: one)
        try other.pull(one)
        try pass(27 * Self.hour, on: one)
        other.world.now = one.world.now
        #expect(try document("a", one) == nil)
        if reopens { try one.reopen() }
        try one.put("a", #"{"y":1}"#)
        try other.pull(one)
        try one.pull(other)
        for store in [one, other] {
            let found = try #require(try document("a", store))
            #expect(!found.isExpired(at: store.world.now) && found.conflicts.isEmpty)
            #expect(String(decoding: found.body, as: UTF8.self) == #"{"x":1,"y":1}"#)
            try store.check()
        }
        #expect(one.store.summary.digest == other.store.summary.digest)
    }

    @Test func `what was dropped and comes again is dropped within the hour`() throws {
        let (one, other) = (try TestStore(seed: 1), try TestStore(seed: 2))
        try put("a", expiring: Self.hour, on: one)
        try other.pull(one)
        try pass(27 * Self.hour, on: one)
        try one.pull(other)
        #expect(try document("a", one)?.isExpired(at: one.world.now) == true)
        #expect(one.store.summary.digest == other.store.summary.digest)
        try pass(Self.hour, on: one)
        #expect(try document("a", one) == nil)
        try one.check()
    }

    @Test func `queries see no document from its time on`() throws {
        let store = try TestStore()
        try store.put("b", #"{"x":2}"#)
        let time = store.world.now + Self.hour
        try put("a", expiring: Self.hour, on: store)
        func rows(_ query: String) throws -> [String] {
            try store.reader.query(query).rows().map { $0.value.json?.description ?? "MISSING" }
        }
        let expires = "SELECT RAW META().expires FROM _ ORDER BY META().id"
        #expect(try rows("SELECT RAW x FROM _ ORDER BY x") == ["1", "2"])
        #expect(try rows(expires) == ["\(time)", "MISSING"])
        #expect(
            try rows("SELECT RAW META() FROM _ WHERE META().expires > 0").first?.contains("\"expires\":\(time)") == true
        )
        store.world.now = time - 1
        #expect(try rows("SELECT RAW COUNT(*) FROM _") == ["2"])
        store.world.now = time
        #expect(try rows("SELECT RAW x FROM _ ORDER BY x") == ["2"])
        #expect(try rows("SELECT RAW COUNT(*) FROM _ AS a JOIN _ AS b ON a.x < b.x") == ["0"])
        #expect(try rows(expires) == ["MISSING"])
    }

    @Test func `time counts that a store is open for less than an hour`() throws {
        let store = try TestStore()
        try put("a", expiring: Self.hour, on: store)
        store.world.now += Self.day
        for _ in 0..<60 {
            try maintain(store)
            store.world.now += Self.hour / 2
            store.world.monotonic += UInt64(Self.hour / 2)
            try store.store.write { (transaction) throws(StoreError) in try transaction.noteRunningTime() }
            try store.reopen()
        }
        try maintain(store)
        #expect(try document("a", store) == nil)
    }
}
