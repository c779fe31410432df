/// Splits a stream of JSON into single objects, for import: fed in chunks of any size, it holds no more than one object
/// and one chunk.
///
/// The stream is one of
/// - objects one after the other, as newline-delimited JSON has them (line breaks between them are not needed);
/// - an array of objects;
/// - an object whose only member is an array of objects, as lists are often published: `{"items": [{...}, {...}]}`.
///
/// A stream that is but one object of the last kind can't be told from one document before it ends; it is taken for a
/// list unless `Shape.documents` says otherwise. Only the outlines are looked at here: `Document.canonical` reads an
/// object, and its errors have their place in the whole stream.
///
///     splitter.feed(chunk)
///     while let document = try splitter.next() { ... }    // after each chunk, and once more after finish()
package struct JSONStreamSplitter: Sendable {
    package enum Shape: Sendable {
        case automatic, documents, array, wrappedArray
    }

    /// One object of the stream.
    package struct Document: Hashable, Sendable {
        package let bytes: [UInt8]
        /// The place of its first byte in the stream: line and column from 1 (column in bytes), the byte offset from 0.
        package let line: Int
        package let column: Int
        package let offset: Int

        /// The canonical bytes.
        /// - Throws: `DocumentError.invalidJSON` with the place in the stream.
        package func canonical(limits: JSONLimits = JSONLimits()) throws(DocumentError) -> [UInt8] {
            do throws(DocumentError) {
                return try CanonicalJSON.object(from: bytes, limits: limits)
            } catch {
                throw located(error)
            }
        }

        /// An error about these bytes with its place in the stream.
        package func located(_ error: DocumentError) -> DocumentError {
            guard case .invalidJSON(let reason, let errorLine, let errorColumn, let errorOffset) = error else {
                return error
            }
            return .invalidJSON(
                reason, line: line + errorLine - 1, column: errorLine == 1 ? column + errorColumn - 1 : errorColumn,
                offset: offset + errorOffset)
        }
    }

    /// What was read last, which says what may follow.
    private enum State {
        case start
        /// Within an object that is to be returned.
        case inDocument
        case afterDocument
        /// The first object is whole; what follows decides what it is.
        case held(Document)
        case beforeElement(isFirst: Bool)
        case afterElement
        /// Within `{"key": [` at each place of it, and behind the array.
        case wrapperStart, wrapperKey, wrapperKeyEscape, wrapperColon, wrapperBracket, wrapperEnd
        case end
    }

    private struct Place {
        var line = 1
        /// The offset of the first byte of the line.
        var lineStart = 0
        /// The offset in the stream.
        var offset = 0
    }

    private let limits: JSONLimits
    private var shape: Shape
    private var state = State.start
    private var isFinished = false
    private var failure: DocumentError?
    /// Whether the first object is longer than a document may be, and so must be a list.
    private var mustBeList = false

    private var buffer: [UInt8] = []
    /// The next byte to look at, in the buffer and in the stream.
    private var position = 0
    private var place = Place()

    /// Where the object that is read began, in the buffer and in the stream.
    private var start = 0
    private var startPlace = Place()
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    /// - Parameter limits: an object that is longer fails.
    package init(shape: Shape = .automatic, limits: JSONLimits = JSONLimits()) {
        self.shape = shape
        self.limits = limits
    }

    /// Takes the next bytes of the stream. Before it call `next` until it returns nil.
    package mutating func feed(_ chunk: UnsafeRawBufferPointer) {
        precondition(!isFinished, "the stream was said to be finished")
        let unneeded = if case .inDocument = state { start } else { position }
        if unneeded > 0 { buffer.removeSubrange(0..<unneeded) }
        position -= unneeded
        start = 0
        buffer.append(contentsOf: chunk)
    }

    package mutating func feed(_ chunk: some Sequence<UInt8>) {
        Array(chunk).withUnsafeBytes { feed($0) }
    }

    /// Says that the stream has ended.
    package mutating func finish() { isFinished = true }

    /// The next object; nil when more bytes are needed, or at the end.
    /// - Throws: `DocumentError.invalidJSON` where the stream has none of the forms, and from then on each time.
    package mutating func next() throws(DocumentError) -> Document? {
        if let failure { throw failure }
        do throws(DocumentError) {
            return try findNext()
        } catch {
            failure = error
            throw error
        }
    }

    private mutating func findNext() throws(DocumentError) -> Document? {
        while true {
            if position == buffer.count {
                guard isFinished else { return nil }
                guard case .held(let document) = state else {
                    if !mayEnd { throw error(.truncated, at: place) }
                    return nil
                }
                if readAgainAsList(document) { continue }
                state = .end
                return document
            }
            if case .inDocument = state {
                if try scanDocument(), let document = endDocument() { return document }
            } else if let document = try take(buffer[position]) {
                return document
            }
        }
    }

    private var mayEnd: Bool {
        switch state {
        case .start, .afterDocument, .end: true
        default: false
        }
    }

    /// Whether the only object of the stream is a list of objects; then it is read again as such.
    private mutating func readAgainAsList(_ document: Document) -> Bool {
        var trial = JSONStreamSplitter(shape: .wrappedArray, limits: limits)
        document.bytes.withUnsafeBytes { trial.feed($0) }
        trial.finish()
        do throws(DocumentError) {
            guard try trial.next() != nil else { return false }
            while try trial.next() != nil {}
        } catch {
            return false
        }
        (buffer, position) = (document.bytes, 0)
        place = Place(
            line: document.line, lineStart: document.offset - document.column + 1, offset: document.offset)
        (shape, state) = (.wrappedArray, .start)
        return true
    }

    private func error(_ reason: JSONFault.Reason, at place: Place) -> DocumentError {
        mustBeList
            ? Self.error(.tooLarge, at: startPlace, limits) : Self.error(reason, at: place, limits)
    }

    private static func error(_ reason: JSONFault.Reason, at place: Place, _ limits: JSONLimits) -> DocumentError {
        .invalidJSON(
            reason.message(limits), line: place.line, column: place.offset - place.lineStart + 1, offset: place.offset)
    }
}

// Between objects: one byte at a time.
extension JSONStreamSplitter {
    /// Takes one byte that is not within an object.
    /// - Returns: an object that was held until this byte.
    private mutating func take(_ byte: UInt8) throws(DocumentError) -> Document? {
        switch state {
        case .wrapperKey:
            if byte == .backslash { state = .wrapperKeyEscape }
            if byte == .quote { state = .wrapperColon }
            advance(byte)
            return nil
        case .wrapperKeyEscape:
            state = .wrapperKey
            advance(byte)
            return nil
        default:
            if !byte.isJSONSpace { return try takeToken(byte) }
            advance(byte)
            return nil
        }
    }

    private mutating func takeToken(_ byte: UInt8) throws(DocumentError) -> Document? {
        switch state {
        case .start:
            try begin(byte)
        case .held(let document):
            (shape, state) = (.documents, .afterDocument)
            return document
        case .afterDocument:
            try startDocument(byte)
        case .beforeElement(let isFirst):
            if isFirst && byte == .closeBracket { closeArray() } else { try startDocument(byte) }
        case .afterElement:
            if byte == .closeBracket {
                closeArray()
            } else {
                try take(byte, .comma, or: .expectedCommaOrEnd, then: .beforeElement(isFirst: false))
            }
        case .wrapperStart:
            try take(byte, .quote, or: .expectedKey, then: .wrapperKey)
        case .wrapperColon:
            try take(byte, .colon, or: .expectedColon, then: .wrapperBracket)
        case .wrapperBracket:
            try take(byte, .openBracket, or: .expectedArray, then: .beforeElement(isFirst: true))
        case .wrapperEnd:
            try take(byte, .closeBrace, or: .moreMembers, then: .end)
        case .end:
            throw error(.trailingText, at: place)
        case .inDocument, .wrapperKey, .wrapperKeyEscape:
            preconditionFailure("a byte within an object or a key is taken elsewhere")
        }
        return nil
    }

    private mutating func begin(_ byte: UInt8) throws(DocumentError) {
        if byte == 0xEF && place.offset == 0 { throw error(.byteOrderMark, at: place) }
        switch shape {
        case .automatic where byte == .openBracket:
            shape = .array
            try begin(byte)
        case .automatic, .documents:
            try startDocument(byte)
        case .array:
            try take(byte, .openBracket, or: .expectedArray, then: .beforeElement(isFirst: true))
        case .wrappedArray:
            try take(byte, .openBrace, or: .expectedObject, then: .wrapperStart)
        }
    }

    private mutating func take(
        _ byte: UInt8, _ expected: UInt8, or reason: JSONFault.Reason, then next: State
    ) throws(DocumentError) {
        guard byte == expected else { throw error(reason, at: place) }
        advance(byte)
        state = next
    }

    private mutating func closeArray() {
        advance(.closeBracket)
        state = if case .wrappedArray = shape { .wrapperEnd } else { .end }
    }

    private mutating func advance(_ byte: UInt8) {
        position += 1
        place.offset += 1
        if byte == 0x0A {
            place.line += 1
            place.lineStart = place.offset
        }
    }
}

// Within an object: only brackets and strings count.
extension JSONStreamSplitter {
    private mutating func startDocument(_ byte: UInt8) throws(DocumentError) {
        guard byte == .openBrace else { throw error(.expectedObject, at: place) }
        (start, startPlace) = (position, place)
        (depth, isInString, isEscaped) = (0, false, false)
        mustBeList = false
        state = .inDocument
    }

    /// - Returns: whether the object has ended; otherwise all bytes are read.
    private mutating func scanDocument() throws(DocumentError) -> Bool {
        let last = min(buffer.count, start + min(limits.maximumBytes, JSONLimits.hardMaximumBytes))
        var (at, depth, isInString, isEscaped) = (position, depth, isInString, isEscaped)
        var (line, lineStart) = (place.line, place.lineStart)
        let toStream = place.offset - position
        buffer.withUnsafeBufferPointer { bytes in
            while at < last {
                let byte = bytes[at]
                at += 1
                if byte == 0x0A {
                    line += 1
                    lineStart = at + toStream
                }
                if isEscaped {
                    isEscaped = false
                } else if isInString {
                    isEscaped = byte == .backslash
                    isInString = byte != .quote
                } else if byte == .quote {
                    isInString = true
                } else if byte == .openBrace || byte == .openBracket {
                    depth += 1
                } else if byte == .closeBrace || byte == .closeBracket {
                    depth -= 1
                    if depth == 0 { return }
                }
            }
        }
        (self.depth, self.isInString, self.isEscaped) = (depth, isInString, isEscaped)
        place = Place(line: line, lineStart: lineStart, offset: at + toStream)
        position = at
        if depth > 0 && at < buffer.count { try documentIsTooLarge() }
        return depth == 0
    }

    /// The first object may be a list of any length; it is read again as such.
    private mutating func documentIsTooLarge() throws(DocumentError) {
        guard case .automatic = shape else { throw error(.tooLarge, at: startPlace) }
        (position, place) = (start, startPlace)
        (shape, state) = (.wrappedArray, .start)
        mustBeList = true
    }

    /// - Returns: the object that has just ended, if it is known to be a document.
    private mutating func endDocument() -> Document? {
        let document = Document(
            bytes: Array(buffer[start..<position]), line: startPlace.line,
            column: startPlace.offset - startPlace.lineStart + 1, offset: startPlace.offset)
        switch shape {
        case .automatic:
            state = .held(document)
            return nil
        case .documents: state = .afterDocument
        case .array, .wrappedArray: state = .afterElement
        }
        return document
    }
}
