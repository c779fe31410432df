/// Builds a tree from canonical bytes. The open arrays and objects are a list, not recursion: their depth comes from
/// outside.
struct JSONTreeReader {
    private enum Open {
        case array([JSONValue])
        /// The members so far, and the key of the one that is read.
        case object([JSONObject.Element], key: String)
    }

    private enum Step {
        /// A value is to be read next.
        case next
        case value(JSONValue)
        /// The bytes are not canonical.
        case failed
    }

    private let scanner: CanonicalScanner
    private var at = 0
    private var open: [Open] = []

    /// Nil for no bytes.
    init?(_ canonical: UnsafeRawBufferPointer) {
        guard let scanner = CanonicalScanner(canonical) else { return nil }
        self.scanner = scanner
    }

    /// Nil where the bytes are not canonical.
    mutating func read() -> JSONValue? {
        while true {
            var step = readStart()
            if case .value(let value) = step { step = place(value) }
            switch step {
            case .next: continue
            case .value(let root): return at == scanner.count ? root : nil
            case .failed: return nil
            }
        }
    }

    /// Reads a scalar or an empty container, or opens one.
    private mutating func readStart() -> Step {
        switch scanner.byte(at) {
        case .openBrace:
            at += 1
            if take(.closeBrace) { return .value(.object(JSONObject())) }
            guard let key = readKey() else { return .failed }
            open.append(.object([], key: key))
            return .next
        case .openBracket:
            at += 1
            if take(.closeBracket) { return .value(.array([])) }
            open.append(.array([]))
            return .next
        case .quote:
            return readString().map { .value(.string($0)) } ?? .failed
        default:
            return readScalar()
        }
    }

    /// Puts a value in its place and closes what ends behind it; the root is what is left when all is closed.
    private mutating func place(_ value: JSONValue) -> Step {
        var value = value
        while let innermost = open.popLast() {
            // Consumed, so that a member is added in place and not to a copy of all those before it.
            switch consume innermost {
            case .array(var elements):
                elements.append(value)
                if take(.comma) {
                    open.append(.array(elements))
                    return .next
                }
                guard take(.closeBracket) else { return .failed }
                value = .array(elements)
            case .object(var members, let key):
                members.append((key, value))
                if take(.comma) {
                    guard let next = readKey() else { return .failed }
                    open.append(.object(members, key: next))
                    return .next
                }
                guard take(.closeBrace) else { return .failed }
                value = .object(JSONObject(ascending: members))
            }
        }
        return .value(value)
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard scanner.byte(at) == byte else { return false }
        at += 1
        return true
    }

    private mutating func readKey() -> String? {
        guard scanner.byte(at) == .quote, let key = readString(), take(.colon) else { return nil }
        return key
    }

    private mutating func readString() -> String? {
        guard let quote = scanner.closingQuote(from: at) else { return nil }
        let range = (at + 1)..<quote
        at = quote + 1
        if scanner.hasEscape(range) { return String(decoding: Array(scanner.unescaped(range)), as: UTF8.self) }
        return String(
            decoding: UnsafeBufferPointer(start: scanner.text + range.lowerBound, count: range.count), as: UTF8.self)
    }

    private mutating func readScalar() -> Step {
        guard let end = scanner.endOfValue(from: at) else { return .failed }
        let text = String(decoding: UnsafeBufferPointer(start: scanner.text + at, count: end - at), as: UTF8.self)
        at = end
        switch text {
        case "null": return .value(.null)
        case "true": return .value(.bool(true))
        case "false": return .value(.bool(false))
        default: return .value(.number(JSONNumber(canonical: text)))
        }
    }
}
