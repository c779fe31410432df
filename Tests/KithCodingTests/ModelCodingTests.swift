import Foundation
import KithCoding
import KithDocument
import Testing

@Suite struct ModelCodingTests {
    private let coding = try! ModelCoding<TodoItem>(type: "todo")

    private func object(_ text: String) throws -> JSONObject { try #require(try JSONValue(parsing: text).object) }

    @Test func `The id is the document's and not in its body, the type is in it`() throws {
        let (id, body) = try coding.document(of: TodoItem(id: "t1", title: "Milk"))
        #expect(id == "t1")
        #expect(
            JSONValue.object(body).description
                == #"{"counts":{},"isHidden":false,"labels":[],"lines":[],"pinned":false,"priority":0,"#
                + #""status":"pending","tags":[],"title":"Milk","type":"todo"}"#)
        #expect(try coding.model(id: id, body: body) == TodoItem(id: "t1", title: "Milk"))
    }

    private let stored = #"""
        {"counts":{"a":1},"due/date":"2026-11-30","isHidden":false,"labels":[],"later":[1],"lines":[{"colour":"red",
        "isDone":false,"text":"a"},{"colour":"blue","isDone":false,"text":"b"}],"owner":{"name":"Ada","since":1815},
        "pinned":false,"priority":1,"status":"pending","tags":["x"],"title":"Milk","type":"todo"}
        """#

    private func updated(_ change: (inout TodoItem) -> Void) throws -> (paths: [String], body: JSONObject) {
        let stored = try object(stored)
        let changes = try coding.updated(id: "t1", stored: stored, by: change).changes
        return (changes.paths, changes.applied(to: stored))
    }

    @Test func `An update changes what it changes, and the rest stays byte for byte`() throws {
        #expect(try updated { _ in }.paths == [])
        #expect(try updated { _ in }.body == object(stored))
        let (paths, body) = try updated {
            $0.status = .done
            $0.owner?.name = "Bob"
            $0.counts["b"] = 2
        }
        #expect(paths == ["/counts/b", "/owner/name", "/status"])
        var expected = try JSONValue(parsing: stored)
        expected["status"] = "done"
        expected["owner"] = ["name": "Bob", "since": 1815]
        expected["counts"] = ["a": 1, "b": 2]
        #expect(.object(body) == expected)
    }

    @Test func `What becomes nil is removed, and what was nil is not written`() throws {
        let (paths, body) = try updated {
            $0.dueDate = nil
            $0.owner?.team = nil
        }
        #expect(paths == ["/due~1date"])
        #expect(body["due/date"] == nil)
        #expect(try updated { $0.owner = nil }.body["owner"] == nil)
    }

    @Test func `Elements of an array keep what the model does not know of them`() throws {
        func colours(_ change: (inout TodoItem) -> Void) throws -> [String?] {
            let (paths, body) = try updated(change)
            #expect(paths == ["/lines"])
            return body["lines"]?.array?.map { $0["colour"]?.string } ?? []
        }
        #expect(try colours { $0.lines[1].isDone = true } == ["red", "blue"])
        #expect(try colours { $0.lines.reverse() } == ["blue", "red"])
        #expect(try colours { $0.lines.remove(at: 0) } == ["blue"])
        #expect(try colours { $0.lines.insert(TodoItem.Line(text: "new"), at: 0) } == [nil, "red", "blue"])
    }

    private struct Order: Codable, Identifiable, Sendable {
        struct Part: Codable, Identifiable {
            var id: Int
            var count: Int
        }
        var id: UUID
        var parts: [Part]
    }

    @Test func `Elements with an id are found by it`() throws {
        let coding = try ModelCoding<Order>(type: nil)
        let stored = try object(#"{"parts":[{"id":1,"count":1,"x":"a"},{"id":2,"count":1,"x":"b"}]}"#)
        let changes = try coding.updated(id: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F", stored: stored) {
            $0.parts = [Order.Part(id: 3, count: 1), Order.Part(id: 2, count: 5)]
        }.changes
        #expect(
            JSONValue.object(changes.applied(to: stored)).description
                == #"{"parts":[{"count":1,"id":3},{"count":5,"id":2,"x":"b"}]}"#)
    }

    @Test func `Saving over a document keeps what the model does not know`() throws {
        let item = TodoItem(id: "t1", title: "Bread", counts: ["a": 1])
        let changes = try coding.changes(saving: item, over: try object(stored))
        let body = changes.applied(to: try object(stored))
        #expect(body["later"] == [1])
        #expect(body["title"] == "Bread" && body["owner"] == nil && body["lines"] == [])
        #expect(changes.paths == ["/due~1date", "/lines", "/owner", "/priority", "/tags", "/title"])
    }

    @Test(arguments: [
        (#"{"type":"todo","status":"secret","title":"a"}"#, "/status is no value of Status"),
        (#"{"type":"todo"}"#, "/title is missing"),
        (#"{"type":"note"}"#, "/type is not todo, which its collection is of"),
        ("{}", "/type is not todo, which its collection is of"),
    ])
    func `A document that does not decode is an error with id and path, and is not overwritten`(
        text: String, reason: String
    ) throws {
        let body = try object(text)
        let errors = [
            #expect(throws: DocumentCodingError.self) { try coding.model(id: "t1", body: body) },
            #expect(throws: DocumentCodingError.self) {
                try coding.changes(saving: TodoItem(id: "t1", title: "a"), over: body)
            },
            #expect(throws: DocumentCodingError.self) { try coding.updated(id: "t1", stored: body) { _ in } },
        ]
        for error in errors { #expect(error?.description == "document \"t1\": \(reason)") }
    }

    @Test func `An id can't be changed and has to be a text`() throws {
        let error = #expect(throws: DocumentCodingError.self) { try updated { $0.id = "t2" } }
        #expect(error?.reason.hasPrefix("was changed") == true)
        struct Numbered: Codable, Identifiable, Sendable { var id: Int }
        let fault = #expect(throws: DocumentCodingError.self) { try ModelCoding<Numbered>(type: nil) }
        #expect(fault?.description == "/id is the id of Numbered, which has to be one text")
    }

    @Test func `A closure that throws changes nothing`() throws {
        struct Refusal: Error {}
        #expect(throws: Refusal.self) {
            try coding.updated(id: "t1", stored: try object(stored)) { item in
                item.title = "Bread"
                throw Refusal()
            }
        }
    }
}
