import KithDocument
import KithTestSupport
import Testing

@Suite struct JSONStreamSplitterTests {
    private typealias Document = JSONStreamSplitter.Document

    /// The objects of a stream that comes in the given chunks, and the error that ended it.
    private func split(
        _ chunks: [ArraySlice<UInt8>], _ shape: JSONStreamSplitter.Shape = .automatic, limits: JSONLimits = JSONLimits()
    ) -> (documents: [Document], error: DocumentError?) {
        var splitter = JSONStreamSplitter(shape: shape, limits: limits)
        var documents: [Document] = []
        do throws(DocumentError) {
            for chunk in chunks {
                splitter.feed(chunk)
                while let document = try splitter.next() { documents.append(document) }
            }
            splitter.finish()
            while let document = try splitter.next() { documents.append(document) }
            return (documents, nil)
        } catch {
            let last = error
            #expect(throws: last) { try splitter.next() }
            return (documents, error)
        }
    }

    private func texts(_ stream: String, _ shape: JSONStreamSplitter.Shape = .automatic) -> [String] {
        let (documents, error) = split([Array(stream.utf8)[...]], shape)
        return documents.map { String(decoding: $0.bytes, as: UTF8.self) } + (error.map { [$0.message] } ?? [])
    }

    private static let streams: [(String, [String])] = [
        ("", []),
        (" \n\t ", []),
        ("{}", ["{}"]),
        ("{}{}", ["{}", "{}"]),
        ("{\"a\":1}\n{\"b\":\"}{\\\"\"}\n", ["{\"a\":1}", "{\"b\":\"}{\\\"\"}"]),
        ("\r\n{\n\"a\": [1]\n}\r\n\r\n {\"b\":{}}", ["{\n\"a\": [1]\n}", "{\"b\":{}}"]),
        ("[]", []),
        (" [ ] ", []),
        ("[{\"a\":1}]", ["{\"a\":1}"]),
        ("[\n{\"a\":1} ,\n{\"b\":[{}]}\n]\n", ["{\"a\":1}", "{\"b\":[{}]}"]),
        ("{\"639-3\": [\n  {\"a\":1},\n  {\"b\":\"]\"}\n]}\n", ["{\"a\":1}", "{\"b\":\"]\"}"]),
        ("{\"k\\\"\":[{}]}", ["{}"]),
        // One object that is no list of objects.
        ("{\"a\":[]}", ["{\"a\":[]}"]),
        ("{\"a\":[1]}", ["{\"a\":[1]}"]),
        ("{\"a\":[{},1]}", ["{\"a\":[{},1]}"]),
        ("{\"a\":[{}],\"b\":1}", ["{\"a\":[{}],\"b\":1}"]),
        ("{\"a\":{\"b\":[{}]}}", ["{\"a\":{\"b\":[{}]}}"]),
        // More than one object: each is a document, whatever is in it.
        ("{\"a\":[{}]}\n{\"a\":[{}]}", ["{\"a\":[{}]}", "{\"a\":[{}]}"]),
    ]

    @Test(arguments: streams)
    func `Objects are found in lines, in an array, and in an object that holds an array`(
        stream: String, expected: [String]
    ) {
        #expect(texts(stream) == expected)
    }

    @Test(arguments: streams)
    func `Where the stream is cut into chunks makes no difference`(stream: String, expected: [String]) {
        let bytes = Array(stream.utf8)
        let whole = split([bytes[...]])
        for cut in 0...bytes.count {
            let parts = split([bytes[..<cut], bytes[cut...]])
            #expect(parts.documents == whole.documents && parts.error == whole.error, "cut at \(cut)")
        }
        let single = split(bytes.indices.map { bytes[$0...$0] })
        #expect(single.documents == whole.documents && single.error == whole.error)
    }

    @Test func `The caller may say what the stream is`() {
        #expect(texts("{\"a\":[{}]}", .documents) == ["{\"a\":[{}]}"])
        #expect(texts("{\"a\":[{}]}", .wrappedArray) == ["{}"])
        #expect(texts("[{}]", .array) == ["{}"])
        #expect(texts("[{}]", .documents) == ["invalid JSON at line 1, column 1: expected an object"])
        #expect(texts("{}", .array) == ["invalid JSON at line 1, column 1: expected an array of objects"])
        #expect(texts("{}", .wrappedArray) == ["invalid JSON at line 1, column 2: expected a key in double quotes"])
    }

    @Test(arguments: [
        ("{\"a\":1}\nx", ["{\"a\":1}"], "line 2, column 1: expected an object"),
        ("{},{}", ["{}"], "line 1, column 3: expected an object"),
        ("1", [], "line 1, column 1: expected an object"),
        ("\u{feff}{}", [], "line 1, column 1: the text begins with a byte order mark; save it as UTF-8 without one"),
        ("{\"a\":", [], "line 1, column 6: the text ends too early"),
        ("{\"a\":1}\n{\"b\":\"}", ["{\"a\":1}"], "line 2, column 8: the text ends too early"),
        ("[\n{}", ["{}"], "line 2, column 3: the text ends too early"),
        ("[\n{},", ["{}"], "line 2, column 4: the text ends too early"),
        ("[\n{},]", ["{}"], "line 2, column 4: expected an object"),
        ("[1]", [], "line 1, column 2: expected an object"),
        ("[{} {}]", ["{}"], "line 1, column 5: expected a comma or the closing bracket"),
        ("[{}]x", ["{}"], "line 1, column 5: there is text after the end of the value"),
    ])
    func `What has none of the forms is an error with its place`(stream: String, before: [String], reason: String) {
        #expect(texts(stream) == before + ["invalid JSON at \(reason)"])
    }

    @Test func `An error within an object has its place in the whole stream`() throws {
        let (documents, error) = split([Array("[ {},\n  {\"a\":\n    tru} , {\"b\":01}]".utf8)[...]])
        #expect(error == nil)
        try #require(documents.count == 3)
        #expect(try documents[0].canonical() == Array("{}".utf8))
        #expect(throws: DocumentError.invalidJSON("expected a value", line: 3, column: 5, offset: 18)) {
            try documents[1].canonical()
        }
        #expect(
            throws: DocumentError.invalidJSON(
                "a number must not begin with a zero before other digits", line: 3, column: 17, offset: 30)
        ) { try documents[2].canonical() }
        #expect(documents.map(\.offset) == [2, 8, 25])
    }

    @Test func `An object over the limit is refused, a list may be longer than the limit`() {
        let limits = JSONLimits(maximumBytes: 20)
        let message = "the document is larger than 20 bytes"
        func outcome(_ stream: String, by size: Int) -> [String] {
            let bytes = Array(stream.utf8)
            let chunks = stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
            let (documents, error) = split(chunks, limits: limits)
            return documents.map { String(decoding: $0.bytes, as: UTF8.self) } + (error.map { [$0.message] } ?? [])
        }
        let item = "{\"a\":\"345678901234\"}"
        let long = "{\"a\":\"3456789012345\"}"
        for size in [1, 3, 7, 20, 21, 1000] {
            #expect(outcome(item + "\n" + item, by: size) == [item, item])
            #expect(outcome(item + "\n" + long, by: size) == [item, "invalid JSON at line 2, column 1: \(message)"])
            #expect(outcome(long, by: size) == ["invalid JSON at line 1, column 1: \(message)"])
            #expect(outcome(long + item, by: size) == ["invalid JSON at line 1, column 1: \(message)"])
            #expect(outcome("[\(item),\(item)]", by: size) == [item, item])
            #expect(outcome("{\"l\": [\(item),\n\(item)]}", by: size) == [item, item])
            #expect(
                outcome("{\"l\":[\(item),\n\(long)]}", by: size) == [
                    item, "invalid JSON at line 2, column 1: \(message)",
                ])
            #expect(
                outcome("{\"l\":[1,2,3,4,5,6,7,8,9]}", by: size) == ["invalid JSON at line 1, column 1: \(message)"])
            #expect(
                outcome("{\"l\":[\(item)],\"m\":1}", by: size)
                    == [
                        item,
                        "invalid JSON at line 1, column 28: a list of documents is an object whose only member is an array of objects",
                    ])
        }
    }

    @Test func `Mutated streams are split or refused, never trapped on`() {
        let seed: UInt64 = 50
        var random = SeededGenerator(seed: seed)
        let pieces = Array("{}[]\",:\\ \na1".utf8) + [0xEF, 0x00]
        for round in 0..<20_000 {
            var stream = Array(random.pick(Self.streams).0.utf8)
            for _ in 0..<random.within(1...3) {
                if stream.isEmpty || random.chance(1, in: 2) {
                    stream.insert(random.pick(pieces), at: random.below(stream.count + 1))
                } else {
                    stream.remove(at: random.below(stream.count))
                }
            }
            let cut = random.below(stream.count + 1)
            let (whole, parts) = (split([stream[...]]), split([stream[..<cut], stream[cut...]]))
            if whole.documents != parts.documents || whole.error != parts.error {
                Issue.record("seed \(seed), round \(round)")
            }
        }
    }
}
