/// What is wrong with a JSON text, and at which byte: cheap to throw; line and column are counted when it is told.
struct JSONFault: Error {
    enum Reason: UInt8 {
        case tooLarge, byteOrderMark, notAnObject, truncated, unexpected, expectedKey, expectedColon, expectedCommaOrEnd
        case trailingText, tooDeep, leadingZero, expectedDigit, beyondDouble, controlCharacter, badUTF8, badEscape
        case loneSurrogate, duplicateKey, reservedName, notCanonical, expectedObject, expectedArray, moreMembers

        /// One sentence for people; it never has text of the document in it.
        func message(_ limits: JSONLimits) -> String {
            switch self {
            case .tooLarge: "the document is larger than \(min(limits.maximumBytes, JSONLimits.hardMaximumBytes)) bytes"
            case .byteOrderMark: "the text begins with a byte order mark; save it as UTF-8 without one"
            case .notAnObject: "the document is not a JSON object"
            case .truncated: "the text ends too early"
            case .unexpected: "expected a value"
            case .expectedKey: "expected a key in double quotes"
            case .expectedColon: "expected a colon after the key"
            case .expectedCommaOrEnd: "expected a comma or the closing bracket"
            case .trailingText: "there is text after the end of the value"
            case .tooDeep: "arrays and objects are nested deeper than \(limits.maximumDepth) levels"
            case .leadingZero: "a number must not begin with a zero before other digits"
            case .expectedDigit: "expected a digit"
            case .beyondDouble: "the number is beyond the range of a double"
            case .controlCharacter: "a control character in a string must be escaped"
            case .badUTF8: "the text is not valid UTF-8"
            case .badEscape: "unknown escape in a string"
            case .loneSurrogate: "a \\u escape is half of a surrogate pair"
            case .duplicateKey: "a key occurs twice in one object"
            case .reservedName: "top-level names that begin with _ are reserved"
            case .expectedObject: "expected an object"
            case .expectedArray: "expected an array of objects"
            case .moreMembers: "a list of documents is an object whose only member is an array of objects"
            case .notCanonical: "the text is valid JSON but not in canonical form"
            }
        }
    }

    let reason: Reason
    /// In bytes from 0.
    let offset: Int

    init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    /// The error for callers, with line and column in the text.
    func error(in text: UnsafeRawBufferPointer, limits: JSONLimits) -> DocumentError {
        let before = text.prefix(offset)
        let line = before.reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return .invalidJSON(reason.message(limits), line: line, column: offset - lineStart + 1, offset: offset)
    }
}
