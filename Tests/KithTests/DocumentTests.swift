import Foundation
import Kith
import KithTesting
import Testing

struct DocumentTests {
    @Test func `a field is read by its type and set by subscript`() throws {
        var note = Document(id: "n", ["title": "Milk", "count": 3, "tags": ["a", 1.5], "by": ["name": "Ada"]])
        #expect(note.string("title") == "Milk" && note.int("count") == 3)
        #expect(note["tags"]?[1]?.double == 1.5 && note["by"]?["name"]?.string == "Ada")
        note["by"]?["name"] = "Bob"
        note["count"] = nil
        #expect(note.json == #"{"by":{"name":"Bob"},"tags":["a",1.5],"title":"Milk"}"#)
    }

    @Test func `a field of another type, or none, is nil`() {
        let note = Document(["title": "Milk", "nothing": .null])
        #expect(note.int("title") == nil && note.string("none") == nil && note["nothing"]?.isNull == true)
        #expect(note["title"]?["x"] == nil && note["title"]?[0] == nil)
    }

    @Test func `times are RFC 3339 in UTC and sort as text`() {
        let early = Date(timeIntervalSince1970: 1_700_000_000)
        let late = Date(timeIntervalSince1970: 1_700_000_000.123)
        let note = Document(["at": .date(late)])
        #expect(note.string("at") == "2023-11-14T22:13:20.123Z" && note.date("at") == late)
        #expect(JSONValue.date(early).json < JSONValue.date(late).json)
    }

    @Test func `integers of any size stay exact`() throws {
        let text = #"{"n":123456789012345678901234567890,"x":1e3}"#
        let note = try Document(id: "n", json: text)
        #expect(note["n"]?.json == "123456789012345678901234567890" && note.int("n") == nil)
        #expect(note.json == #"{"n":123456789012345678901234567890,"x":1000}"#)
    }

    @Test func `JSON that is wrong is told with its place`() {
        let error = #expect(throws: KithError.self) { try Document(id: "n", json: "{\"a\":1,\n\"a\":2}") }
        #expect(error?.code == .invalid && error?.message.contains("line 2") == true, "\(error?.message ?? "")")
        #expect(throws: KithError.self) { try Document(id: "n", json: "[1]") }
    }

    @Test func `keys that are composed otherwise are two`() throws {
        let note = try Document(id: "n", json: "{\"e\\u0301\":1,\"\\u00e9\":2}")
        #expect(note.keys.count == 2 && note["\u{e9}"]?.int == 2 && note["e\u{301}"]?.int == 1)
    }

    @Test func `values of JSON encode and decode with other coders`() throws {
        let value: JSONValue = ["a": [1, 2.5, true, "x"], "b": ["c": 18_446_744_073]]
        let data = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(JSONValue.self, from: data) == value)
    }
}
