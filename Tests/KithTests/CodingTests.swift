import Foundation
import Kith
import KithTesting
import Testing

private struct Author: Codable, Equatable {
    var name: String
    var mail: String?
}

private enum Shape: Codable, Equatable {
    case circle(radius: Double)
    case square(side: Double)
}

private enum Level: String, Codable { case low, high }

private struct Item: Codable, Equatable {
    var title: String
    var due: Date?
    var level = Level.low
    var author: Author?
    var tags: [String] = []
    var scores: [String: Int] = [:]
    var shape: Shape?
    var count: UInt64 = 0
    var weight: Float = 0.1
    var price: Decimal = 0
    var link: URL?
    var data = Data()
}

struct CodingTests {
    private let item = Item(
        title: "Milk", due: Date(timeIntervalSince1970: 1_700_000_000.25), level: .high,
        author: Author(name: "Ada", mail: "a@b"), tags: ["x", "y"], scores: ["a": 1], shape: .circle(radius: 2),
        count: .max, weight: 0.1, price: Decimal(string: "12.30")!, link: URL(string: "https://e.org/a?b"),
        data: Data([0, 255]))

    @Test func `a value comes back as it was`() throws {
        let document = try Document(id: "i", encoding: item)
        #expect(try document.decode(Item.self) == item)
        #expect(document["weight"]?.json == "0.1" && document["price"]?.json == "12.3")
        #expect(document["count"]?.json == "18446744073709551615")
    }

    @Test func `fields that the type does not know stay, in nested values too`() throws {
        var document = try Document(
            id: "i", json: #"{"author":{"name":"Ada","phone":"1"},"new":{"a":1},"title":"Old"}"#)
        var changed = item
        changed.author?.mail = nil
        try document.update(from: changed)
        #expect(document["new"]?["a"]?.int == 1 && document["author"]?["phone"]?.string == "1")
        #expect(document.string("title") == "Milk" && document["author"]?["mail"] == nil)
    }

    @Test func `an optional that is nil removes its field`() throws {
        var document = try Document(id: "i", encoding: item)
        var changed = item
        changed.due = nil
        changed.author = nil
        try document.update(from: changed)
        #expect(document["due"] == nil && document["author"] == nil)
        #expect(try document.decode(Item.self) == changed)
    }

    @Test func `dictionaries and enumerations are replaced as wholes`() throws {
        var document = try Document(id: "i", encoding: item)
        var changed = item
        changed.scores = ["b": 2]
        changed.shape = .square(side: 3)
        try document.update(from: changed)
        #expect(try document.decode(Item.self) == changed)
    }

    @Test func `what does not decode names the document and the path`() throws {
        let cases: [(String, String)] = [
            (#"{"title":5}"#, "/title"), (#"{}"#, "/title"),
            (#"{"title":"a","level":"secret","tags":[],"scores":{}}"#, "/level"),
            (#"{"title":"a","level":"low","author":{"name":null}}"#, "/author/name"),
            (#"{"title":"a","due":"yesterday","level":"low"}"#, "/due"),
        ]
        for (json, path) in cases {
            let document = try Document(id: "doc-7", json: json)
            let error = #expect(throws: KithError.self) { try document.decode(Item.self) }
            #expect(error?.code == .decoding)
            #expect(
                error?.message.contains("doc-7") == true && error?.message.contains(path) == true,
                "\(json) \(error?.message ?? "")")
            #expect(error?.message.contains("secret") == false, "no content stands in an error")
        }
    }

    @Test func `one field decodes and is set as a value`() throws {
        var document = Document(id: "d", ["x": 1])
        try document.set("author", to: Author(name: "Ada", mail: nil))
        #expect(try document.decode(Author.self, at: "author") == Author(name: "Ada", mail: nil))
        #expect(try document.decode(Author.self, at: "none") == nil)
        let error = #expect(throws: KithError.self) { try document.decode([String].self, at: "author") }
        #expect(error?.message.contains("/author") == true)
    }

    @Test func `a value that is no object, or no JSON, is refused`() {
        #expect(throws: KithError.self) { try Document(id: "d", encoding: [1, 2]) }
        #expect(throws: KithError.self) { try Document(id: "d", encoding: ["x": Double.nan]) }
    }

    private enum Event: Codable, Equatable {
        case begun(at: Date)
        case ended(by: String)
    }

    @Test func `an enumeration that is a document is one of its cases, and a dictionary leaves other fields`() throws {
        var document = try Document(id: "d", encoding: Event.begun(at: Date(timeIntervalSince1970: 0)))
        try document.update(from: Event.ended(by: "Ada"))
        #expect(try document.decode(Event.self) == .ended(by: "Ada"))
        document = Document(id: "d", ["title": "Milk"])
        try document.update(from: ["n": 1])
        #expect(document.json == #"{"n":1,"title":"Milk"}"#)
    }

    private struct Loose: Codable, Equatable {
        var any: JSONValue
        var some: [String: JSONValue]?
    }

    @Test func `values of JSON within a type stay exact`() throws {
        let text = #"{"any":[123456789012345678901234567890123456789012345,1.5,null],"some":{"a":{"b":[]}}}"#
        let document = try Document(id: "d", json: text)
        let loose = try document.decode(Loose.self)
        #expect(try Document(id: "d", encoding: loose).json == text)
    }
}
