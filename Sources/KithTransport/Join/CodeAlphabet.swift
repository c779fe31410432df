/// The 32 characters of invite codes, and the check character over them.
///
/// The alphabet is Crockford's: no I, L, O, U. The check makes the sum of all characters, each times its power of a
/// primitive element of GF(32), zero. One wrong character changes the sum by a product of two non-zero elements, a swap of
/// two neighbours that differ by `(a - b)(p^i - p^(i+1))`; neither can be zero, so both are always found.
enum CodeAlphabet {
    static let characters = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    /// The value of a character as people type it; nil for none of the alphabet.
    static func value(of character: UInt8) -> UInt8? {
        let upper = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(character) ? character - 32 : character
        let meant =
            switch upper {
            case UInt8(ascii: "O"): UInt8(ascii: "0")
            case UInt8(ascii: "I"), UInt8(ascii: "L"): UInt8(ascii: "1")
            default: upper
            }
        return characters.firstIndex(of: meant).map { UInt8($0) }
    }

    /// The value that makes the sum of all zero when it stands last.
    static func check(_ values: some Sequence<UInt8>) -> UInt8 { values.reduce(0) { double($0) ^ $1 }.doubled }

    /// Whether the last value is the check of those before.
    static func holds(_ values: some Sequence<UInt8>) -> Bool { values.reduce(0) { double($0) ^ $1 } == 0 }

    /// Times the primitive element x of GF(2)[x] / (x^5 + x^2 + 1).
    fileprivate static func double(_ value: UInt8) -> UInt8 {
        let shifted = value << 1
        return shifted & 0b10_0000 == 0 ? shifted : shifted ^ 0b10_0101
    }
}

extension UInt8 {
    fileprivate var doubled: UInt8 { CodeAlphabet.double(self) }
}
