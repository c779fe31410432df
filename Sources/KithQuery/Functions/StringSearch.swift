// Strings by their code points: `String`'s own search takes NFC and NFD for one, and a letter with a mark for one.
extension String {
    /// The places in bytes where the part begins, one after the other without overlap.
    private func byteRanges(of part: String, atMost limit: Int) -> [Range<Int>] {
        let (text, pattern) = (Array(utf8), Array(part.utf8))
        guard !pattern.isEmpty, text.count >= pattern.count else { return [] }
        // Where to go on in the pattern after a difference, so that no byte of the text is looked at again.
        var fallback = [Int](repeating: 0, count: pattern.count)
        var length = 0
        for index in pattern.indices.dropFirst() {
            while length > 0, pattern[index] != pattern[length] { length = fallback[length - 1] }
            if pattern[index] == pattern[length] { length += 1 }
            fallback[index] = length
        }
        var ranges: [Range<Int>] = []
        var matched = 0
        for (index, byte) in text.enumerated() {
            if ranges.count >= limit { break }
            while matched > 0, byte != pattern[matched] { matched = fallback[matched - 1] }
            if byte == pattern[matched] { matched += 1 }
            if matched == pattern.count {
                ranges.append(index + 1 - matched..<index + 1)
                matched = 0
            }
        }
        return ranges
    }

    /// The place of the first code point of the part, from 0; an empty part is at the beginning.
    func place(of part: String) -> Int? {
        if part.isEmpty { return 0 }
        return byteRanges(of: part, atMost: 1).first.map { range in
            utf8.prefix(range.lowerBound).count { $0 & 0xC0 != 0x80 }
        }
    }

    func replacing(_ part: String, with other: String, atMost limit: Int) -> String {
        let text = Array(utf8)
        var replaced: [UInt8] = []
        var end = 0
        for range in byteRanges(of: part, atMost: limit) {
            replaced += text[end..<range.lowerBound]
            replaced += other.utf8
            end = range.upperBound
            // Too long already: whoever asked finds that.
            if replaced.count > QueryLimits.stringBytes { break }
        }
        return String(decoding: replaced + text[end...], as: UTF8.self)
    }

    func split(at separator: String) -> [String] {
        let text = Array(utf8)
        var (parts, end): ([String], Int) = ([], 0)
        for range in byteRanges(of: separator, atMost: .max) {
            parts.append(String(decoding: text[end..<range.lowerBound], as: UTF8.self))
            end = range.upperBound
        }
        return parts + [String(decoding: text[end...], as: UTF8.self)]
    }

    var capitalizedWords: String {
        var (words, isInWord) = ("", false)
        for character in self {
            let isLetter = character.isLetter || character.isNumber || (isInWord && character == "'")
            words += isLetter && !isInWord ? character.uppercased() : character.lowercased()
            isInWord = isLetter
        }
        return words
    }
}
