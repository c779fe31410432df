// How much room texts take on a terminal. Characters of Chinese, Japanese and Korean, and most pictures, take two cells.

extension Character {
    var cells: Int {
        guard let first = unicodeScalars.first, !isControl else { return 1 }
        return Self.wide.contains { $0.contains(first.value) } ? 2 : 1
    }

    /// Nothing that is drawn: it would give orders to the terminal.
    var isControl: Bool { unicodeScalars.contains { $0.properties.generalCategory == .control } }

    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF,
        0x20000...0x3FFFD,
    ]
}

extension StringProtocol {
    var cells: Int { reduce(0) { $0 + $1.cells } }

    /// Exactly so many cells: cut, or filled up with spaces.
    func fitted(to width: Int) -> String {
        var line = ""
        var room = width
        for character in self {
            guard character.cells <= room else { break }
            line.append(character.isControl ? "·" : character)
            room -= character.cells
        }
        return line + String(repeating: " ", count: Swift.max(0, room))
    }

    /// Lines of at most so many cells, broken anywhere; an empty text has one.
    func wrapped(to width: Int) -> [String] {
        var lines: [String] = []
        for paragraph in split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            var line = ""
            var room = width
            for character in paragraph {
                if character.cells > room, !line.isEmpty {
                    lines.append(line)
                    (line, room) = ("", width)
                }
                line.append(character)
                room -= character.cells
            }
            lines.append(line)
        }
        return lines
    }
}
