extension JSONReader {
    /// Reads a string from its opening to behind its closing quote.
    /// - Returns: whether the text has escapes.
    @inline(__always)
    mutating func readString() throws(JSONFault) -> Bool {
        var at = position + 1
        while at + 8 <= end {
            let stop = EightBytes.endOfPlain(EightBytes.load(text + at))
            if stop == 0 {
                at += 8
                continue
            }
            at += stop.trailingZeroBitCount >> 3
            if text[at] == .quote {
                position = at + 1
                return false
            }
            break
        }
        return try readRestOfString(from: at)
    }

    /// The same from a place within the string, for all that is not plain.
    @inline(never)
    private mutating func readRestOfString(from start: Int) throws(JSONFault) -> Bool {
        var at = start
        var hasEscapes = false
        while at < end {
            let byte = text[at]
            if byte >= 0x80 {
                at = try afterCharacter(at)
            } else if byte == .quote {
                position = at + 1
                return hasEscapes
            } else if byte == .backslash {
                position = at
                try readEscape()
                at = position
                hasEscapes = true
            } else if byte < 0x20 {
                throw JSONFault(.controlCharacter, at: at)
            } else if at + 8 <= end {
                let stop = EightBytes.endOfPlain(EightBytes.load(text + at))
                at += stop == 0 ? 8 : stop.trailingZeroBitCount >> 3
            } else {
                at += 1
            }
        }
        throw JSONFault(.truncated, at: end)
    }

    /// Checks one character beyond ASCII against the well-formed sequences of the Unicode Standard (table 3-7): no
    /// overlong form, no surrogate, nothing above U+10FFFF.
    @inline(__always)
    private func afterCharacter(_ at: Int) throws(JSONFault) -> Int {
        let lead = text[at]
        switch lead {
        case 0xC2...0xDF:
            guard at + 1 < end, isContinuation(at + 1) else { throw brokenCharacter(at, length: 2) }
            return at + 2
        case 0xE0...0xEF:
            guard at + 2 < end, isContinuation(at + 1), isContinuation(at + 2) else {
                throw brokenCharacter(at, length: 3)
            }
            if (lead == 0xE0 && text[at + 1] < 0xA0) || (lead == 0xED && text[at + 1] > 0x9F) {
                throw JSONFault(.badUTF8, at: at)
            }
            return at + 3
        case 0xF0...0xF4:
            guard at + 3 < end, isContinuation(at + 1), isContinuation(at + 2), isContinuation(at + 3) else {
                throw brokenCharacter(at, length: 4)
            }
            if (lead == 0xF0 && text[at + 1] < 0x90) || (lead == 0xF4 && text[at + 1] > 0x8F) {
                throw JSONFault(.badUTF8, at: at)
            }
            return at + 4
        default:
            throw JSONFault(.badUTF8, at: at)
        }
    }

    @inline(__always)
    private func isContinuation(_ at: Int) -> Bool { text[at] & 0xC0 == 0x80 }

    private func brokenCharacter(_ at: Int, length: Int) -> JSONFault {
        var next = at + 1
        while next < min(end, at + length), isContinuation(next) { next += 1 }
        return next == end ? JSONFault(.truncated, at: end) : JSONFault(.badUTF8, at: at)
    }

    /// Reads one escape and puts its shortest form in its place.
    private mutating func readEscape() throws(JSONFault) {
        let start = position
        guard start + 1 < end else { throw JSONFault(.truncated, at: end) }
        switch text[start + 1] {
        case .quote, .backslash, UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"),
            UInt8(ascii: "t"):
            position += 2
        case UInt8(ascii: "/"):
            position += 2
            try leaveOut(from: start)
            append(UInt8(ascii: "/"))
        case UInt8(ascii: "u"):
            try readUnicodeEscape()
        default:
            throw JSONFault(.badEscape, at: start)
        }
    }

    private mutating func readUnicodeEscape() throws(JSONFault) {
        let start = position
        var code = try codeUnit(at: start)
        position += 6
        if code & 0xFC00 == 0xDC00 { throw JSONFault(.loneSurrogate, at: start) }
        if code & 0xFC00 == 0xD800 {
            guard position < end else { throw JSONFault(.truncated, at: end) }
            guard text[position] == .backslash else { throw JSONFault(.loneSurrogate, at: start) }
            guard position + 1 < end else { throw JSONFault(.truncated, at: end) }
            guard text[position + 1] == UInt8(ascii: "u") else { throw JSONFault(.loneSurrogate, at: start) }
            let low = try codeUnit(at: position)
            if low & 0xFC00 != 0xDC00 { throw JSONFault(.loneSurrogate, at: start) }
            code = 0x10000 + (code & 0x3FF) << 10 + low & 0x3FF
            position += 6
        }
        if isShortest(code, at: start) { return }
        try leaveOut(from: start)
        append(code)
    }

    /// The number in `\uXXXX`.
    private func codeUnit(at start: Int) throws(JSONFault) -> UInt32 {
        var code: UInt32 = 0
        for index in (start + 2)..<(start + 6) {
            guard index < end else { throw JSONFault(.truncated, at: end) }
            guard let digit = text[index].hexValue else { throw JSONFault(.badEscape, at: start) }
            code = code << 4 | digit
        }
        return code
    }

    /// Whether `\uXXXX` is the canonical form: of control characters without a short escape, in lower case.
    private func isShortest(_ code: UInt32, at start: Int) -> Bool {
        guard code < 0x20, UInt8.shortEscape(of: UInt8(code)) == nil else { return false }
        return text[start + 5] == .hexDigit(UInt8(code) & 15)
    }

    /// Appends the canonical text of a character that was written as an escape.
    private mutating func append(_ code: UInt32) {
        switch code {
        case 0..<0x80:
            output.appendJSONCharacter(UInt8(code))
        case 0x80..<0x800:
            output.append(UInt8(0xC0 | code >> 6))
            output.append(UInt8(0x80 | code & 0x3F))
        case 0x800..<0x10000:
            output.append(UInt8(0xE0 | code >> 12))
            output.append(UInt8(0x80 | code >> 6 & 0x3F))
            output.append(UInt8(0x80 | code & 0x3F))
        default:
            output.append(UInt8(0xF0 | code >> 18))
            output.append(UInt8(0x80 | code >> 12 & 0x3F))
            output.append(UInt8(0x80 | code >> 6 & 0x3F))
            output.append(UInt8(0x80 | code & 0x3F))
        }
        shift = output.count - position
    }

    private mutating func append(_ byte: UInt8) {
        output.append(byte)
        shift = output.count - position
    }
}

extension UInt8 {
    /// The letter of the two-character escape of a character that has one.
    static func shortEscape(of byte: UInt8) -> UInt8? {
        switch byte {
        case .quote, .backslash: byte
        case 0x08: UInt8(ascii: "b")
        case 0x09: UInt8(ascii: "t")
        case 0x0A: UInt8(ascii: "n")
        case 0x0C: UInt8(ascii: "f")
        case 0x0D: UInt8(ascii: "r")
        default: nil
        }
    }
}

extension [UInt8] {
    /// Appends one byte of a string in canonical escaping.
    mutating func appendJSONCharacter(_ byte: UInt8) {
        if let letter = UInt8.shortEscape(of: byte) {
            append(.backslash)
            append(letter)
        } else if byte < 0x20 {
            append(contentsOf: [.backslash, UInt8(ascii: "u"), .zero, .zero, .zero + byte >> 4, .hexDigit(byte & 15)])
        } else {
            append(byte)
        }
    }

    /// Appends a string of UTF-8 bytes in quotes and canonical escaping.
    mutating func appendJSONString(_ bytes: some Sequence<UInt8>) {
        append(.quote)
        for byte in bytes { appendJSONCharacter(byte) }
        append(.quote)
    }
}
