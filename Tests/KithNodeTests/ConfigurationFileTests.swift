import KithNode
import KithTestSupport
import Testing

/// What a configuration file says, and what is said of a wrong one.
@Suite struct ConfigurationFileTests {
    private func parse(_ text: String) -> ConfigurationFile { .parse(Array(text.utf8), name: "f") }

    private func complaints(_ bytes: [UInt8]) -> [String] {
        ConfigurationFile.parse(bytes, name: "f").problems.map(\.text)
    }

    @Test func keysCommentsAndBlanksAreRead() {
        let file = parse(
            "# of den\n\n  data=/d e/f\nlisten = [::]:1\n\tpeer =  a:1 \npeer = b\n   # more\nlog = mesh=debug")
        #expect(file.problems == [])
        #expect(file.entries.map(\.key) == [.data, .listen, .peer, .peer, .log])
        #expect(file.entries.map(\.value) == ["/d e/f", "[::]:1", "a:1", "b", "mesh=debug"])
        #expect(file.entries.map(\.line) == [3, 4, 5, 6, 8])
    }

    @Test func anEmptyFileSaysNothing() {
        for text in ["", "\n", "\n\n", "# only a comment", "   \t "] { #expect(parse(text) == parse("")) }
    }

    @Test func eachProblemIsNamedWithItsLineAndTheOtherLinesHold() {
        let file = parse(
            """
            lisen = [::]:1
            listen = nowhere:99999
            discovery = yes
            data = relative
            peer
            [section]
            log = loud
            peer =
            peer = a # the attic
            listen = [::]:7
            listen = [::]:8
            """)
        #expect(file.entries.map(\.value) == ["[::]:7"])
        let texts = file.problems.map(\.text)
        #expect(texts.count == 10)
        #expect(texts[0] == "f:1: unknown key lisen; did you mean listen?")
        #expect(texts[1].hasPrefix("f:2: listen: "))
        #expect(texts[2] == "f:3: discovery: yes is neither on nor off")
        #expect(texts[3] == "f:4: data: relative is no absolute path; it begins with /")
        #expect(texts[4] == "f:5: is not of the form key = value")
        #expect(texts[5] == "f:6: there are no sections; write key = value")
        #expect(texts[6].hasPrefix("f:7: log: loud is neither LEVEL nor AREA=LEVEL; levels are error"))
        #expect(texts[7] == "f:8: peer: needs a value: HOST:PORT")
        #expect(texts[8] == "f:9: peer: a comment stands on a line of its own")
        #expect(texts[9] == "f:11: listen is given twice, first in line 10")
        #expect(file.problems.map(\.isWarning) == [true] + Array(repeating: false, count: 9))
    }

    @Test func whatIsNoTextIsNamedAsWhatItIs() {
        #expect(
            complaints([0xef, 0xbb, 0xbf] + Array("data = /d".utf8)) == [
                "f:1: begins with a byte order mark; save it as UTF-8 without one"
            ])
        #expect(complaints([0xff, 0xfe, 0x64, 0]).first?.contains("byte order mark") == true)
        #expect(
            complaints(Array("data = /d\r\npeer = a\r\n".utf8)) == [
                "f:1: ends with a carriage return; save the file with Unix line ends"
            ])
        #expect(complaints(Array("peer = a\nda".utf8) + [0]) == ["f:2: has a NUL byte; this is no text file"])
        #expect(complaints(Array("data = /".utf8) + [0xff]) == ["f:1: is not valid UTF-8"])
        #expect(complaints(Array("data = /\u{1b}[2J".utf8)) == ["f:1: has a control character"])
        // Comments are not looked at, whatever they hold.
        #expect(complaints(Array("# ".utf8) + [0xff, 0]) == [])
    }

    @Test func theSizeAndTheNumberOfProblemsAreBounded() {
        let comment = Array(repeating: Array("# more\n\n".utf8), count: NodeLimits.configurationBytes / 8).flatMap(
            \.self)
        #expect(complaints(comment) == [])
        #expect(complaints(comment + [0x20]) == ["f: is larger than 64 KiB, so it is no configuration of Kith"])
        let long = Array("peer = ".utf8) + [UInt8](repeating: 0x61, count: NodeLimits.configurationLineBytes)
        #expect(complaints(long) == ["f:1: is longer than 4200 bytes"])
        let many = complaints(Array(String(repeating: "x\n", count: 1_000).utf8))
        #expect(many.count == NodeLimits.configurationProblems + 1)
        #expect(many.last?.hasPrefix("f:51: ") == true)
    }

    @Test func aFileCutAnywhereIsReadWithoutHarm() {
        let bytes = Array(
            "# den\ndata = /d\nlisten = [::]:5484\npeer = attic\npeer = [fe80::1%eth0]:1\nlog = debug\n".utf8)
        for end in 0...bytes.count {
            let file = ConfigurationFile.parse(Array(bytes[..<end]), name: "f")
            for entry in file.entries { #expect(entry.key.complaint(entry.value, inFile: true) == nil) }
        }
    }

    @Test func anyBytesGiveEntriesThatAreValidAndProblemsThatAreShort() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let words = ConfigurationKey.allCases.map(\.name) + ["=", "\n", " ", "#", "on", "/d", "::1", "\r", "[", "x"]
        for _ in 0..<2_000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...30, using: &random) {
                if Bool.random(using: &random) {
                    bytes += words.randomElement(using: &random)!.utf8
                } else {
                    bytes.append(UInt8.random(in: 0...255, using: &random))
                }
            }
            let file = ConfigurationFile.parse(bytes, name: "f")
            let valid = file.entries.allSatisfy { $0.key.complaint($0.value, inFile: true) == nil && $0.line > 0 }
            let plain = file.problems.allSatisfy { problem in
                problem.text.utf8.count < 500 && !problem.text.unicodeScalars.contains { $0.value < 32 }
            }
            #expect(valid && plain, "seed \(seed): \(bytes)")
        }
    }
}
