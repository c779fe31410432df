import Foundation
import KithCoding
import Testing

@Suite struct ModelShapeTests {
    private func place<Value>(
        _ keyPath: any KeyPath<TodoItem, Value> & Sendable, _ shape: ModelShape<TodoItem>? = nil
    ) throws -> String {
        let shape = try shape ?? ModelShape<TodoItem>()
        return try shape.place(of: [.member(keyPath)]).joined(separator: " ")
    }

    @Test func `A key path leads to the field that it reads, whatever its key`() throws {
        let shape = try ModelShape<TodoItem>()
        #expect(try place(\.id, shape) == "id")
        #expect(try place(\.title, shape) == "title")
        #expect(try place(\.status, shape) == "status")
        #expect(try place(\.status.rawValue, shape) == "status")
        #expect(try place(\.priority, shape) == "priority")
        #expect(try place(\.dueDate, shape) == "due/date")
        #expect(try place(\.isPinned, shape) == "pinned")
        #expect(try place(\.isHidden, shape) == "isHidden")
        #expect(try place(\.tags, shape) == "tags")
        #expect(try place(\.owner, shape) == "owner")
        #expect(try place(\.owner?.name, shape) == "owner name")
        #expect(try place(\.owner?.team, shape) == "owner team")
        #expect(try place(\.lines, shape) == "lines")
        #expect(try place(\.counts, shape) == "counts")
        #expect(try place(\.labels, shape) == "labels")
        #expect(try place(\.site, shape) == "site")
        #expect(try place(\.key, shape) == "key")
        #expect(try place(\.heading, shape) == "title")
        #expect(try shape.place(of: []) == [])
    }

    @Test func `Steps through optionals and elements of arrays lead on`() throws {
        let shape = try ModelShape<TodoItem>()
        let team = try shape.place(of: [.member(\TodoItem.owner), .member(\TodoItem.Person.team)])
        #expect(team == ["owner", "team"])
        let note = try shape.place(of: [.member(\TodoItem.lines), .element, .member(\TodoItem.Line.note)])
        #expect(note == ["note"])
        #expect(
            try shape.place(of: [.member(\TodoItem.lines), .element, .member(\TodoItem.Line.isDone)]) == ["isDone"])
        #expect(try shape.place(of: [.member(\TodoItem.labels), .element]) == [])
    }

    @Test func `What is computed is no field`() throws {
        for read in [
            { _ = try place(\.isOverdue) }, { _ = try place(\.title.count) }, { _ = try place(\.tags.isEmpty) },
            { _ = try place(\.dueDate?.timeIntervalSince1970) }, { _ = try place(\.description) },
        ] {
            let error = #expect(throws: DocumentCodingError.self) { try read() }
            #expect(error?.reason.contains("no field that TodoItem keeps") == true, "\(error as Any)")
        }
    }

    @Test func `What can't be made up asks for examples, and they do`() throws {
        let error = #expect(throws: DocumentCodingError.self) { try ModelShape<Figure>() }
        #expect(error?.description.hasPrefix("/form is a Form, of which no value can be made up") == true)
        let shape = try ModelShape(examples: [
            Figure(id: "a", form: .circle(radius: 1), colour: .red, border: .red),
            Figure(id: "b", form: .square(side: 1), colour: .blue, border: .blue),
        ])
        #expect(try shape.place(of: [.member(\Figure.form)]) == ["form"])
        #expect(try shape.place(of: [.member(\Figure.colour)]) == ["colour"])
        #expect(try shape.place(of: [.member(\Figure.border.rawValue)]) == ["border"])
    }

    @Test func `Examples in which two fields are alike are refused where it matters`() throws {
        let shape = try ModelShape(examples: [Figure(id: "a", form: .circle(radius: 1), colour: .red, border: .red)])
        #expect(try shape.place(of: [.member(\Figure.id)]) == ["id"])
        let error = #expect(throws: DocumentCodingError.self) { try shape.place(of: [.member(\Figure.colour)]) }
        #expect(error?.reason == "could be /border or /colour: give the collection examples in which they differ")
    }

    private struct Node: Codable, Sendable {
        var name: String
        var parent: [Node]
        var child: Box?
    }

    private final class Box: Codable, Sendable {
        let node: Node
    }

    @Test func `A type within itself comes to an end`() throws {
        let shape = try ModelShape<Node>()
        #expect(try shape.place(of: [.member(\Node.name)]) == ["name"])
    }
}

extension TodoItem: CustomStringConvertible {
    var description: String { "\(id) \(title)" }
}
