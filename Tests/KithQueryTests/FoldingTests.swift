import Testing

@testable import KithQuery

/// Letters without their marks.
@Suite struct FoldingTests {
    /// Letters whose name is not that of the plain one and what it is with: the mark alone tells.
    private static let others = "ǾǿϓϔЁЃЇЌЎЙйёѓїќў"

    /// By the names that Unicode gives them, and its canonical equivalence.
    @Test func aLetterWithoutMarksIsThatOfItsName() {
        let others = Array(Self.others.unicodeScalars)
        #expect(DiacriticTable.plain.count > 700)
        for (letter, plain) in DiacriticTable.plain {
            guard others.contains(letter) else {
                let (name, base) = (letter.properties.name ?? "", plain.properties.name ?? "?")
                #expect(name.hasPrefix(base + " WITH "), "\(name): \(base)")
                continue
            }
            let marked = (UInt32(0x300)...0x36F).map { String(scalars: [plain, Unicode.Scalar($0)!]) }
            #expect(marked.contains(String(letter)), "\(letter)")
        }
    }

    @Test func foldingTakesWhatItIsToldTo() {
        let all = QueryCollation(ignoresCase: true, ignoresDiacritics: true)
        #expect(all.folded("ÀÉîõÜ ŵẤ Ёй ΆΣ") == "aeiou wa еи ασ")
        #expect(all.folded("A\u{301}\u{302}") == "a")
        #expect(QueryCollation(ignoresCase: true, ignoresDiacritics: false).folded("ÀΣİ") == "àσi\u{307}")
        #expect(QueryCollation(ignoresCase: false, ignoresDiacritics: true).folded("Àé") == "Ae")
        #expect(all.folded("漢字 ß が") == "漢字 ß が")
    }
}
