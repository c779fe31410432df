/// Text as a terminal shows it: in cells.
enum Display {
    /// The cells that a text takes: two for wide East Asian characters and emoji, none for marks that combine.
    static func cells(_ text: String) -> Int { text.reduce(0) { $0 + cells($1) } }

    private static func cells(_ character: Character) -> Int {
        var most = 0
        for scalar in character.unicodeScalars {
            // A text that asks for the emoji form gets two cells.
            if scalar.value == 0xFE0F { return 2 }
            most = max(most, cells(scalar))
        }
        return most
    }

    private static func cells(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return scalar.value < 32 || (0x7F...0x9F).contains(scalar.value) ? 0 : 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        if scalar.properties.isEmojiPresentation { return 2 }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
            0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
            0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }

    /// The text with spaces for control characters: what comes of others can't end a line or steer a terminal.
    static func clean(_ text: String) -> String {
        func isControl(_ scalar: Unicode.Scalar) -> Bool {
            scalar.value < 32 || (0x7F...0x9F).contains(scalar.value)
        }
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? " " : $0 }))
    }

    /// The text in at most so many cells; what is cut ends with `…`.
    static func cut(_ text: String, to width: Int) -> String {
        guard cells(text) > width else { return text }
        guard width > 0 else { return "" }
        var cut = ""
        var used = 0
        for character in text {
            let wide = cells(character)
            if used + wide > width - 1 { break }
            cut.append(character)
            used += wide
        }
        return cut + "…"
    }

    /// The text with spaces to fill so many cells.
    static func pad(_ text: String, to width: Int, atStart: Bool = false) -> String {
        let fill = String(repeating: " ", count: max(0, width - cells(text)))
        return atStart ? fill + text : text + fill
    }

    /// The words of a text in lines of at most so many cells. A word that is longer has a line of its own.
    static func wrap(_ text: String, to width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if line.isEmpty {
                line = String(word)
            } else if cells(line) + 1 + cells(String(word)) <= width {
                line += " \(word)"
            } else {
                lines.append(line)
                line = String(word)
            }
        }
        return lines + [line]
    }
}

/// Colour that a terminal may show; the words say the same without it.
enum Style {
    case plain, good, warning, bad, quiet

    /// The text in this style, or as it is where no colour is wanted.
    func apply(_ text: String, colour: Bool) -> String {
        guard colour, !text.isEmpty else { return text }
        switch self {
        case .plain: return text
        case .good: return "\u{1B}[32m\(text)\u{1B}[0m"
        case .warning: return "\u{1B}[33m\(text)\u{1B}[0m"
        case .bad: return "\u{1B}[31m\(text)\u{1B}[0m"
        case .quiet: return "\u{1B}[2m\(text)\u{1B}[0m"
        }
    }
}
