/// The characters of scripts that set no spaces between words: Chinese, Japanese and Korean.
///
/// A full-text index has pairs of them in the place of words (docs/query.md).
package enum WideScripts {
    /// The first byte in UTF-8 of the lowest of them: text with none above it has none.
    package static let firstByte: UInt8 = 0xE1

    package static func contains(_ scalar: UInt32) -> Bool {
        switch scalar {
        case ..<0x1100: false
        // Korean letters.
        case 0x1100...0x11FF, 0x3130...0x318F, 0xA960...0xA97F, 0xAC00...0xD7FF, 0xFFA0...0xFFDC: true
        // Marks that repeat, and numbers.
        case 0x3005...0x3007, 0x3021...0x3029, 0x3031...0x3035, 0x3038...0x303C: true
        // Hiragana, Katakana without the point between words, Bopomofo.
        case 0x3041...0x309F, 0x30A1...0x30FA, 0x30FC...0x312F, 0x31A0...0x31BF, 0x31F0...0x31FF, 0xFF66...0xFF9F:
            true
        // Chinese characters.
        case 0x2E80...0x2FD5, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0x1B000...0x1B16F, 0x20000...0x3FFFF:
            true
        default: false
        }
    }
}
