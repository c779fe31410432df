import KithDocument

/// The canonical form of a text is its own canonical form, the value and the form agree, the leaves of an object make
/// it again, and a stream gives the same documents wherever it is cut.
enum JSONFuzzing {
    static let seeds = [
        #"{"a":1,"b":[true,false,null,-0.5e-7,12345678901234567890],"ö":{"x":"\u00e9\ud83d\ude00\n"}}"#,
        #"[{"_id":"a"},{"_id":"b","n":1E400}]"#, #"{"rows":[{"x":1},{"x":2}],"more":3}"#,
        "{\"x\":1}\n{\"x\":2}\n\n{\"x\":3}", #"{"":{},"a":{"":[]},"deep":[[[[[[[[1]]]]]]]]}"#, "\u{feff}{}",
    ]

    static func run(_ bytes: [UInt8]) throws(FuzzFailure) {
        try checkValue(bytes)
        try checkObject(bytes)
        let whole = documents(of: bytes, inParts: bytes.count)
        let single = documents(of: bytes, inParts: 1)
        try FuzzFailure.require(whole == single, "the documents of a stream depend on how it was cut")
    }

    private static func checkValue(_ bytes: [UInt8]) throws(FuzzFailure) {
        guard let canonical = canonical(bytes, { text throws(DocumentError) in try CanonicalJSON.value(from: text) })
        else { return }
        let again = self.canonical(canonical) { text throws(DocumentError) in try CanonicalJSON.value(from: text) }
        try FuzzFailure.require(again == canonical, "the canonical form of a value is not its own canonical form")
        let value: JSONValue
        do throws(DocumentError) { value = try JSONValue(parsing: bytes) } catch {
            throw FuzzFailure("a text has a canonical form and can't be read: \(error.message)")
        }
        try FuzzFailure.require(value.canonicalBytes == canonical, "a value and its canonical form differ")
    }

    private static func checkObject(_ bytes: [UInt8]) throws(FuzzFailure) {
        guard let canonical = canonical(bytes, { text throws(DocumentError) in try CanonicalJSON.object(from: text) })
        else { return }
        try FuzzFailure.require(
            canonical.withUnsafeBytes { CanonicalJSON.isCanonicalObject($0) }, "a canonical object is not seen as one")
    }

    private static func canonical(
        _ bytes: [UInt8], _ make: ([UInt8]) throws(DocumentError) -> [UInt8]
    ) -> [UInt8]? {
        do throws(DocumentError) { return try make(bytes) } catch { return nil }
    }

    private struct Outcome: Equatable {
        var documents: [JSONStreamSplitter.Document] = []
        var error: String?
    }

    private static func documents(of bytes: [UInt8], inParts size: Int) -> Outcome {
        var splitter = JSONStreamSplitter()
        var outcome = Outcome()
        var start = 0
        do throws(DocumentError) {
            while start < bytes.count {
                let end = min(start + max(1, size), bytes.count)
                splitter.feed(bytes[start..<end])
                start = end
                while let document = try splitter.next() { outcome.documents.append(document) }
            }
            splitter.finish()
            while let document = try splitter.next() { outcome.documents.append(document) }
        } catch { outcome.error = error.message }
        return outcome
    }
}
