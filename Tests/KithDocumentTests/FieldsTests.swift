import KithDocument
import Testing

@Suite struct FieldsTests {
    private func body(_ text: String) throws -> [UInt8] { try CanonicalJSON.object(from: Array(text.utf8)) }

    private func text(_ fields: Fields) -> String { String(decoding: fields.body, as: UTF8.self) }

    private func fresh(_ text: String, _ time: UInt64, _ writer: UInt64 = 1) throws -> Fields {
        Fields(body: try body(text), stamps: FieldStamps(defaultStamp: Stamp(time: time, writer: writer)))
    }

    private func edit(_ fields: Fields, _ text: String, _ time: UInt64, _ writer: UInt64 = 1) throws -> Fields {
        let edited = fields.edited(to: try body(text), stamp: Stamp(time: time, writer: writer))
        return try #require(edited)
    }

    @Test func anEqualBodyWritesNothing() throws {
        let fields = try fresh(#"{"a":1,"b":{"c":[1,2]},"d":{}}"#, 1)
        #expect(fields.edited(to: fields.body, stamp: Stamp(time: 2, writer: 1)) == nil)
    }

    @Test func editsOfDifferentFieldsAreBothKept() throws {
        let base = try fresh(#"{"a":1,"b":1}"#, 1)
        let left = try edit(base, #"{"a":2,"b":1}"#, 2)
        let right = try edit(base, #"{"a":1,"b":3,"c":4}"#, 3)
        #expect(text(left.joined(with: right)) == #"{"a":2,"b":3,"c":4}"#)
        #expect(left.joined(with: right) == right.joined(with: left))
    }

    @Test func theLaterStampOfOneFieldShows() throws {
        let base = try fresh(#"{"a":1}"#, 1)
        let left = try edit(base, #"{"a":"left"}"#, 5, 1)
        let right = try edit(base, #"{"a":"right"}"#, 5, 2)
        #expect(text(left.joined(with: right)) == #"{"a":"right"}"#)
    }

    @Test func aRemovedFieldStaysRemovedUnlessItWasWrittenLater() throws {
        let base = try fresh(#"{"a":1,"b":1}"#, 1)
        let removed = try edit(base, #"{"b":1}"#, 3)
        #expect(text(removed.joined(with: base)) == #"{"b":1}"#)
        #expect(text(removed.joined(with: try edit(base, #"{"a":2,"b":1}"#, 2))) == #"{"b":1}"#)
        #expect(text(removed.joined(with: try edit(base, #"{"a":2,"b":1}"#, 4))) == #"{"a":2,"b":1}"#)
    }

    @Test func aRegisterAndDeeperPathsCompeteByStamp() throws {
        let base = try fresh(#"{"a":{"x":1}}"#, 1)
        let register = try edit(base, #"{"a":7}"#, 2)
        let deeper = try edit(base, #"{"a":{"x":1,"y":2}}"#, 3)
        let joined = register.joined(with: deeper)
        #expect(text(joined) == #"{"a":{"y":2}}"#)
        let later = try edit(base, #"{"a":8}"#, 4)
        #expect(text(deeper.joined(with: later)) == #"{"a":8}"#)
    }

    @Test func onEqualStampsTheDeeperShows() throws {
        let stamp = Stamp(time: 5, writer: 5)
        let fields = Fields(ascending: [
            .init(path: FieldPath(keys: ["a"]), stamp: stamp, value: .present(Array("1".utf8))),
            .init(path: FieldPath(keys: ["a", "b"]), stamp: stamp, value: .present(Array("2".utf8))),
        ])
        #expect(text(fields) == #"{"a":{"b":2}}"#)
    }

    @Test func absentEntriesLendNoStamp() throws {
        let fields = Fields(ascending: [
            .init(path: FieldPath(keys: ["a"]), stamp: Stamp(time: 1, writer: 1), value: .present(Array("1".utf8))),
            .init(path: FieldPath(keys: ["a", "b"]), stamp: Stamp(time: 9, writer: 1), value: .absent),
        ])
        #expect(text(fields) == #"{"a":1}"#)
    }

    @Test func anEmptyObjectHidesNothing() throws {
        let base = try fresh("{}", 1)
        let empty = try edit(base, #"{"a":{}}"#, 9)
        let member = try edit(base, #"{"a":{"b":1}}"#, 2)
        #expect(text(empty.joined(with: member)) == #"{"a":{"b":1}}"#)
        let removed = try edit(empty.joined(with: member), #"{"a":{}}"#, 10)
        #expect(text(removed) == #"{"a":{}}"#)
    }

    @Test func aWriteEndsWhatWasHiddenThere() throws {
        let base = try fresh(#"{"a":{"x":1}}"#, 1)
        let joined = try edit(base, #"{"a":7}"#, 2).joined(with: try edit(base, #"{"a":{"x":1,"y":2}}"#, 3))
        let edited = try edit(joined, #"{"a":{}}"#, 5)
        #expect(text(edited) == #"{"a":{}}"#)
        #expect(text(try edit(edited, "{}", 6)) == "{}")
    }

    @Test func splittingAndReadingBackGivesTheSameFields() throws {
        let base = try fresh(#"{"a":{"x":1},"b":[1],"c":"text"}"#, 1)
        let joined = try edit(base, #"{"a":7,"b":[2],"c":"text"}"#, 2)
            .joined(with: try edit(base, #"{"a":{"x":1,"y":2},"b":[1]}"#, 3))
        let (body, stamps) = joined.split()
        #expect(Fields(body: body, stamps: stamps) == joined)
        var writer = ByteWriter()
        stamps.encode(into: &writer)
        var reader = ByteReader(writer.bytes)
        #expect(try FieldStamps(from: &reader) == stamps)
    }
}
