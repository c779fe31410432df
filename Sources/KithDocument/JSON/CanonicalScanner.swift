/// Finds its way in bytes that are canonical JSON already. It checks no more than it must to stay within the bytes:
/// on others it goes astray, and ends.
struct CanonicalScanner {
    let text: UnsafePointer<UInt8>
    let count: Int

    /// Nil for no bytes.
    init?(_ canonical: UnsafeRawBufferPointer) {
        guard let base = canonical.baseAddress, !canonical.isEmpty else { return nil }
        text = base.assumingMemoryBound(to: UInt8.self)
        count = canonical.count
    }

    /// The byte at a place; 0, which canonical JSON never has, beyond the end.
    @inline(__always)
    func byte(_ at: Int) -> UInt8 { at < count ? text[at] : 0 }

    /// Where the closing quote stands of the string whose opening quote is at `start`; nil if there is none.
    func closingQuote(from start: Int) -> Int? {
        var at = start + 1
        while at < count {
            if at + 8 <= count {
                let stop = EightBytes.quoteOrBackslash(EightBytes.load(text + at))
                if stop == 0 {
                    at += 8
                    continue
                }
                at += stop.trailingZeroBitCount >> 3
            }
            switch text[at] {
            case .quote: return at
            case .backslash: at += 2
            default: at += 1
            }
        }
        return nil
    }

    /// Where the value ends that begins at `start`; nil where there is none.
    func endOfValue(from start: Int) -> Int? {
        switch byte(start) {
        case .quote: closingQuote(from: start).map { $0 + 1 }
        case .openBrace, .openBracket: endOfContainer(from: start)
        default: endOfScalar(from: start)
        }
    }

    private func endOfContainer(from start: Int) -> Int? {
        var (at, depth) = (start, 0)
        while at < count {
            switch text[at] {
            case .quote:
                guard let quote = closingQuote(from: at) else { return nil }
                at = quote
            case .openBrace, .openBracket:
                depth += 1
            case .closeBrace, .closeBracket:
                depth -= 1
                if depth == 0 { return at + 1 }
            default:
                break
            }
            at += 1
        }
        return nil
    }

    private func endOfScalar(from start: Int) -> Int? {
        var at = start
        while at < count, text[at] != .comma, text[at] != .closeBrace, text[at] != .closeBracket { at += 1 }
        return at > start ? at : nil
    }

    /// The bytes that the inside of a string stands for.
    func unescaped(_ range: Range<Int>) -> UnescapedBytes { UnescapedBytes(text: text, range: range) }

    func hasEscape(_ range: Range<Int>) -> Bool {
        UnsafeBufferPointer(start: text + range.lowerBound, count: range.count).contains(.backslash)
    }
}
