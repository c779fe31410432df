import KithHTTPCore
import KithTestSupport
import Testing

@Suite struct HTTPTargetTests {
    @Test func anEscapedSlashIsPartOfItsSegment() throws {
        let target = try HTTPTarget("/v1/databases/db/documents/a%2Fb")
        #expect(target.segments == ["v1", "databases", "db", "documents", "a/b"])
        #expect(target.rawPath == "/v1/databases/db/documents/a%2Fb")
    }

    @Test func aPlusIsAPlusEverywhere() throws {
        let target = try HTTPTarget("/a+b?c+d=e+f%2B")
        #expect(target.segments == ["a+b"])
        #expect(target.query == [HTTPQueryItem(name: "c+d", value: "e+f+")])
    }

    @Test(arguments: [
        ("/", [String]()), ("/a", ["a"]), ("/a/", ["a", ""]), ("//a", ["", "a"]), ("/./..", [".", ".."]),
        ("/%2e%2E", [".."]), ("/%C3%A4", ["ä"]), ("/a?b/c", ["a"]), ("/%00", ["\0"]),
    ]) func pathsAreSplitBeforeTheyAreDecoded(text: String, segments: [String]) throws {
        #expect(try HTTPTarget(text).segments == segments)
    }

    @Test(arguments: [
        ("/?", [HTTPQueryItem]()), ("/?a", [HTTPQueryItem(name: "a", value: "")]),
        ("/?a=b=c&&d=", [HTTPQueryItem(name: "a", value: "b=c"), HTTPQueryItem(name: "d", value: "")]),
        ("/?a=?", [HTTPQueryItem(name: "a", value: "?")]),
    ]) func queriesAreReadAsNamesAndValues(text: String, query: [HTTPQueryItem]) throws {
        #expect(try HTTPTarget(text).query == query)
    }

    @Test(arguments: ["", "a", "*", "?a", "/%", "/%2", "/%2g", "/%ff", "/%C3", "/?a=%", "/%+1"])
    func malformedTargetsAreRefused(text: String) {
        #expect(throws: HTTPError.malformedTarget) { try HTTPTarget(text) }
    }

    @Test func whatIsEncodedIsReadBack() throws {
        var random = SeededGenerator(seed: 7)
        let alphabet: [Character] = [
            "a", "/", "%", "+", "?", "&", "=", "#", " ", ".", "ä", "€", "😀", "\n", "\0", ";", "~",
        ]
        for _ in 0..<2_000 {
            func word() -> String { String((0..<random.below(5)).map { _ in random.pick(alphabet) }) }
            let segments = (0..<random.within(1...4)).map { _ in word() }
            let query = (0..<random.below(3)).map { _ in HTTPQueryItem(name: "n" + word(), value: word()) }
            let text = HTTPTarget.encode(segments, query: query)
            let target = try HTTPTarget(text)
            #expect(target.segments == (segments == [""] ? [] : segments), "seed 7, \(text)")
            #expect(target.query == query, "seed 7, \(text)")
        }
    }

    @Test func anyBytesAreReadOrRefused() {
        var random = SeededGenerator(seed: 8)
        for _ in 0..<5_000 {
            let bytes =
                [UInt8(ascii: "/")]
                + (0..<random.below(12)).map { _ in
                    random.chance(1, in: 3) ? UInt8(ascii: "%") : UInt8(random.below(256))
                }
            if let target = try? HTTPTarget(bytes: bytes) { #expect(target.rawPath.utf8.first == UInt8(ascii: "/")) }
        }
    }

    @Test func headerNamesAreComparedWithoutCase() {
        let headers: HTTPHeaders = ["Content-Type": "a", "content-type": "b"]
        #expect(headers["CONTENT-TYPE"] == "a")
        #expect(headers["content"] == nil)
    }
}
