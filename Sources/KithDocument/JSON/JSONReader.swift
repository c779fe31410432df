/// Reads JSON text once and makes its canonical form.
///
/// The canonical form is mostly the text itself, so the reader copies nothing until it meets a difference: `pending` is
/// where the part begins that stands in the result unchanged. At a difference this part is appended to `output` and the
/// replacement after it. `shift` is what to add to a place in the text to get its place in the result.
///
/// Members in the wrong order are not moved while reading, since an object within an object within an object would be
/// moved each time. The reader notes where the members of such an object stand, sorted, and the result is put together
/// once at the end (JSONReader+Order.swift).
///
/// Nesting is a stack of its own, not recursion: outside text decides how deep it goes.
struct JSONReader: ~Copyable {
    /// An array or object that is not closed yet.
    struct Container {
        let isObject: Bool
        /// Whether some member does not come after the one before it.
        var isUnordered: Bool
        /// The index in `members` of its first member.
        let firstMember: Int32
        /// Where it begins in the result.
        let start: UInt32
    }

    /// A member of an object: its key in the text without the quotes, and where the whole stands in the result.
    struct Member {
        let keyStart: UInt32
        let keyEnd: UInt32
        let keyIsEscaped: Bool
        let start: UInt32
        var end: UInt32
    }

    /// An object of the result whose members must change places.
    struct Unordered {
        let start: UInt32
        let end: UInt32
        /// Its members in `sorted`.
        let firstMember: Int32
        let memberCount: Int32
    }

    let text: UnsafePointer<UInt8>
    let end: Int
    let limits: JSONLimits
    /// Whether the first difference from canonical form is an error.
    let checksOnly: Bool

    var position = 0
    var pending = 0
    var shift = 0
    var output: [UInt8] = []

    var containers: ScratchStack<Container>
    var members: ScratchStack<Member>
    var sorted: ScratchStack<Member>
    var unordered: ScratchStack<Unordered>

    /// Elements lent on the machine's stack to each of `containers` and `members`: enough for most documents.
    static let lentElements = 24

    /// Reads the whole text, which must be one value with space around it at most.
    mutating func read(requiringObject: Bool) throws(JSONFault) {
        try checkSizeAndStart()
        try skipSpace()
        guard position < end else { throw JSONFault(.truncated, at: end) }
        if requiringObject && text[position] != .openBrace { throw JSONFault(.notAnObject, at: position) }
        repeat {
            let opened = try readValueStart()
            if opened { continue }
            while try !readAfterValue() {
                if containers.isEmpty { return try finishText() }
            }
        } while true
    }

    private func checkSizeAndStart() throws(JSONFault) {
        if end > min(limits.maximumBytes, JSONLimits.hardMaximumBytes) {
            throw JSONFault(.tooLarge, at: min(limits.maximumBytes, JSONLimits.hardMaximumBytes))
        }
        if end >= 3, text[0] == 0xEF, text[1] == 0xBB, text[2] == 0xBF { throw JSONFault(.byteOrderMark, at: 0) }
    }

    private mutating func finishText() throws(JSONFault) {
        let valueEnd = position
        while position < end, text[position].isJSONSpace { position += 1 }
        if position < end { throw JSONFault(.trailingText, at: position) }
        if valueEnd + shift > limits.maximumBytes { throw JSONFault(.tooLarge, at: valueEnd) }
        if checksOnly && position != valueEnd { throw JSONFault(.notCanonical, at: valueEnd) }
        position = valueEnd
    }

    /// Reads a scalar or an empty container whole, or opens a container up to its first value.
    /// - Returns: whether a value is to be read next.
    @inline(__always)
    private mutating func readValueStart() throws(JSONFault) -> Bool {
        guard position < end else { throw JSONFault(.truncated, at: end) }
        switch text[position] {
        case .quote:
            _ = try readString()
            return false
        case .openBrace:
            return try open(isObject: true)
        case .openBracket:
            return try open(isObject: false)
        case UInt8(ascii: "t"):
            try readWord("true")
            return false
        case UInt8(ascii: "f"):
            try readWord("false")
            return false
        case UInt8(ascii: "n"):
            try readWord("null")
            return false
        case .minus, .zero...(.zero + 9):
            try readNumber()
            return false
        default:
            throw JSONFault(.unexpected, at: position)
        }
    }

    /// Reads what follows a value: a comma (and the next key), or the end of its container.
    /// - Returns: true when a value is to be read next, false when a container was closed or there is none.
    @inline(__always)
    private mutating func readAfterValue() throws(JSONFault) -> Bool {
        if containers.isEmpty { return false }
        try skipSpace()
        guard position < end else { throw JSONFault(.truncated, at: end) }
        let isObject = containers[containers.count - 1].isObject
        switch text[position] {
        case .comma:
            position += 1
            try skipSpace()
            if isObject { try readKey() }
            return true
        case .closeBrace where isObject, .closeBracket where !isObject:
            position += 1
            try close()
            return false
        default:
            throw JSONFault(.expectedCommaOrEnd, at: position)
        }
    }

    private mutating func open(isObject: Bool) throws(JSONFault) -> Bool {
        if containers.count >= limits.maximumDepth { throw JSONFault(.tooDeep, at: position) }
        let start = UInt32(truncatingIfNeeded: position + shift)
        position += 1
        try skipSpace()
        guard position < end else { throw JSONFault(.truncated, at: end) }
        if text[position] == (isObject ? .closeBrace : .closeBracket) {
            position += 1
            return false
        }
        containers.push(
            Container(
                isObject: isObject, isUnordered: false, firstMember: Int32(truncatingIfNeeded: members.count),
                start: start))
        if isObject { try readKey() }
        return true
    }

    private mutating func close() throws(JSONFault) {
        let container = containers.pop()
        guard container.isObject else { return }
        let first = Int(container.firstMember)
        if container.isUnordered {
            try sortMembers(from: first, start: container.start, end: UInt32(truncatingIfNeeded: position + shift))
        }
        members.removeLast(to: first)
    }

    /// Reads a key, the colon after it and the space around this; notes the member.
    private mutating func readKey() throws(JSONFault) {
        guard position < end else { throw JSONFault(.truncated, at: end) }
        guard text[position] == .quote else { throw JSONFault(.expectedKey, at: position) }
        let keyStart = position + 1
        let start = UInt32(truncatingIfNeeded: position + shift)
        let isEscaped = try readString()
        let member = Member(
            keyStart: UInt32(truncatingIfNeeded: keyStart), keyEnd: UInt32(truncatingIfNeeded: position - 1),
            keyIsEscaped: isEscaped, start: start, end: 0)
        try note(member)
        try skipSpace()
        guard position < end else { throw JSONFault(.truncated, at: end) }
        guard text[position] == .colon else { throw JSONFault(.expectedColon, at: position) }
        position += 1
        try skipSpace()
    }

    private mutating func readWord(_ word: StaticString) throws(JSONFault) {
        for index in 0..<word.utf8CodeUnitCount {
            guard position + index < end else { throw JSONFault(.truncated, at: end) }
            if text[position + index] != word.utf8Start[index] { throw JSONFault(.unexpected, at: position) }
        }
        position += word.utf8CodeUnitCount
    }

    @inline(__always)
    private mutating func skipSpace() throws(JSONFault) {
        if position < end, text[position] <= 0x20 { try leaveOutSpace() }
    }

    @inline(never)
    private mutating func leaveOutSpace() throws(JSONFault) {
        let start = position
        while position < end, text[position].isJSONSpace { position += 1 }
        if position > start { try leaveOut(from: start) }
    }

    /// What was read since `start` does not stand in the result.
    mutating func leaveOut(from start: Int) throws(JSONFault) {
        if checksOnly { throw JSONFault(.notCanonical, at: start) }
        if start > pending {
            // The canonical form is seldom longer than the text; where it is, the array grows.
            if output.isEmpty { output.reserveCapacity(end - pending) }
            output.append(contentsOf: UnsafeBufferPointer(start: text + pending, count: start - pending))
            if output.count > limits.maximumBytes { throw JSONFault(.tooLarge, at: start) }
        }
        pending = position
        shift = output.count - position
    }
}
