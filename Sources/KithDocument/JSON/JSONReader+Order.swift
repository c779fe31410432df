extension JSONReader {
    /// Notes a member whose key was just read.
    @inline(__always)
    mutating func note(_ member: Member) throws(JSONFault) {
        let index = containers.count - 1
        var container = containers[index]
        if index == 0 && !limits.allowsReservedNames && beginsWithUnderscore(member) && !isExpiry(member) {
            throw JSONFault(.reservedName, at: Int(member.keyStart) - 1)
        }
        if !container.isUnordered, members.count > Int(container.firstMember),
            Self.compare(members[members.count - 1], member, in: text) >= 0
        {
            if checksOnly { try checkDuplicate(member, container) }
            container.isUnordered = true
            containers[index] = container
        }
        members.push(member)
    }

    /// A check ends at the first difference; that a key is there twice is the better reason of the two.
    private func checkDuplicate(_ member: Member, _ container: Container) throws(JSONFault) {
        for index in Int(container.firstMember)..<members.count
        where Self.compare(members[index], member, in: text) == 0 {
            throw JSONFault(.duplicateKey, at: Int(member.keyStart) - 1)
        }
        throw JSONFault(.notCanonical, at: Int(member.keyStart) - 1)
    }

    private func beginsWithUnderscore(_ member: Member) -> Bool {
        if !member.keyIsEscaped { return text[Int(member.keyStart)] == UInt8(ascii: "_") }
        return UnescapedBytes(text: text, member: member).first { _ in true } == UInt8(ascii: "_")
    }

    /// The one reserved name that a document may have.
    private func isExpiry(_ member: Member) -> Bool {
        UnescapedBytes(text: text, member: member).elementsEqual(Expiry.key.utf8)
    }

    /// Sorts the members of an object that is just closed, looks for keys that are there twice, and keeps the order for
    /// the end.
    mutating func sortMembers(from first: Int, start: UInt32, end: UInt32) throws(JSONFault) {
        let text = text
        let duplicate: Member? = members.withElements(from: first) { members in
            for index in 1..<members.count { members[index - 1].end = members[index].start - 1 }
            members[members.count - 1].end = end - 1
            members.sort { one, other in
                let order = Self.compare(one, other, in: text)
                return order != 0 ? order < 0 : one.keyStart < other.keyStart
            }
            for index in 1..<members.count where Self.compare(members[index - 1], members[index], in: text) == 0 {
                return members[index]
            }
            return nil
        }
        if let duplicate { throw JSONFault(.duplicateKey, at: Int(duplicate.keyStart) - 1) }
        unordered.push(
            Unordered(
                start: start, end: end, firstMember: Int32(truncatingIfNeeded: sorted.count),
                memberCount: Int32(truncatingIfNeeded: members.count - first)))
        for index in first..<members.count { sorted.push(members[index]) }
    }

    /// Byte order of two unescaped keys: below 0, 0, above 0.
    @inline(__always)
    static func compare(_ one: Member, _ other: Member, in text: UnsafePointer<UInt8>) -> Int {
        if one.keyIsEscaped || other.keyIsEscaped { return compareEscaped(one, other, in: text) }
        let (left, right) = (text + Int(one.keyStart), text + Int(other.keyStart))
        let (leftCount, rightCount) = (Int(one.keyEnd - one.keyStart), Int(other.keyEnd - other.keyStart))
        let shared = min(leftCount, rightCount)
        var index = 0
        while index < shared {
            if left[index] != right[index] { return Int(left[index]) - Int(right[index]) }
            index += 1
        }
        return leftCount - rightCount
    }

    @inline(never)
    private static func compareEscaped(_ one: Member, _ other: Member, in text: UnsafePointer<UInt8>) -> Int {
        var left = UnescapedBytes(text: text, member: one)
        var right = UnescapedBytes(text: text, member: other)
        while true {
            switch (left.next(), right.next()) {
            case (nil, nil): return 0
            case (nil, _): return -1
            case (_, nil): return 1
            case (let mine?, let its?): if mine != its { return Int(mine) - Int(its) }
            }
        }
    }

    /// The canonical form, once the text is read.
    mutating func result() -> [UInt8] {
        if unordered.isEmpty && output.isEmpty {
            return Array(UnsafeBufferPointer(start: text + pending, count: position - pending))
        }
        if !output.isEmpty {
            output.append(contentsOf: UnsafeBufferPointer(start: text + pending, count: position - pending))
        }
        if unordered.isEmpty { return output }
        if output.isEmpty { return ordered(text + pending, count: position - pending) }
        let unsorted = output
        return unsorted.withUnsafeBufferPointer { ordered($0.baseAddress!, count: $0.count) }
    }

    /// Copies a result with the members of its unordered objects in their places.
    private mutating func ordered(_ source: UnsafePointer<UInt8>, count: Int) -> [UInt8] {
        unordered.withElements(from: 0) { $0.sort { $0.start < $1.start } }
        var work = ScratchStack<Piece>()
        work.push(Piece(start: 0, end: UInt32(count), before: nil))
        return Array(unsafeUninitializedCapacity: count) { target, written in
            while !work.isEmpty {
                let piece = work.pop()
                if let before = piece.before {
                    target[written] = before
                    written += 1
                }
                let next = firstUnordered(notBefore: piece.start)
                let object = next < unordered.count && unordered[next].start < piece.end ? unordered[next] : nil
                let length = Int(object?.start ?? piece.end) - Int(piece.start)
                (target.baseAddress! + written).update(from: source + Int(piece.start), count: length)
                written += length
                guard let object else { continue }
                work.push(Piece(start: object.end - 1, end: piece.end, before: nil))
                for index in stride(from: Int(object.memberCount) - 1, through: 0, by: -1) {
                    let member = sorted[Int(object.firstMember) + index]
                    work.push(Piece(start: member.start, end: member.end, before: index == 0 ? .openBrace : .comma))
                }
            }
        }
    }

    /// A part of the unsorted result to copy, and a byte to write before it.
    private struct Piece {
        let start: UInt32
        let end: UInt32
        let before: UInt8?
    }

    private func firstUnordered(notBefore start: UInt32) -> Int {
        var (low, high) = (0, unordered.count)
        while low < high {
            let middle = (low + high) / 2
            if unordered[middle].start < start { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The UTF-8 bytes that the inside of a JSON string stands for. The text must have been read as valid before.
struct UnescapedBytes: Sequence, IteratorProtocol {
    private let text: UnsafePointer<UInt8>
    private var position: Int
    private let end: Int
    /// Bytes of a character beyond ASCII that was escaped, the next one lowest.
    private var rest: UInt32 = 0

    /// - Parameter range: what stands between the quotes.
    init(text: UnsafePointer<UInt8>, range: Range<Int>) {
        self.text = text
        position = range.lowerBound
        end = range.upperBound
    }

    fileprivate init(text: UnsafePointer<UInt8>, member: JSONReader.Member) {
        self.init(text: text, range: Int(member.keyStart)..<Int(member.keyEnd))
    }

    mutating func next() -> UInt8? {
        if rest != 0 {
            defer { rest >>= 8 }
            return UInt8(truncatingIfNeeded: rest)
        }
        guard position < end else { return nil }
        let byte = text[position]
        position += 1
        guard byte == .backslash, position < end else { return byte }
        let letter = text[position]
        position += 1
        switch letter {
        case UInt8(ascii: "b"): return 0x08
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "n"): return 0x0A
        case UInt8(ascii: "f"): return 0x0C
        case UInt8(ascii: "r"): return 0x0D
        case UInt8(ascii: "u"): return nextOfUnicodeEscape()
        default: return letter
        }
    }

    private mutating func nextOfUnicodeEscape() -> UInt8? {
        var code = codeUnit()
        if code & 0xFC00 == 0xD800 {
            position += 2
            code = 0x10000 + (code & 0x3FF) << 10 + codeUnit() & 0x3FF
        }
        guard code >= 0x80 else { return UInt8(code) }
        // All bytes of the character, the first one lowest; none of them is 0.
        var bytes: UInt32 = 0
        var left = code
        var firstMark: UInt32 = 0xC0
        var limit: UInt32 = 0x20
        repeat {
            bytes = bytes << 8 | (0x80 | left & 0x3F)
            left >>= 6
            if left >= limit {
                firstMark = (firstMark >> 1) | 0x80
                limit >>= 1
            } else {
                break
            }
        } while true
        rest = bytes
        return UInt8(firstMark | left)
    }

    private mutating func codeUnit() -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 where position < end {
            code = code << 4 | (text[position].hexValue ?? 0)
            position += 1
        }
        return code
    }
}
