import KithDocument
import KithTestSupport
import Testing

@testable import KithQuery

/// Trees: their names are bytes, their depth is bounded, and what they make is no larger than what a document has room for.
@Suite struct QueryTreeTests {
    private static func failure(_ query: String) -> String? {
        do throws(QueryError) {
            _ = try QueryStatement(parsing: query).checked()
            return nil
        } catch { return error.message }
    }

    // Names.

    @Test(arguments: [
        "`é`", "d.`é`", "d[0].`é`", "META(`é`)", "HIGHLIGHT(i, `é`)", "$é", "ANY `é` IN d SATISFIES 1 END", "{'é': 1}",
        "'é'", "d['é']",
    ])
    func treesWithNamesOfOtherBytesDiffer(_ text: String) throws {
        let composed = try QueryExpression(parsing: text)
        let decomposed = try QueryExpression(parsing: text.replacing("é", with: "e\u{301}"))
        #expect(composed != decomposed)
        #expect(composed == composed)
        #expect(QueryExpression(.array([composed])) != QueryExpression(.array([decomposed])))
    }

    @Test func aGroupHasNoFieldOfOtherBytes() {
        let message = Self.failure("SELECT `e\u{301}` AS v FROM t GROUP BY `\u{e9}`")
        #expect(message?.contains("is neither in GROUP BY") == true)
    }

    // Variables.

    @Test(arguments: [
        "SELECT RAW 1 FROM t WHERE ANY x IN tags SATISFIES (ANY x IN ['x'] SATISFIES x = 'x' END) = TRUE END",
        "SELECT t AS k, (ANY t IN ['z'] SATISFIES t = 'z' END) AS y FROM d UNNEST d.tags AS t GROUP BY t",
        "SELECT RAW 1 FROM t AS d WHERE ANY d IN [{'n': 99}] SATISFIES n = 99 END",
        "SELECT RAW 1 FROM t LET x = 1 WHERE EVERY x IN tags SATISFIES x = 1 END",
        "SELECT RAW 1 FROM t WHERE ANY x IN tags SATISFIES ANY y IN [1] SATISFIES EVERY x IN [1] SATISFIES 1 END END END",
    ])
    func aVariableOfAnyHasANameOfItsOwn(_ query: String) {
        #expect(Self.failure(query)?.contains("two things are named") == true)
        #expect(Self.failure(query)?.hasPrefix("line 1, column ") == true)
    }

    @Test(arguments: [
        "SELECT RAW 1 FROM t WHERE (ANY x IN tags SATISFIES x = 1 END) AND (ANY x IN tags SATISFIES x = 2 END)",
        "SELECT RAW 1 FROM t WHERE ANY x IN (CASE WHEN ANY x IN [1] SATISFIES x = 1 END THEN [1] END) SATISFIES 1 END",
        "SELECT RAW x FROM t UNNEST (CASE WHEN ANY x IN [1] SATISFIES x = 1 END THEN [1] END) AS x",
    ])
    func aNameIsFreeWhereNothingElseHasIt(_ query: String) { #expect(Self.failure(query) == nil) }

    // Depth.

    private static let condition = QueryExpression(
        .comparison(.equal, QueryExpression(.path(.identifier("t"), [.member("n")])), .literal(.number(1))))

    private static func nested(_ levels: Int, _ around: (QueryExpression) -> QueryExpression) -> QueryExpression {
        var expression = condition
        for _ in 0..<levels { expression = around(expression) }
        return expression
    }

    @Test(arguments: 0..<5)
    func aTreeThatIsTooDeepIsRefused(_ kind: Int) {
        let deep = Self.nested(1_000) { inner in
            switch kind {
            case 0: QueryExpression(.or([Self.condition, inner]))
            case 1: QueryExpression(.not(inner))
            case 2: QueryExpression(.path(.identifier("t"), [.element(inner)]))
            case 3: .call("ABS", inner)
            default:
                QueryExpression(.quantified(QuantifiedExpression(.any, "x", in: .identifier("t"), satisfies: inner)))
            }
        }
        var places: [(inout QueryStatement) -> Void] = []
        places.append { $0.filter = deep }
        places.append { $0.selection = .raw(deep) }
        places.append { $0.selection = .columns([.value(deep, alias: "a")]) }
        places.append { $0.selection = .columns([.members(deep)]) }
        places.append { $0.joins = [.inner(QuerySource("u"), on: deep)] }
        places.append { $0.joins = [.unnest(deep, alias: "u", isLeft: false, .none)] }
        places.append { $0.bindings = [QueryBinding("l", deep)] }
        places.append { $0.groups = [QueryGroup(deep)] }
        places.append { $0.groupFilter = deep }
        places.append { $0.order = [QueryOrdering(deep)] }
        places.append { $0.limit = deep }
        places.append { $0.offset = deep }
        for (number, place) in places.enumerated() {
            var statement = QueryStatement(selection: .raw(.literal(.number(1))), from: QuerySource("t"))
            place(&statement)
            let error = #expect(throws: QueryError.self, "place \(number)") { try statement.checked() }
            #expect(error?.message.contains("nested deeper than") == true, "place \(number)")
        }
        #expect(throws: QueryError.self) { try deep.checkedAsFilter() }
    }

    @Test func aTreeAsDeepAsATextMayBeIsTaken() throws {
        let text = String(repeating: "ABS(", count: 40) + "1" + String(repeating: ")", count: 40)
        _ = try QueryStatement(parsing: "SELECT RAW \(text)").checked()
    }

    // Sizes.

    @Test(arguments: [
        "ARRAY_REPEAT(REPEAT('a', 1000000), 10000)", "ARRAY_REPEAT(ARRAY_RANGE(0, 50000), 50000)",
        "ARRAY_CONCAT(big, big)", "ARRAY_APPEND(big, big)", "ARRAY_PREPEND(big, big)", "ARRAY_INSERT(big, 0, big)",
        "ARRAY_PUT(big, [big])", "ARRAY_OF(big, big)", "ARRAY_REPLACE(ARRAY_RANGE(0, 100), 1, big) || ''",
        "ARRAY_REPLACE(ARRAY_REPEAT(1, 1000), 1, big)", "ARRAY_UNION(big, [REPEAT('b', 12000000)])",
        "OBJECT_CONCAT({'a': big}, {'b': big})", "OBJECT_PUT({'a': big}, 'b', big)",
        "OBJECT_ADD({'a': big}, 'b', big)", "OBJECT_REPLACE({'a': 1, 'b': 1}, 1, big)",
        "ENCODE_JSON([big, big])",
    ])
    func aFunctionMakesNoMoreThanADocumentHasRoomFor(_ text: String) throws {
        let expression = try QueryExpression(parsing: text)
        let scope = QueryScope().with("big", .array([.string(String(repeating: "a", count: 12_000_000))]))
        let value = try? QueryEvaluator().evaluate(expression, scope)
        #expect(value == nil || value == .null, "\(text)")
    }

    // Aggregates.

    @Test func anAggregateOfTheLeastHoldsOneValue() throws {
        let long = String(repeating: "a", count: 1_000_000)
        for function in [AggregateFunction.minimum, .maximum] {
            var accumulator = AggregateAccumulator(
                AggregateKind(
                    function, isDistinct: false, QueryCollation(ignoresCase: true, ignoresDiacritics: false)))
            for number in 0..<40 { try accumulator.add(.string(long + String(number % 7)), size: long.utf8.count) }
            try accumulator.add(.null, size: 4)
            #expect(accumulator.value == .string(long + (function == .minimum ? "0" : "6")))
        }
        var distinct = AggregateAccumulator(AggregateKind(.arrayAggregate, isDistinct: true, .exact))
        for _ in 0..<40 { try distinct.add(.string(long), size: long.utf8.count) }
        #expect(distinct.value == .array([.string(long)]))
    }
}
