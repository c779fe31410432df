import KithDocument
import KithQuery
import KithTestSupport

/// Documents and queries over them, drawn from a seed: few fields with few values, so that conditions meet something.
struct RandomQueries {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    static let parameters = ParameterValues(
        ["p": "b", "n": 2, "nothing": .null, "list": ["a", 1, .null], "é": true], positional: [])

    private static let numbers = [
        "0", "1", "2", "-1", "10", "1.5", "0.25", "-0.5", "9007199254740993", "9223372036854775808",
        "123456789012345678901234567890", "1e300", "-1e-300",
    ]

    private static let strings = [
        "", "a", "b", "ab", "abc", "B", "É", "é", "e\u{301}", "\0", "a\0b", "漢字", "😀", "\u{10FFFF}", "%", "_", "'",
        "''; DROP TABLE documents --", "\"", "\\", "\u{7F}", "\n", "2026-11-30T16:54:32Z", "10",
    ]

    private static let fields = [
        "a", "b", "c", "n", "s", "tags", "items", "o", "é", "e\u{301}", "x y", "\"", "", "漢", "order",
    ]

    static func number(_ text: String) -> JSONNumber { try! JSONValue(parsing: text).number! }

    // Documents.

    mutating func documents(_ count: Int) -> [JSONObject] { (0..<count).map { _ in document() } }

    mutating func document() -> JSONObject {
        var object = JSONObject()
        for field in Self.fields where random.chance(3, in: 5) {
            object[field] =
                switch field {
                case "n" where random.chance(4, in: 5): .number(random.within(-3...5))
                case "s" where random.chance(4, in: 5): .string(random.pick(Self.strings))
                case "tags" where random.chance(4, in: 5): .array((0..<random.below(4)).map { _ in atom() })
                case "items" where random.chance(4, in: 5):
                    .array(
                        (0..<random.below(4)).map { _ in
                            random.chance(1, in: 6) ? atom() : .object(["k": atom(), "v": atom()])
                        })
                default: value(depth: 2)
                }
        }
        return object
    }

    mutating func atom() -> JSONValue {
        switch random.below(8) {
        case 0: .null
        case 1: .bool(random.chance(1, in: 2))
        case 2, 3: .string(random.pick(Self.strings))
        case 4, 5: .number(random.within(-2...3))
        default: .number(Self.number(random.pick(Self.numbers)))
        }
    }

    mutating func value(depth: Int) -> JSONValue {
        guard depth > 0, random.chance(1, in: 3) else { return atom() }
        if random.chance(1, in: 2) { return .array((0..<random.below(4)).map { _ in value(depth: depth - 1) }) }
        return .object(
            JSONObject((0..<random.below(4)).map { _ in (random.pick(Self.fields), value(depth: depth - 1)) }))
    }

    // Expressions, over a document with an alias or a variable.

    mutating func literal() -> QueryExpression {
        switch random.below(12) {
        case 0: return .literal(.missing)
        case 1:
            return QueryExpression(.parameter(.named(random.pick(["p", "n", "nothing", "list", "é"]))))
        default: return .literal(QueryValue(atom()))
        }
    }

    mutating func path(_ alias: String) -> QueryExpression {
        var steps: [PathStep] = [.member(random.pick(Self.fields))]
        while random.chance(1, in: 4) {
            switch random.below(5) {
            case 0: steps.append(.element(.literal(.number(random.within(-2...2)))))
            case 1: steps.append(.element(.string(random.pick(Self.fields))))
            case 2: steps.append(.each)
            default: steps.append(.member(random.pick(Self.fields)))
            }
        }
        return QueryExpression(.path(.identifier(alias), steps))
    }

    mutating func leaf(_ names: [String]) -> QueryExpression {
        let name = random.pick(names)
        switch random.below(10) {
        case 0, 1, 2: return literal()
        case 3: return .identifier(name)
        case 4 where name == "d" || name == "e":
            let member = random.pick(["id", "sequence", "revision", "edited", "deleted", "expires"])
            return QueryExpression(.path(QueryExpression(.metadata(name)), [.member(member)]))
        default: return path(name)
        }
    }

    private static let functions = [
        ("LOWER", 1), ("LENGTH", 1), ("TYPE", 1), ("ARRAY_LENGTH", 1), ("ABS", 1), ("ISSTRING", 1), ("TOSTRING", 1),
        ("IFMISSINGORNULL", 2), ("ARRAY_CONTAINS", 2), ("CONTAINS", 2), ("NOW_MILLIS", 0), ("ENCODE_JSON", 1),
        ("OBJECT_NAMES", 1), ("ARRAY_SORT", 1), ("MILLIS_TO_LOCAL", 1),
    ]

    mutating func expression(_ names: [String], _ depth: Int) -> QueryExpression {
        guard depth > 0, random.chance(3, in: 5) else { return leaf(names) }
        let depth = depth - 1
        switch random.below(13) {
        case 0: return condition(names, depth)
        case 1:
            return QueryExpression(
                .sum(
                    expression(names, depth),
                    [ArithmeticTerm(random.pick([.plus, .minus]), expression(names, depth))]))
        case 2:
            return QueryExpression(
                .product(
                    expression(names, depth),
                    [ArithmeticTerm(random.pick([.times, .divided, .remainder]), expression(names, depth))]))
        case 3: return QueryExpression(.concatenation([expression(names, depth), expression(names, depth)]))
        case 4: return QueryExpression(.array([expression(names, depth), expression(names, depth)]))
        case 5: return QueryExpression(.object([ObjectMember("k", expression(names, depth))]))
        case 6: return QueryExpression(.path(expression(names, depth), [.element(expression(names, depth))]))
        case 7: return collated(names, depth)
        case 8:
            return QueryExpression(
                .cases(
                    CaseExpression(
                        operand: random.chance(1, in: 2) ? expression(names, depth) : nil,
                        branches: [CaseBranch(when: expression(names, depth), then: expression(names, depth))],
                        otherwise: random.chance(1, in: 2) ? expression(names, depth) : nil)))
        case 9, 10:
            let (name, count) = random.pick(Self.functions)
            return QueryExpression(.call(name, (0..<count).map { _ in expression(names, depth) }))
        default: return path(random.pick(names))
        }
    }

    private mutating func collated(_ names: [String], _ depth: Int) -> QueryExpression {
        QueryExpression(
            .collated(
                expression(names, depth),
                QueryCollation(ignoresCase: random.chance(1, in: 2), ignoresDiacritics: random.chance(1, in: 2))))
    }

    mutating func condition(_ names: [String], _ depth: Int) -> QueryExpression {
        let isNegated = random.chance(1, in: 3)
        let inner = max(0, depth - 1)
        func side(_ generator: inout RandomQueries) -> QueryExpression { generator.expression(names, inner) }
        switch random.below(depth > 0 ? 15 : 9) {
        case 0, 1, 2:
            return QueryExpression(
                .comparison(random.pick(ComparisonOperator.allCases), path(random.pick(names)), literal()))
        case 3:
            return QueryExpression(.comparison(random.pick(ComparisonOperator.allCases), side(&self), side(&self)))
        case 4: return QueryExpression(.test(side(&self), random.pick(ValueTest.allCases), isNegated: isNegated))
        case 5:
            let list = (0..<random.below(4)).map { _ in
                switch random.below(5) {
                case 0: side(&self)
                case 1, 2: collatedLiteral()
                default: literal()
                }
            }
            return QueryExpression(
                .membership(
                    random.chance(1, in: 2) ? path(random.pick(names)) : side(&self),
                    in: random.chance(1, in: 4) ? side(&self) : QueryExpression(.array(list)), isNegated: isNegated))
        case 6: return QueryExpression(.between(side(&self), low: side(&self), high: side(&self), isNegated: isNegated))
        case 7:
            let pattern: QueryExpression =
                random.chance(3, in: 4)
                ? .string(random.pick(["a%", "%b", "_", "a_%", "", "%", "ab", "É%", "\\%"])) : side(&self)
            return QueryExpression(.like(side(&self), pattern: pattern, escape: nil, isNegated: isNegated))
        case 8: return membershipOfField(names, isNegated: isNegated)
        case 9: return QueryExpression(.and((0..<random.within(2...3)).map { _ in condition(names, inner) }))
        case 10: return QueryExpression(.or((0..<random.within(2...3)).map { _ in condition(names, inner) }))
        case 11: return QueryExpression(.not(condition(names, inner)))
        case 12: return quantified(names, inner)
        // Fails where what is found is no pattern.
        case 13:
            let pattern = QueryExpression(.path(.identifier(random.pick(names)), [.member("s")]))
            return .call("REGEXP_CONTAINS", .string("a"), pattern)
        default: return QueryExpression(.exists(side(&self)))
        }
    }

    /// What array indexes are for.
    private mutating func membershipOfField(_ names: [String], isNegated: Bool) -> QueryExpression {
        let array = QueryExpression(.path(.identifier(random.pick(names)), [.member("tags")]))
        if random.chance(1, in: 2) {
            return .call("ARRAY_CONTAINS", array, random.chance(1, in: 3) ? .literal(.null) : literal())
        }
        let wanted = random.chance(1, in: 3) ? collatedLiteral() : literal()
        return QueryExpression(.membership(wanted, in: array, isNegated: isNegated))
    }

    private mutating func collatedLiteral() -> QueryExpression {
        QueryExpression(
            .collated(
                random.chance(1, in: 4) ? .literal(.null) : literal(),
                QueryCollation(ignoresCase: random.chance(1, in: 2), ignoresDiacritics: random.chance(1, in: 2))))
    }

    private mutating func quantified(_ names: [String], _ depth: Int) -> QueryExpression {
        let array = QueryExpression(
            .path(.identifier(random.pick(names)), [.member(random.pick(["tags", "items", "o"]))]))
        // A name that nothing around it has, as it takes to make sense.
        let variable = random.pick(["x", "y", "z", "v"].filter { !names.contains($0) })
        return QueryExpression(
            .quantified(
                QuantifiedExpression(
                    random.pick(QuantifiedExpression.Quantifier.allCases), variable,
                    in: random.chance(4, in: 5) ? array : expression(names, depth),
                    satisfies: elementCondition(variable, names, depth))))
    }

    private mutating func elementCondition(
        _ variable: String, _ names: [String], _ depth: Int
    ) -> QueryExpression {
        let element =
            random.chance(1, in: 2)
            ? QueryExpression.identifier(variable) : QueryExpression(.path(.identifier(variable), [.member("k")]))
        let simple = QueryExpression(.comparison(random.pick(ComparisonOperator.allCases), element, literal()))
        if random.chance(1, in: 2) { return simple }
        return QueryExpression(.and([simple, condition(names + [variable], depth)]))
    }

    // Queries whose rows have no order, or one that leaves nothing open.

    mutating func statement() -> QueryStatement {
        var statement = QueryStatement(selection: .columns([]), from: QuerySource("things", alias: "d"))
        var names = ["d"]
        if random.chance(1, in: 4) { statement.joins.append(join(&names)) }
        if random.chance(1, in: 8) { statement.joins.append(join(&names)) }
        if random.chance(1, in: 8) {
            statement.bindings = [QueryBinding("l", expression(names, 2))]
            names.append("l")
        }
        if random.chance(4, in: 5) { statement.filter = condition(names, 3) }
        if random.chance(1, in: 4) {
            group(&statement, names)
        } else {
            select(&statement, names)
        }
        return statement
    }

    private mutating func join(_ names: inout [String]) -> QueryJoin {
        if !names.contains("e"), random.chance(1, in: 3) {
            let inner = names + ["e"]
            names = inner
            let source = QuerySource("things", alias: "e")
            switch random.below(3) {
            case 0: return .cross(source)
            case 1: return .inner(source, on: condition(inner, 1))
            default: return .left(source, on: condition(inner, 1))
            }
        }
        let alias = names.contains("t") ? "t2" : "t"
        let array =
            random.chance(3, in: 4)
            ? QueryExpression(.path(.identifier("d"), [.member(random.pick(["tags", "items"]))])) : expression(names, 1)
        names.append(alias)
        return .unnest(array, alias: alias, isLeft: random.chance(1, in: 3), .none)
    }

    private mutating func select(_ statement: inout QueryStatement, _ names: [String]) {
        statement.isDistinct = random.chance(1, in: 4)
        if random.chance(1, in: 3) {
            statement.selection = .raw(expression(names, 2))
        } else {
            statement.selection = .columns(
                (0..<random.within(1...3)).map { column in
                    switch random.below(8) {
                    case 0 where column == 0: .all(.none)
                    case 1 where column == 0: .members(.identifier(random.pick(names)))
                    default: .value(expression(names, 2), alias: "c\(column)")
                    }
                })
        }
        let isUnique = statement.joins.isEmpty && !statement.isDistinct
        guard isUnique, random.chance(1, in: 3) else { return }
        statement.order = [
            QueryOrdering(
                expression(names, 1), isDescending: random.chance(1, in: 2),
                nullsFirst: random.pick([nil, nil, true, false])),
            QueryOrdering(QueryExpression(.path(QueryExpression(.metadata("d")), [.member("id")]))),
        ]
        if random.chance(1, in: 2) { statement.limit = .literal(.number(random.below(6))) }
        if random.chance(1, in: 3) { statement.offset = .literal(.number(random.below(3))) }
    }

    /// Aggregates that don't hang on the order of rows.
    private mutating func aggregate(_ names: [String]) -> QueryExpression {
        let argument = random.chance(1, in: 3) ? expression(names, 1) : path(random.pick(names))
        let isDistinct = random.chance(1, in: 3)
        switch random.below(7) {
        case 0: return QueryExpression(.aggregate(.count, nil, isDistinct: false))
        case 1: return QueryExpression(.aggregate(.count, argument, isDistinct: isDistinct))
        case 2: return QueryExpression(.aggregate(.minimum, argument, isDistinct: isDistinct))
        case 3: return QueryExpression(.aggregate(.maximum, argument, isDistinct: isDistinct))
        case 4:
            return QueryExpression(
                .aggregate(.sum, QueryExpression(.path(.identifier("d"), [.member("n")])), isDistinct: isDistinct))
        case 5:
            return QueryExpression(
                .aggregate(.average, QueryExpression(.path(.identifier("d"), [.member("n")])), isDistinct: false))
        default:
            return .call("ARRAY_SORT", QueryExpression(.aggregate(.arrayAggregate, argument, isDistinct: isDistinct)))
        }
    }

    private mutating func group(_ statement: inout QueryStatement, _ names: [String]) {
        let keys = (0..<random.below(3)).map { _ in
            random.chance(1, in: 3) ? expression(names, 1) : path(random.pick(names))
        }
        statement.groups = keys.map { QueryGroup($0) }
        var columns: [QueryColumn] = []
        for (index, key) in keys.enumerated() where random.chance(2, in: 3) {
            columns.append(.value(key, alias: "k\(index)"))
        }
        for index in 0..<random.within(1...2) { columns.append(.value(aggregate(names), alias: "a\(index)")) }
        statement.selection = .columns(columns)
        statement.isDistinct = random.chance(1, in: 5)
        if random.chance(1, in: 3) {
            statement.groupFilter = QueryExpression(
                .comparison(random.pick(ComparisonOperator.allCases), aggregate(names), literal()))
        }
    }
}
