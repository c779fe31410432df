import KithTestSupport
import Testing

@testable import kith

@Suite struct DisplayTests {
    @Test(arguments: [
        ("", 0), ("abc", 3), ("äöü", 3), ("a\u{308}", 1), ("日本", 4), ("한글", 4), ("😀", 2), ("👨‍👩‍👧", 2), ("🇩🇪", 2), ("…", 1),
        ("é\u{200d}", 1), ("\u{7}", 0), ("Ａ", 2), ("❤️", 2),
    ]) func textsTakeTheirCells(text: String, cells: Int) { #expect(Display.cells(text) == cells) }

    @Test func cutTextsNeverTakeMoreThanTheirWidth() {
        var random = SeededGenerator(seed: 5)
        let alphabet: [Character] = ["a", "日", "😀", "ä", "e\u{301}", " "]
        for _ in 0..<2_000 {
            let text = String((0..<random.below(20)).map { _ in random.pick(alphabet) })
            let width = random.below(16)
            let cut = Display.cut(text, to: width)
            #expect(Display.cells(cut) <= width, "seed 5")
            if Display.cells(text) <= width { #expect(cut == text, "seed 5") }
            let padded = Display.pad(cut, to: width)
            #expect(Display.cells(padded) == width, "seed 5")
        }
    }

    @Test func wordsAreWrapped() {
        #expect(Display.wrap("one two three", to: 7) == ["one two", "three"])
        #expect(Display.wrap("a-very-long-word b", to: 5) == ["a-very-long-word", "b"])
        #expect(Display.wrap("", to: 5) == [""])
    }

    @Test(
        arguments: [
            (0, "0"), (999, "999"), (1_000, "1,000"), (91_877, "91,877"), (UInt64.max, "18,446,744,073,709,551,615"),
        ] as [(UInt64, String)]) func countsHaveCommas(number: UInt64, text: String)
    { #expect(Wording.count(number) == text) }

    @Test(
        arguments: [
            (0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (1_250, "1.3 kB"), (9_949, "9.9 kB"), (9_960, "10 kB"),
            (212_400_000, "212 MB"),
            (999_600, "1.0 MB"), (UInt64.max, "18 EB"),
        ] as [(UInt64, String)]) func sizesAreInSIUnits(bytes: UInt64, text: String)
    { #expect(Wording.size(bytes) == text) }

    @Test(
        arguments: [
            (0, "0s"), (-5, "0s"), (12_000, "12s"), (125_000, "2m 5s"), (120_000, "2m"), (3_600_000, "1h"),
            (273_600_000, "3d 4h"),
            (86_401_000, "1d"),
        ] as [(Int64, String)]) func durationsHaveTwoUnits(milliseconds: Int64, text: String)
    {
        #expect(Wording.duration(milliseconds: milliseconds) == text)
    }

    @Test func whatIsNotKnownIsAQuestionMark() {
        #expect(Wording.count(nil) == "?" && Wording.size(nil) == "?")
        #expect(Wording.age(milliseconds: nil) == "-" && Wording.milliseconds(nil) == "-")
        #expect(Wording.age(milliseconds: 125_000) == "2m ago")
        #expect(Wording.milliseconds(0.04) == "0.1 ms" && Wording.milliseconds(0.52) == "0.5 ms")
        #expect(Wording.milliseconds(12.6) == "13 ms" && Wording.milliseconds(.nan) == "-")
    }

    @Test func aBarFitsItsLine() {
        for width in [10, 20, 40, 80, 200] {
            for done in [0, 1, 50, 100, 200] {
                #expect(Display.cells(ProgressBar.text("import languages", done, 100, width: width)) < width)
            }
        }
        #expect(
            ProgressBar.text("import a", 500, 1_000, width: 80)
                == "import a  [###############---------------]  500 B of 1.0 kB")
        #expect(ProgressBar.text("import a", 1_500, nil, width: 80) == "import a  1.5 kB")
    }

    @Test func colourIsAddedAroundTheWordsAlone() {
        var table = TextTable([.init(title: "A"), .init(title: "B", alignsRight: true)])
        table.add([.init(text: "x", style: .bad), .init(text: "1")])
        #expect(table.lines(width: nil, colour: false) == ["A  B", "x  1"])
        #expect(table.lines(width: nil, colour: true)[1] == "\u{1B}[31mx\u{1B}[0m  1")
    }
}
