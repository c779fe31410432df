/// A key of the terminal.
public enum Key: Hashable, Sendable {
    case text(Character)
    case control(Character)
    case enter, escape, backspace, delete
    case up, down, left, right, home, end
}

/// Makes keys of the bytes that a terminal sends, however they are cut into pieces. An escape at the end of a piece is the key
/// itself: terminals send their sequences whole.
public struct KeyDecoder: Sendable {
    /// The beginning of something whose end has not come.
    private var rest: [UInt8] = []

    /// At the beginning of what a terminal sends.
    public init() {}

    /// The keys that are complete with these bytes. What is no key is passed over.
    public mutating func keys(of bytes: some Sequence<UInt8>) -> [Key] {
        rest += bytes
        var keys: [Key] = []
        var place = rest.startIndex
        while place < rest.endIndex, let length = length(at: place) {
            if let key = Self.key(rest[place..<place + length]) { keys.append(key) }
            place += length
        }
        rest.removeSubrange(..<place)
        return keys
    }

    /// How many bytes belong together; nil where some are still to come.
    private func length(at place: Int) -> Int? {
        let left = rest.count - place
        switch rest[place] {
        case 0x1B where left > 1 && (rest[place + 1] == UInt8(ascii: "[") || rest[place + 1] == UInt8(ascii: "O")):
            let end = rest[(place + 2)...].firstIndex { (0x40...0x7E).contains($0) }
            return end.map { $0 - place + 1 }
        case 0xC2...0xDF: return left >= 2 ? 2 : nil
        case 0xE0...0xEF: return left >= 3 ? 3 : nil
        case 0xF0...0xF4: return left >= 4 ? 4 : nil
        default: return 1
        }
    }

    private static func key(_ bytes: ArraySlice<UInt8>) -> Key? {
        let first = bytes[bytes.startIndex]
        switch first {
        case 0x1B: return bytes.count == 1 ? .escape : sequences[String(decoding: bytes.dropFirst(2), as: UTF8.self)]
        case 0x0A, 0x0D: return .enter
        case 0x08, 0x7F: return .backspace
        case 0x09: return .text(" ")
        case 1..<0x1B: return .control(Character(UnicodeScalar(first + 0x60)))
        case 0..<0x20: return nil
        default: return String(validating: bytes, as: UTF8.self)?.first.map { .text($0) }
        }
    }

    private static let sequences: [String: Key] = [
        "A": .up, "B": .down, "C": .right, "D": .left, "H": .home, "F": .end, "1~": .home, "4~": .end, "3~": .delete,
    ]
}
