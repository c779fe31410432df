import Foundation
import KithCoding
import KithDocument
import Testing

/// What can't be coded is an error that says where and why, and not what stands there.
@Suite struct CodingErrorTests {
    private struct Place: Codable {
        enum Status: String, Codable { case open }
        struct Inner: Codable {
            var count: UInt8
            var when: Date?
        }
        var inner: [Inner]?
        var status: Status?
        var price: Decimal?
        var site: URL?
        var data: Data?
        var ratio: Double?
        var name: String?
        var choice: Choice?

        private enum CodingKeys: String, CodingKey {
            case inner, status, price, site, data, ratio, choice
            case name = "a/b~c"
        }
    }

    @Test(arguments: [
        (#"{"inner":[{"count":1},{"count":256}]}"#, "/inner/1/count is a number, expected an integer from 0 to 255"),
        (#"{"inner":[{"count":1.5}]}"#, "/inner/0/count is a number, expected an integer from 0 to 255"),
        (#"{"inner":[{"count":"secret"}]}"#, "/inner/0/count is a string, expected an integer from 0 to 255"),
        (#"{"inner":[{"count":null}]}"#, "/inner/0/count is null, expected an integer from 0 to 255"),
        (#"{"inner":[{}]}"#, "/inner/0/count is missing"),
        (#"{"inner":{}}"#, "/inner is an object, expected an array"),
        (#"{"inner":[7]}"#, "/inner/0 is a number, expected an object"),
        (
            #"{"inner":[{"count":1,"when":"secret"}]}"#,
            "/inner/0/when is a string, expected a date such as 2026-11-30T16:54:32.123Z"
        ),
        (#"{"status":"secret"}"#, "/status is no value of Status"),
        (#"{"data":"sécret"}"#, "/data is a string, expected base64"),
        (#"{"site":""}"#, "/site is a string, expected a URL"),
        (#"{"choice":{"secret":{}}}"#, "/choice is no Choice"),
        (
            #"{"price":123456789012345678901234567890123456789012}"#,
            "/price has more digits than JSON and a Decimal both keep: use an integer of the smallest unit, or a text"
        ),
        (#"{"a/b~c":true}"#, "/a~1b~0c is a boolean, expected a string"),
        ("[]", "the whole is an array, expected an object"),
    ])
    func `What does not decode says where and why`(text: String, expected: String) throws {
        let json = try JSONValue(parsing: text)
        let error = #expect(throws: DocumentCodingError.self) { try DocumentDecoder().value(Place.self, from: json) }
        #expect(error?.description == expected)
        #expect(error?.description.contains("cret") == false)
    }

    @Test func `A double beyond the range of doubles does not become infinite`() throws {
        let json = try JSONValue(parsing: #"{"ratio":1\#(String(repeating: "0", count: 400))}"#)
        #expect(throws: DocumentCodingError.self) { try DocumentDecoder().value(Place.self, from: json) }
    }

    private struct Wrong: Encodable {
        var write: @Sendable (any Encoder) throws -> Void
        func encode(to encoder: any Encoder) throws { try write(encoder) }
    }

    private struct Refusal: Error {}

    @Test func `What does not encode says where and why`() {
        func reason(_ value: some Encodable) -> String? {
            #expect(throws: DocumentCodingError.self) { try DocumentEncoder().body(of: value) }?.description
        }
        #expect(reason(["a": [0, Double.nan]]) == "/a/1 is infinite or no number, which JSON does not have")
        #expect(reason(["a": -Float.infinity]) == "/a is infinite or no number, which JSON does not have")
        #expect(reason(["a": Date.distantFuture.addingTimeInterval(1e15)]) == "/a is a date beyond the years 0 to 9999")
        #expect(reason(["_id": 1])?.hasPrefix("/_id begins with _") == true)
        #expect(reason([1]) == "the whole is no object, which a document has to be")
        let decimal = Decimal(string: "1.234567890123456789")
        #expect(reason(["a": decimal])?.hasPrefix("/a has more digits") == true)
        #expect(reason(["a": Decimal.nan])?.hasPrefix("/a has more digits") == true)
        #expect(reason(Wrong { _ in throw Refusal() }) == "the whole is refused by its type (Refusal)")
        let twice = Wrong { encoder in
            var object = encoder.container(keyedBy: PlainKey.self)
            try object.encode(1, forKey: PlainKey("a"))
            _ = encoder.unkeyedContainer()
        }
        #expect(reason(twice) == "the whole is encoded by its type both as an object and as something else")
    }

    private struct PlainKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    @Test func `A container that is asked for twice is one, and the later value of a key counts`() throws {
        let value = Wrong { encoder in
            var object = encoder.container(keyedBy: PlainKey.self)
            for number in 1...2 {
                var nested = object.nestedContainer(keyedBy: PlainKey.self, forKey: PlainKey("n"))
                try nested.encode(number, forKey: PlainKey("\(number)"))
                var again = encoder.container(keyedBy: PlainKey.self)
                try again.encode(number, forKey: PlainKey("last"))
            }
            var list = object.nestedUnkeyedContainer(forKey: PlainKey("list"))
            try list.encodeNil()
            var inner = list.nestedContainer(keyedBy: PlainKey.self)
            try inner.encodeNil(forKey: PlainKey("x"))
        }
        let json = try DocumentEncoder().json(of: value)
        #expect(json.description == #"{"last":2,"list":[null,{"x":null}],"n":{"1":1,"2":2}}"#)
    }
}
