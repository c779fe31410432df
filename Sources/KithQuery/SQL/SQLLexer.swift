import KithDocument

/// Takes the text of a query apart.
struct SQLLexer {
    let text: [UInt8]
    private var position = 0
    /// Line and column of the byte `counted`.
    private var (line, column, counted) = (1, 1, 0)

    init(_ text: [UInt8]) { self.text = text }

    /// All tokens, the last one being the end.
    static func tokens(of text: [UInt8]) throws(QueryError) -> [SQLToken] {
        guard text.count <= QueryLimits.textBytes else {
            throw .text(
                "a query has \(QueryLimits.textBytes) bytes at most, this one has \(text.count): pass large values as parameters",
                line: 1, column: 1)
        }
        guard String(validating: text, as: UTF8.self) != nil else {
            throw .text("the query is not valid UTF-8", line: 1, column: 1)
        }
        var lexer = SQLLexer(text)
        var tokens: [SQLToken] = []
        while true {
            let token = try lexer.next()
            tokens.append(token)
            if token.kind == .end { return tokens }
        }
    }

    /// Where a byte is that is not before the last one asked for.
    private mutating func place(of offset: Int) -> SourcePosition {
        for byte in text[counted..<offset] {
            if byte == 0x0A {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        counted = offset
        return SourcePosition(line: line, column: column)
    }

    /// - Parameter offset: within the token that is read.
    private mutating func fault(_ message: String, at offset: Int) -> QueryError { .at(place(of: offset), message) }

    private func byte(_ ahead: Int = 0) -> UInt8? {
        position + ahead < text.count ? text[position + ahead] : nil
    }

    private mutating func next() throws(QueryError) -> SQLToken {
        try skipSpace()
        let start = position
        let kind = try readKind()
        return SQLToken(kind: kind, start: start, end: position, position: place(of: start))
    }

    private mutating func readKind() throws(QueryError) -> SQLToken.Kind {
        guard let first = byte() else { return .end }
        switch first {
        case UInt8(ascii: "'"), UInt8(ascii: "\""):
            return .string(try readQuoted("string"))
        case UInt8(ascii: "`"):
            return .quotedName(try readQuoted("name"))
        case UInt8(ascii: "$"):
            return .parameter(try readParameter())
        case UInt8(ascii: "?"):
            position += 1
            return .nextParameter
        case _ where first.isDecimalDigit || (first == UInt8(ascii: ".") && byte(1)?.isDecimalDigit == true):
            return .number(try readNumber())
        case _ where first.isNameStart:
            let word = readWord()
            // No character beyond ASCII is a letter of a keyword, whatever its upper case is.
            return .word(word, upper: word.utf8.allSatisfy { $0 < 0x80 } ? word.uppercased() : word)
        default:
            return .symbol(try readSymbol())
        }
    }

    private mutating func skipSpace() throws(QueryError) {
        while let next = byte() {
            if next == 0x20 || (0x09...0x0D).contains(next) {
                position += 1
            } else if next == UInt8(ascii: "-"), byte(1) == UInt8(ascii: "-") {
                while let next = byte(), next != 0x0A { position += 1 }
            } else if next == UInt8(ascii: "/"), byte(1) == UInt8(ascii: "*") {
                try skipComment()
            } else {
                return
            }
        }
    }

    private mutating func skipComment() throws(QueryError) {
        let start = position
        position += 2
        while let next = byte() {
            if next == UInt8(ascii: "*"), byte(1) == UInt8(ascii: "/") {
                position += 2
                return
            }
            position += 1
        }
        throw fault("the comment that begins here has no end: expected */", at: start)
    }

    /// Text between quotes, which stand twice for one.
    private mutating func readQuoted(_ what: String) throws(QueryError) -> String {
        let (start, quote) = (position, text[position])
        var content: [UInt8] = []
        position += 1
        while let next = byte() {
            position += 1
            if next != quote {
                content.append(next)
            } else if byte() == quote {
                content.append(quote)
                position += 1
            } else {
                return String(decoding: content, as: UTF8.self)
            }
        }
        throw fault(
            "the \(what) that begins here has no end: expected \(Character(Unicode.Scalar(quote)))", at: start)
    }

    private mutating func readWord() -> String {
        let start = position
        while let next = byte(), next.isNamePart { position += 1 }
        return String(decoding: text[start..<position], as: UTF8.self)
    }

    private mutating func readParameter() throws(QueryError) -> QueryParameter {
        let start = position
        position += 1
        let word = readWord()
        if word.isEmpty { throw fault("expected the name or number of a parameter after $", at: start) }
        guard word.utf8.allSatisfy(\.isDecimalDigit) else {
            if word.utf8.first!.isDecimalDigit {
                throw fault("the name of a parameter begins with a letter", at: start)
            }
            return .named(word)
        }
        guard let number = Int(word), (1...QueryLimits.expressions).contains(number) else {
            throw fault("parameters are numbered from 1 to \(QueryLimits.expressions)", at: start)
        }
        return .positional(number)
    }

    /// Digits with a point and an exponent. The number is what canonical JSON makes of it.
    private mutating func readNumber() throws(QueryError) -> JSONNumber {
        let start = position
        var digits: [UInt8] = []
        skipDigits(into: &digits)
        if digits.isEmpty { digits.append(0x30) }
        // JSON has no zeros before other digits.
        digits = Array(digits.drop { $0 == 0x30 })
        if digits.isEmpty { digits.append(0x30) }
        if byte() == UInt8(ascii: "."), byte(1)?.isDecimalDigit == true {
            digits.append(UInt8(ascii: "."))
            position += 1
            skipDigits(into: &digits)
        }
        if let mark = byte(), mark | 0x20 == UInt8(ascii: "e") {
            let isSigned = byte(1) == UInt8(ascii: "+") || byte(1) == UInt8(ascii: "-")
            if byte(isSigned ? 2 : 1)?.isDecimalDigit == true {
                digits.append(contentsOf: text[position..<position + (isSigned ? 2 : 1)])
                position += isSigned ? 2 : 1
                skipDigits(into: &digits)
            }
        }
        if let next = byte(), next.isNamePart {
            throw fault(
                "a number is followed by a letter: names that begin with a digit stand between backquotes", at: start)
        }
        guard let value = try? JSONValue(parsing: digits), let number = value.number else {
            throw fault("the number is beyond the range of a double", at: start)
        }
        return number
    }

    private mutating func skipDigits(into digits: inout [UInt8]) {
        while let next = byte(), next.isDecimalDigit {
            digits.append(next)
            position += 1
        }
    }

    private mutating func readSymbol() throws(QueryError) -> SQLSymbol {
        for symbol in SQLSymbol.allCases where text[position...].starts(with: symbol.rawValue.utf8) {
            position += symbol.rawValue.utf8.count
            return symbol
        }
        let rest = String(decoding: text[position...].prefix(8), as: UTF8.self)
        let character = rest.unicodeScalars.first.map { $0.value < 0x20 ? "a control character" : "\($0)" } ?? ""
        throw fault("\(character) means nothing here", at: position)
    }
}
