import KithDocument
import KithTestSupport
import Testing

@Suite struct JSONValueTests {
    @Test func `Literals make values, and subscripts and accessors read them`() throws {
        let value: JSONValue = [
            "name": "Ada", "age": 36, "height": 1.5, "tags": ["a", "b"], "none": .null, "yes": true,
            "in": ["x": ["y": -1]],
        ]
        #expect(value["name"]?.string == "Ada")
        #expect(value["age"]?.integer == 36)
        #expect(value["age"]?.natural == 36)
        #expect(value["age"]?.double == 36)
        #expect(value["height"]?.double == 1.5)
        #expect(value["height"]?.integer == nil)
        #expect(value["tags"]?[1] == "b")
        #expect(value["tags"]?[2] == nil)
        #expect(value["tags"]?[-1] == nil)
        #expect(value["none"]?.isNull == true)
        #expect(value["other"] == nil)
        #expect(value["yes"]?.bool == true)
        #expect(value["in"]?["x"]?["y"]?.integer == -1)
        #expect(value["in"]?["x"]?["y"]?.natural == nil)
        #expect(value["name"]?["x"] == nil)
        #expect(value.object?.keys == ["age", "height", "in", "name", "none", "tags", "yes"])
        #expect(
            value.description
                == #"{"age":36,"height":1.5,"in":{"x":{"y":-1}},"name":"Ada","none":null,"tags":["a","b"],"yes":true}"#)
        #expect(try JSONValue(parsing: value.description) == value)
        #expect("\("in" + "terpolated")" as JSONValue == .string("interpolated"))
    }

    /// Reading that copied what it had read so far took minutes for these.
    @Test(.timeLimit(.minutes(1))) func `Wide arrays and objects are read in place`() {
        let count = 100_000
        let array = JSONValue(canonical: Array("[\((0..<count).map { String($0) }.joined(separator: ","))]".utf8))
        let (elements, last) = (array.array?.count, array[count - 1]?.integer)
        #expect(elements == count)
        #expect(last == Int64(count - 1))
        let members = (0..<count).map { "\"\(count + $0)\":{\"a\":[\($0)]}" }
        let object = JSONValue(canonical: Array("{\(members.joined(separator: ","))}".utf8))
        let (width, second) = (object.object?.count, object["100001"])
        #expect(width == count)
        #expect(second == ["a": [1]])
    }

    @Test func `Members are set, replaced and removed in place`() {
        var value: JSONValue = .null
        value["b"] = 1
        value["a"] = ["x": 1]
        value["b"] = 2
        value["c"] = "x"
        value["c"] = .null
        value["a"]?["y"] = 3
        #expect(value.description == #"{"a":{"x":1,"y":3},"b":2,"c":null}"#)
        value["b"] = nil
        value["z"] = nil
        #expect(value.description == #"{"a":{"x":1,"y":3},"c":null}"#)
    }

    @Test func `Numbers keep their canonical text`() throws {
        #expect(JSONNumber(UInt64.max).text == "18446744073709551615")
        #expect(JSONNumber(UInt64.max).natural == UInt64.max)
        #expect(JSONNumber(UInt64.max).integer == nil)
        #expect(JSONNumber(Int64.min).integer == Int64.min)
        #expect(JSONNumber(1.0)?.text == "1")
        #expect(JSONNumber(-0.0)?.text == "0")
        #expect(JSONNumber(1e21)?.text == "1e+21")
        #expect(JSONNumber(Double.leastNonzeroMagnitude)?.text == "5e-324")
        #expect(JSONNumber(Double.greatestFiniteMagnitude)?.text == "1.7976931348623157e+308")
        #expect(JSONNumber(Double.infinity) == nil)
        #expect(JSONNumber(Double.nan) == nil)
        #expect(JSONValue.number(Double.nan) == .null)
        let big = try JSONValue(parsing: "123456789012345678901234567890")
        #expect(big.number?.text == "123456789012345678901234567890")
        #expect(big.integer == nil)
        #expect(big.double == 123456789012345678901234567890.0)
        #expect(try JSONValue(parsing: "1.0") == JSONValue(parsing: "1"))
    }

    @Test func `Strings and keys are compared by their bytes`() throws {
        let (composed, decomposed) = ("\u{e9}", "e\u{301}")
        #expect(composed == decomposed)
        #expect(JSONValue.string(composed) != .string(decomposed))
        #expect(Set([JSONValue.string(composed), .string(decomposed)]).count == 2)
        let both = try JSONValue(parsing: "{\"\u{e9}\":1,\"e\u{301}\":2}")
        #expect(both[composed] == 1)
        #expect(both[decomposed] == 2)
        #expect(both.object?.count == 2)
        #expect(JSONValue.object([composed: 1]) != .object([decomposed: 1]))
        #expect(JSONValue.object([composed: 1]) == .object([composed: 1]))
        #expect(Set([both, both, JSONValue.object([composed: 1])]).count == 2)
        #expect(JSONObject([("b", 1), ("a", 2), ("b", 3)]) == ["a": 2, "b": 3])
    }

    @Test func `The text for people is indented`() throws {
        let value = try JSONValue(parsing: #"{"b":[1,{"x":[]},[]],"a":{},"c":"é\n"}"#)
        let expected = """
            {
              "a": {},
              "b": [
                1,
                {
                  "x": []
                },
                []
              ],
              "c": "é\\n"
            }
            """
        #expect(value.prettyText == expected)
        #expect(try JSONValue(parsing: expected) == value)
        #expect(JSONValue.array([]).prettyText == "[]")
        #expect(JSONValue.string("x").prettyText == "\"x\"")
    }

    @Test func `A tree and its text are the same for any text`() throws {
        var texts = SeededText(seed: 40)
        for _ in 0..<3000 {
            let text = canonical(texts.object(depth: 4), JSONLimits(allowsReservedNames: true))
            if text.hasPrefix("invalid") { continue }  // A key was drawn twice.
            let value = JSONValue(canonical: Array(text.utf8))
            #expect(value.description == text, "seed 40")
            #expect(try JSONValue(parsing: value.prettyText) == value, "seed 40")
            for length in 0..<min(text.utf8.count, 40) { _ = JSONValue(canonical: Array(text.utf8.prefix(length))) }
        }
    }

    @Test func `The deepest tree is read, written and compared within a small stack`() throws {
        let text = String(repeating: "[{\"a\":", count: 256) + "1" + String(repeating: "}]", count: 256)
        onSmallStack {
            do {
                let value = try JSONValue(parsing: text)
                // Compared outside of the macro, which takes deep values apart with a deeper stack.
                let isRead = try value == JSONValue(parsing: value.prettyText) && value.description == text
                let isHashed = Set([value]).contains(value)
                #expect(isRead && isHashed)
            } catch {
                Issue.record(error)
            }
        }
        #expect(throws: DocumentError.self) { try JSONValue(parsing: "[" + text + "]") }
    }
}
