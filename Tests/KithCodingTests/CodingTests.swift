import Foundation
import KithCoding
import KithDocument
import KithTestSupport
import Testing

@Suite struct CodingTests {
    @Test func `A value of every kind of field comes back from its document`() throws {
        let sample = Sample()
        let body = try DocumentEncoder().body(of: sample)
        let text = JSONValue.object(body).description
        #expect(text == Sample.text)
        let back = try DocumentDecoder().value(Sample.self, from: JSONValue(parsing: text))
        #expect(back == sample)
        #expect(back.text.unicodeScalars.count == 2)
    }

    @Test func `What a class inherits comes back too`() throws {
        let json = try DocumentEncoder().json(of: Dog(name: "Rex", isGood: true))
        #expect(json.description == #"{"isGood":true,"super":{"name":"Rex"}}"#)
        let dog = try DocumentDecoder().value(Dog.self, from: json)
        #expect(dog.name == "Rex" && dog.isGood)
    }

    @Test func `Random doubles, floats and integers come back bit for bit`() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<20_000 {
            let double = Double(bitPattern: random.next())
            let float = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
            if double.isFinite { try expectSame([double], \.bitPattern.nonZero) }
            if float.isFinite { try expectSame([float]) { $0 == 0 ? 0 : UInt64($0.bitPattern) } }
            try expectSame([Int64(bitPattern: random.next())]) { UInt64(bitPattern: $0) }
        }
    }

    private func expectSame<Number: Codable>(_ numbers: [Number], _ bits: (Number) -> UInt64) throws {
        let text = try DocumentEncoder().json(of: numbers).description
        let back = try DocumentDecoder().value([Number].self, from: JSONValue(parsing: text))
        #expect(back.map(bits) == numbers.map(bits), "\(text)")
    }

    @Test func `Dates keep their order as texts, and any form of them is read`() throws {
        let times = [-62_167_219_200, -1.5, -0.001, 0, 0.001, 1_764_520_472, 253_402_300_799.999]
        let texts = try times.map { try DocumentEncoder().json(of: Date(timeIntervalSince1970: $0)).string ?? "" }
        #expect(texts == texts.sorted { Array($0.utf8).precedes(Array($1.utf8)) })
        #expect(texts[2] == "1969-12-31T23:59:59.999Z")
        for (time, text) in zip(times, texts) {
            let back = try DocumentDecoder().value(Date.self, from: .string(text))
            #expect(abs(back.timeIntervalSince1970 - time) < 0.0001, "\(text)")
        }
        for text in ["2026-11-30", "2026-11-30T00:00Z", "2026-11-30T02:00:00+02:00"] {
            let date = try DocumentDecoder().value(Date.self, from: .string(text))
            #expect(try DocumentEncoder().json(of: date) == "2026-11-30T00:00:00.000Z", "\(text)")
        }
    }

    @Test func `A set is written in byte order, and so is a map whose keys are no texts`() throws {
        for _ in 0..<20 {
            let set = Set((0..<20).shuffled().map { "\($0)" })
            let json = try DocumentEncoder().json(of: ["set": set])
            #expect(json["set"]?.array?.compactMap(\.string) == set.sorted { Array($0.utf8).precedes(Array($1.utf8)) })
        }
        let map: [[Int]: String] = [[2]: "two", [1]: "one", [3]: "three"]
        #expect(try DocumentEncoder().json(of: map).description == #"[[1],"one",[2],"two",[3],"three"]"#)
    }

    private struct Form: Encodable {
        enum Shape: Encodable { case circle(Double) }
        struct Part: Encodable {
            var text: String
            var note: String?
        }
        var part = Part(text: "a")
        var gone: Int?
        var shape = Shape.circle(1)
        var map = ["k": 1]
        var list = [Part(text: "b")]
    }

    @Test func `What a value says of a place removes what is nil, and sets as wholes what has no fields of its own`()
        throws
    {
        guard case .members(let changes) = try DocumentEncoder().change(of: Form()) else {
            Issue.record("a value with members changes members")
            return
        }
        #expect(changes.paths == ["/gone", "/list", "/map", "/part/note", "/part/text", "/shape"])
        let stored = try JSONValue(
            parsing: #"{"gone":1,"map":{"x":1},"part":{"note":1,"own":1},"shape":{"square":1},"list":[{"own":1}]}"#)
        let body = changes.applied(to: try #require(stored.object))
        #expect(
            JSONValue.object(body).description
                == #"{"list":[{"text":"b"}],"map":{"k":1},"part":{"own":1,"text":"a"},"shape":{"circle":{"_0":1}}}"#)
    }

    @Test func `A decimal keeps all its digits`() throws {
        for text in ["0", "-12.3", "0.001", "123456789012345678901234567890", "1e+30", "0.1"] {
            let decimal = try #require(Decimal(string: text))
            let json = try DocumentEncoder().json(of: decimal)
            #expect(try DocumentDecoder().value(Decimal.self, from: json) == decimal, "\(text)")
        }
    }

    @Test func `A type that is nested deeper than the limit is an error on a small stack and no crash`() throws {
        onSmallStack {
            // Two levels of JSON each.
            let levels = CodingLimits.depth / 2 - 1
            #expect(throws: Never.self) {
                let json = try DocumentEncoder().json(of: Tree.deep(levels))
                _ = try DocumentDecoder().value(Tree.self, from: json)
            }
            #expect(throws: DocumentCodingError.self) { try DocumentEncoder().json(of: Tree.deep(levels + 1)) }
            let json = (0..<200).reduce(["below": []] as JSONValue) { json, _ in ["below": [json]] }
            #expect(throws: DocumentCodingError.self) { try DocumentDecoder().value(Tree.self, from: json) }
        }
    }
}

extension UInt64 {
    /// The bits of a double, those of -0 as of 0: JSON has one zero.
    fileprivate var nonZero: UInt64 { self == Double(-0.0).bitPattern ? 0 : self }
}
