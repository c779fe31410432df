import CSQLite
import KithQuery

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Compares a full-text index with the documents: the words that stand in it with those that would be put in, by two sums.
///
/// FTS5's own check is a write, for which it would hold up whoever writes.
struct TextIndexAudit {
    private let entry: IndexCatalog.Entry
    private let connection: Connection

    init(_ entry: IndexCatalog.Entry, _ connection: Connection) {
        self.entry = entry
        self.connection = connection
    }

    /// Within one reading. Something is made in the connection's own memory meanwhile, and nothing in the file.
    func isRight() throws(StoreError) -> Bool {
        guard let stored = try stored() else { return false }
        return try stored == expected()
    }

    /// Sums over words, each with its document, field and place.
    private struct Sum: Equatable {
        var words: UInt64 = 0
        var hashes: UInt64 = 0

        mutating func add(_ word: UnsafeRawBufferPointer, _ document: Int64, _ field: Int, _ place: Int) {
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            for byte in word { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            for part in [UInt64(bitPattern: document), UInt64(field), UInt64(place)] {
                hash = (hash ^ part) &* 0x9E37_79B9_7F4A_7C15
                hash ^= hash >> 29
            }
            words &+= 1
            hashes &+= hash
        }
    }

    /// Nil where the index can't be read.
    private func stored() throws(StoreError) -> Sum? {
        try connection.run("PRAGMA query_only=0")
        defer { try? connection.run("DROP TABLE IF EXISTS temp.kith_words; PRAGMA query_only=1") }
        do throws(StoreError) {
            try connection.run(
                "CREATE VIRTUAL TABLE temp.kith_words USING fts5vocab('main', '\(entry.table)', 'instance')")
            let row = try connection.prepare("SELECT term, doc, col, offset FROM temp.kith_words")
            var sum = Sum()
            while try row.step() {
                let field = Int(row.string(2).dropFirst()) ?? -1
                row.withBytes(0) { sum.add($0, row.number(1), field, Int(row.number(3))) }
            }
            return sum
        } catch {
            if error.isInterruption { throw error }
            return nil
        }
    }

    private func expected() throws(StoreError) -> Sum {
        guard case .text(let fields, let options) = entry.definition.kind,
            let tokenizer = TextTokenizer(options.tokenizerArguments, connection.handle)
        else { return Sum() }
        let columns = fields.indices.map { "c\($0)" }.joined(separator: ", ")
        let row = try connection.prepare("SELECT number, \(columns) FROM \(entry.table)_rows")
        var sum = Sum()
        while try row.step() {
            let document = row.number(0)
            for field in fields.indices where !row.isNull(Int32(field + 1)) {
                var place = -1
                row.withBytes(Int32(field + 1)) { text in
                    tokenizer.words(of: text) { word in
                        place += 1
                        sum.add(word, document, field, place)
                    }
                }
            }
        }
        return sum
    }
}

/// A tokenizer of FTS5, asked directly.
final class TextTokenizer {
    private var methods = fts5_tokenizer()
    private var handle: OpaquePointer?

    /// - Parameter arguments: its name, and what it is given.
    init?(_ arguments: [String], _ connection: OpaquePointer) {
        guard let api = FullText.api(of: connection) else { return nil }
        var context: UnsafeMutableRawPointer?
        guard api.pointee.xFindTokenizer(api, arguments[0], &context, &methods) == SQLITE_OK else { return nil }
        let copies = arguments.dropFirst().map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        var pointers = copies.map { UnsafePointer<CChar>($0) }
        guard methods.xCreate(context, &pointers, Int32(pointers.count), &handle) == SQLITE_OK else { return nil }
    }

    deinit { if let handle { methods.xDelete(handle) } }

    /// Hands on the words of a text as an index has them, one a place.
    func words(of text: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
        withoutActuallyEscaping(body) { body in
            var sink = Sink(body: body)
            _ = withUnsafeMutablePointer(to: &sink) { sink in
                methods.xTokenize(
                    handle, sink, FTS5_TOKENIZE_DOCUMENT, text.baseAddress?.assumingMemoryBound(to: CChar.self),
                    Int32(text.count)
                ) { sink, _, word, count, _, _ in
                    sink!.assumingMemoryBound(to: Sink.self).pointee.body(
                        UnsafeRawBufferPointer(start: word, count: Int(count)))
                    return SQLITE_OK
                }
            }
        }
    }

    private struct Sink {
        let body: (UnsafeRawBufferPointer) -> Void
    }
}
