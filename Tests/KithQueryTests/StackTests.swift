import KithDocument
import KithQuery
import KithTestSupport
import Testing

/// The deepest queries that are let in work on the small stack of a queue's thread.
@Suite struct StackTests {
    @Test(arguments: [
        "(", "[", "NOT ", "-(", "CASE WHEN TRUE THEN ", "ABS(", "{'a': ", "EXISTS [", "IFNULL(NULL, 1 + ",
        "ANY x IN [1] SATISFIES ",
        "TRUE AND (1 = ", "ARRAY_AGG(",
    ]) func theDeepestNestingFits(piece: String) {
        let closing: [Character: String] = ["(": ")", "[": "]", "{": "}"]
        let end: String =
            if piece.hasPrefix("CASE") || piece.hasPrefix("ANY") { " END" } else {
                piece.compactMap { closing[$0] }.reversed().joined()
            }
        onSmallStack {
            // The deepest that is let in, whatever it is for this piece.
            for count in stride(from: 50, through: 10, by: -1) {
                let text =
                    "SELECT " + String(repeating: piece, count: count) + "1" + String(repeating: end, count: count)
                guard let statement = try? QueryStatement(parsing: text) else { continue }
                #expect((try? QueryStatement(parsing: statement.sql)) == statement)
                guard let checked = try? statement.checked() else { return }
                _ = try? QueryEvaluator().rows(of: checked, documents: { _ in [] })
                return
            }
            Issue.record("\(piece) can't be nested ten times")
        }
    }

    @Test func theDeepestSelectorFits() {
        onSmallStack {
            var selector: JSONValue = ["a": 1]
            for _ in 0..<7 { selector = ["a": ["$elemMatch": ["$not": selector]]] }
            var depth = 7
            while (try? MangoQuery.filter(selector)) == nil, depth > 0 {
                selector = selector["a"]!["$elemMatch"]!["$not"]!
                depth -= 1
            }
            #expect(depth > 3)
            var body: JSONValue = ["a": 1]
            for _ in 0..<depth { body = ["a": [body]] }
            let document = QueryDocument(DocumentMetadata(id: "x"), body.object!)
            _ = try? QueryEvaluator().isTrue(try MangoQuery.filter(selector), of: document)
        }
    }

    /// As deep as documents are.
    @Test func theDeepestValuesAreComparedAndHaveKeys() {
        onSmallStack {
            var (array, object, other): (JSONValue, JSONValue, JSONValue) = ([1], ["a": 1], ["a": 2])
            for _ in 1..<DocumentLimits.depth { (array, object, other) = ([array], ["a": object], ["a": other]) }
            for value in [array, object, other].map({ QueryValue($0) }) {
                #expect(ValueKey(value).value?.order(to: value) == .equal)
            }
            #expect(QueryValue(object) < QueryValue(other))
            #expect(ValueKey(QueryValue(object)) < ValueKey(QueryValue(other)))
            #expect(QueryValue(array).order(to: QueryValue([array])) == .less)
            for text in [
                "TOATOM($v)", "ARRAY_FLATTEN($v, -1)", "ENCODED_SIZE($v)", "$v = $v", "ARRAY_DISTINCT([$v, $v])",
            ] {
                let value = try? QueryEvaluator(parameters: ParameterValues(["v": array])).constant(
                    QueryExpression(parsing: text))
                #expect(value != nil, "\(text)")
            }
        }
    }
}
