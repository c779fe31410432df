import CSQLite
import KithDocument
import KithTestSupport
import Testing

@testable import KithStore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension TestStore {
    var file: DatabaseFile { DatabaseFile(Self.name, in: directory.path) }

    var environment: StoreEnvironment {
        let world = world
        return StoreEnvironment(now: { world.now }, random: { world.generator.next() })
    }

    /// What a check of the file finds.
    func findings() throws -> [StoreFinding] {
        var found: [StoreFinding] = []
        let summary = try Verification(file) { found.append($0) }.run { _, _ in }
        #expect(summary.notes.isEmpty)
        #expect(summary.findings == UInt64(found.count))
        return found
    }

    /// Closes, repairs and opens again.
    @discardableResult
    func repair(_ location: SourceLocation = #_sourceLocation) throws -> SalvageReport {
        close()
        let report = try Salvage.repair(file, at: "1", environment: environment) { _, _ in }
        try reopen()
        try check(location)
        #expect(try findings() == [], sourceLocation: location)
        return report
    }

    /// Changes the file behind the store's back, with SQLite and without the schema's rules in the way. The store must be
    /// closed.
    func tamper(_ sql: String) throws {
        var handle: OpaquePointer?
        try #require(sqlite3_open(file.path, &handle) == SQLITE_OK)
        defer { sqlite3_close(handle) }
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        try #require(code == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
    }

    /// The numbers of the pages of a table or index, the first its root.
    func pages(of name: String) throws -> [Int] {
        var handle: OpaquePointer?
        try #require(sqlite3_open(file.path, &handle) == SQLITE_OK)
        defer { sqlite3_close(handle) }
        var statement: OpaquePointer?
        let sql = "SELECT pageno FROM dbstat WHERE name = '\(name)' ORDER BY path"
        try #require(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK)
        defer { sqlite3_finalize(statement) }
        var pages: [Int] = []
        while sqlite3_step(statement) == SQLITE_ROW { pages.append(Int(sqlite3_column_int(statement, 0))) }
        return pages
    }

    /// Overwrites a page of the closed file.
    func destroy(page: Int, with byte: UInt8 = 0xA5) {
        let descriptor = Glibc.open(file.path, O_WRONLY)
        defer { Glibc.close(descriptor) }
        let bytes = [UInt8](repeating: byte, count: 4_096)
        #expect(pwrite(descriptor, bytes, bytes.count, off_t((page - 1) * 4_096)) == 4_096)
    }

    /// Fills the database: edits, deletions, conflicts, kept bodies, long bodies, a purge, a local document.
    func fill(_ count: Int = 300) throws {
        for start in stride(from: 0, to: count, by: 100) {
            let works = try (start..<min(count, start + 100)).map { number in
                let body = try Self.canonical(#"{"n":\#(number),"text":"\#(String(repeating: "x", count: 40))"}"#)
                return (try DocumentID("doc-\(number)"), body)
            }
            _ = try store.write { (transaction) throws(StoreError) in
                for (id, body) in works { _ = try transaction.put(id, body) }
            }
        }
        for number in 0..<30 { try put("doc-\(number)", #"{"n":\#(number),"again":true}"#) }
        for number in 0..<10 { try delete("doc-\(number)") }
        try put("long", #"{"text":"\#(String(repeating: "long ", count: 9_000))"}"#)
        let other = try TestStore(seed: 77)
        try other.setPolicy("manual", number: 1)
        try setPolicy("manual", number: 1)
        for number in 0..<5 {
            try put("both-\(number)", #"{"by":"here"}"#)
            try other.put("both-\(number)", #"{"by":"there"}"#)
        }
        try pull(other)
        try put("gone", "{}")
        try purge("gone")
        let body = Array(#"{"x":1}"#.utf8)
        try store.write { (transaction) throws(StoreError) in try transaction.putLocal("l", body) }
    }
}
