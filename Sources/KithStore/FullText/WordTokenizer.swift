import CSQLite
import KithQuery

/// The tokenizer `kith`: words as SQLite's `unicode61` has them, and pairs of characters where a script sets no spaces
/// between words (`WideScripts`).
///
/// In a row of such characters each stands at a place of its own, with the next one; the last one stands alone. So what is
/// looked for is found wherever it stands, a row of two or more by its pairs one after the other, a single character as the
/// beginning of a pair. It needs no dictionary: a text is taken apart in the same way for ever, as an index needs it, from
/// which only what was put in can be taken out.
final class WordTokenizer {
    typealias Emit =
        @convention(c) (
            UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, Int32, Int32, Int32
        ) -> Int32

    private let words: fts5_tokenizer
    private let handle: OpaquePointer

    private init(_ words: fts5_tokenizer, _ handle: OpaquePointer) {
        self.words = words
        self.handle = handle
    }

    deinit { words.xDelete(handle) }

    /// As FTS5 is told of it.
    static var methods: fts5_tokenizer {
        fts5_tokenizer(
            xCreate: { api, arguments, count, made in WordTokenizer.create(api, arguments, count, made) },
            xDelete: { tokenizer in
                if let tokenizer { Unmanaged<WordTokenizer>.fromOpaque(UnsafeRawPointer(tokenizer)).release() }
            },
            xTokenize: { tokenizer, context, flags, text, count, emit in
                guard let tokenizer, let text, let emit else { return SQLITE_OK }
                let own = Unmanaged<WordTokenizer>.fromOpaque(UnsafeRawPointer(tokenizer)).takeUnretainedValue()
                return own.tokenize(UnsafeBufferPointer(start: text, count: Int(count)), flags, context, emit)
            })
    }

    private static func create(
        _ api: UnsafeMutableRawPointer?, _ arguments: UnsafeMutablePointer<UnsafePointer<CChar>?>?, _ count: Int32,
        _ made: UnsafeMutablePointer<OpaquePointer?>?
    ) -> Int32 {
        guard let api = api?.assumingMemoryBound(to: fts5_api.self) else { return SQLITE_ERROR }
        var context: UnsafeMutableRawPointer?
        var words = fts5_tokenizer()
        var code = api.pointee.xFindTokenizer(api, "unicode61", &context, &words)
        if code != SQLITE_OK { return code }
        var handle: OpaquePointer?
        code = words.xCreate(context, arguments, count, &handle)
        guard code == SQLITE_OK, let handle else { return code }
        made?.pointee = OpaquePointer(Unmanaged.passRetained(WordTokenizer(words, handle)).toOpaque())
        return SQLITE_OK
    }

    // Taking a text apart.

    private typealias Text = UnsafeBufferPointer<CChar>

    private func tokenize(
        _ text: Text, _ flags: Int32, _ context: UnsafeMutableRawPointer?, _ emit: Emit
    ) -> Int32 {
        let hasWide = text.contains { UInt8(bitPattern: $0) >= WideScripts.firstByte }
        guard hasWide else { return words.xTokenize(handle, context, flags, text.baseAddress, Int32(text.count), emit) }
        var (start, index) = (0, 0)
        while index < text.count {
            let (scalar, length) = Self.scalar(of: text, at: index)
            guard WideScripts.contains(scalar) else {
                index += length
                continue
            }
            var code = plain(text, start..<index, flags, context, emit)
            if code != SQLITE_OK { return code }
            code = pairs(text, &index, flags, context, emit)
            if code != SQLITE_OK { return code }
            start = index
        }
        return plain(text, start..<index, flags, context, emit)
    }

    /// A part of a text with other characters, by `unicode61`.
    private func plain(
        _ text: Text, _ range: Range<Int>, _ flags: Int32, _ context: UnsafeMutableRawPointer?, _ emit: Emit
    ) -> Int32 {
        guard !range.isEmpty, let start = text.baseAddress else { return SQLITE_OK }
        var shifted = Shifted(context: context, emit: emit, by: Int32(range.lowerBound))
        return withUnsafeMutablePointer(to: &shifted) { shifted in
            words.xTokenize(handle, shifted, flags, start + range.lowerBound, Int32(range.count)) {
                shifted, flags, token, count, start, end in
                let own = shifted!.assumingMemoryBound(to: Shifted.self).pointee
                return own.emit(own.context, flags, token, count, start + own.by, end + own.by)
            }
        }
    }

    /// Where the words of a part of a text are told.
    private struct Shifted {
        let context: UnsafeMutableRawPointer?
        let emit: Emit
        let by: Int32
    }

    /// The row of characters that begins there.
    private func pairs(
        _ text: Text, _ index: inout Int, _ flags: Int32, _ context: UnsafeMutableRawPointer?, _ emit: Emit
    ) -> Int32 {
        func tell(_ range: Range<Int>) -> Int32 {
            emit(
                context, 0, text.baseAddress! + range.lowerBound, Int32(range.count), Int32(range.lowerBound),
                Int32(range.upperBound))
        }
        var isPair = false
        var before: Int?
        while index < text.count {
            let (scalar, length) = Self.scalar(of: text, at: index)
            guard WideScripts.contains(scalar) else { break }
            if let before {
                isPair = true
                let code = tell(before..<(index + length))
                if code != SQLITE_OK { return code }
            }
            before = index
            index += length
        }
        guard let last = before else { return SQLITE_OK }
        // What is looked for need not be the end of a row.
        if isPair, index == text.count, flags & FTS5_TOKENIZE_QUERY != 0 { return SQLITE_OK }
        return tell(last..<index)
    }

    /// The character at a place, and its bytes; what is no UTF-8 is a character for each byte.
    private static func scalar(of text: Text, at index: Int) -> (UInt32, Int) {
        let first = UInt32(UInt8(bitPattern: text[index]))
        let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1
        guard length > 1, index + length <= text.count else { return (first < 0x80 ? first : 0xFFFD, 1) }
        var scalar = first & (0x7F >> UInt32(length))
        for offset in 1..<length {
            let byte = UInt32(UInt8(bitPattern: text[index + offset]))
            guard byte & 0xC0 == 0x80 else { return (0xFFFD, 1) }
            scalar = scalar << 6 | byte & 0x3F
        }
        return (scalar, length)
    }
}
