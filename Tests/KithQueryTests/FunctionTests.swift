import KithDocument
import KithQuery
import KithTestSupport
import Testing

/// Every function by its own example, and what the table says of MISSING and NULL.
@Suite struct FunctionTests {
    private func value(_ text: String) throws -> QueryValue {
        try QueryEvaluator(context: FunctionContext(now: 1_796_057_672_500, offset: 60)).constant(
            try QueryExpression(parsing: text))
    }

    @Test(arguments: QueryFunction.all.map(\.name)) func doesAsItsExampleSays(name: String) throws {
        let function = try #require(QueryFunction.named(name))
        #expect(try value(function.example.text) == value(function.example.result), "\(function.example.text)")
        for alias in function.aliases { #expect(QueryFunction.named(alias)?.name == name) }
        #expect(function.example.text.contains(name), "\(name)")
    }

    @Test(arguments: QueryFunction.all.map(\.name)) func givesUnknownForUnknown(name: String) throws {
        let function = try #require(QueryFunction.named(name))
        guard function.arity.lowerBound > 0 else { return }
        let known = [String](repeating: "1", count: function.arity.lowerBound)
        for index in known.indices {
            var arguments = known
            arguments[index] = "MISSING"
            let missing = "\(name)(\(arguments.joined(separator: ", ")))"
            arguments[index] = "NULL"
            let null = "\(name)(\(arguments.joined(separator: ", ")))"
            switch function.unknowns {
            case .propagated:
                #expect(try value(missing).isMissing, "\(missing)")
                #expect(try value(null).isNull, "\(null)")
            case .firstOnly:
                #expect(try value(missing).isMissing, "\(missing)")
                if index == 0 { #expect(try value(null).isNull, "\(null)") }
            case .own: _ = try value(missing)
            }
        }
    }

    /// Arguments of all types and at the edges: a value or an error, never a trap.
    @Test(arguments: 0..<4) func noArgumentsTrap(seed: UInt64) {
        var values = RandomValues(seed: seed)
        let evaluator = QueryEvaluator()
        let parts = ["day", "month", "millennium", "week", "quarter", "dow", "(a|b)*", "%", "YYYY-MM-DD", "+02:00"]
        for function in QueryFunction.all {
            for _ in 0..<8 {
                let most = min(function.arity.upperBound, function.arity.lowerBound + 2)
                let arguments = (0..<values.random.within(function.arity.lowerBound...most)).map { _ in
                    switch values.random.below(6) {
                    case 0: QueryExpression.literal(.number(Int64(bitPattern: values.random.next())))
                    case 1: QueryExpression.string(values.random.pick(parts))
                    case 2: QueryExpression.literal(.number(values.random.within(-40...40)))
                    default: values.any(depth: 2).json.map { QueryExpression.constant($0) } ?? .literal(.missing)
                    }
                }
                _ = try? evaluator.constant(QueryExpression(.call(function.name, arguments)))
            }
        }
    }

    @Test(arguments: [
        ("9223372036854775807 + 1", "9.223372036854776e18"), ("9007199254740993 - 1", "9007199254740992"),
        ("5 / 2", "2.5"), ("4 / 2", "2"),
        ("1 / 0", "NULL"), ("1 % 0", "NULL"), ("-7 % 3", "-1"), ("7.5 % 2", "1.5"), ("1e308 * 10", "NULL"),
        ("-9223372036854775808 % -1", "0"),
        ("'a' + 1", "NULL"), ("1 + NULL", "NULL"), ("NULL + MISSING", "MISSING"), ("'a' || 1", "NULL"),
        ("'a' || MISSING", "MISSING"),
        ("FALSE AND MISSING", "FALSE"), ("NULL AND MISSING", "MISSING"), ("TRUE AND NULL", "NULL"),
        ("TRUE OR MISSING", "TRUE"),
        ("NULL OR MISSING", "NULL"), ("FALSE OR MISSING", "MISSING"), ("NOT NULL", "NULL"), ("NOT MISSING", "MISSING"),
        ("NOT 5", "NULL"),
        ("'abc' > 5", "TRUE"), ("[1] < {}", "TRUE"), ("NULL = NULL", "NULL"), ("1 = MISSING", "MISSING"),
        ("1.0 = 1", "TRUE"), ("[NULL] = [NULL]", "TRUE"),
        ("9007199254740993 = 9007199254740992", "FALSE"), ("1e21 = 1000000000000000000000", "TRUE"),
        ("NULL IS NULL", "TRUE"), ("MISSING IS NULL", "MISSING"), ("MISSING IS NOT NULL", "MISSING"),
        ("1 IS NOT VALUED", "FALSE"), ("MISSING IS MISSING", "TRUE"),
        ("2 IN [1, 2.0]", "TRUE"), ("2 IN [1, NULL]", "FALSE"), ("NULL IN [NULL]", "NULL"), ("2 IN 5", "NULL"),
        ("MISSING NOT IN []", "MISSING"),
        ("5 BETWEEN 1 AND NULL", "NULL"), ("0 BETWEEN 1 AND NULL", "FALSE"), ("0 NOT BETWEEN 1 AND 2", "TRUE"),
        ("'100%' LIKE '100\\%'", "TRUE"), ("'100x' LIKE '100\\%'", "FALSE"), ("'a_b' LIKE 'a!_b' ESCAPE '!'", "TRUE"),
        ("'axb' LIKE 'a!_b' ESCAPE '!'", "FALSE"),
        ("'Äb' LIKE 'ä%'", "FALSE"), ("'Äb' COLLATE NOCASE LIKE 'ä_'", "TRUE"),
        ("'Äb' COLLATE (NOCASE NODIAC) = 'AB'", "TRUE"), ("5 LIKE '5'", "NULL"),
        ("'a' COLLATE NOCASE IN ['A']", "TRUE"), ("'crème' COLLATE NODIAC = 'creme'", "TRUE"),
        ("'cre\u{300}me' COLLATE NODIAC = 'creme'", "TRUE"), ("'é' = 'e\u{301}'", "FALSE"),
        ("CASE 2 WHEN 1 THEN 'a' WHEN 2 THEN 'b' END", "'b'"), ("CASE WHEN NULL THEN 1 END", "NULL"),
        ("CASE MISSING WHEN 1 THEN 2 ELSE 3 END", "3"),
        ("ANY x IN [1, 2] SATISFIES x = 2 END", "TRUE"), ("EVERY x IN [] SATISFIES x = 2 END", "TRUE"),
        ("ANY AND EVERY x IN [] SATISFIES x = 2 END", "FALSE"),
        ("ANY x IN NULL SATISFIES TRUE END", "NULL"), ("EVERY x IN MISSING SATISFIES TRUE END", "MISSING"),
        ("ANY x IN [[1], [2]] SATISFIES ANY y IN x SATISFIES y = 2 END END", "TRUE"),
        ("EXISTS [1]", "TRUE"), ("EXISTS []", "FALSE"), ("EXISTS 5", "FALSE"),
        ("{'a': MISSING, 'b': [MISSING]}", "{'b': [NULL]}"),
        ("[10, 20, 30][-1]", "30"), ("[10][5]", "MISSING"), ("{'a': {'b': 1}}.a.b", "1"), ("{'a': 1}['a']", "1"),
        ("'abc'[0]", "MISSING"), ("[{'a': 1}, {}, {'a': 2}][*].a", "[1, 2]"),
        ("ROUND(2.5)", "3"), ("ROUND(-2.5)", "-3"), ("ROUND(1234.5, -2)", "1200"), ("ROUND(99.99, 1)", "100"),
        ("ROUND(123456789012345678905, -1)", "123456789012345678910"),
        ("ROUND_EVEN(3.5)", "4"), ("TRUNC(0.9)", "0"), ("ROUND(5, -1)", "10"),
        ("FLOOR(123456789012345678901)", "123456789012345678901"),
        ("ABS(-123456789012345678901)", "123456789012345678901"), ("CEIL(1e300)", "1e300"),
        ("ARRAY_SUM([9223372036854775807, 1, -1])", "9223372036854775807"), ("SQRT(-1)", "NULL"), ("LN(0)", "NULL"),
        ("SUBSTR('漢字kana', -4)", "'kana'"), ("SUBSTR('abc', 3)", "''"), ("SUBSTR('abc', 4)", "NULL"),
        ("LENGTH('😀e\u{301}')", "3"), ("POSITION('漢字', '字')", "1"), ("POSITION('e\u{301}', 'e')", "0"),
        ("REPLACE('aaa', 'aa', 'b')", "'ba'"), ("SPLIT(' a  b ')", "['a', 'b']"),
        ("SPLIT('abab', 'ab')", "['', '', '']"), ("TONUMBER('abc')", "NULL"), ("TONUMBER(' 1')", "NULL"),
        ("TOSTRING([1])", "NULL"),
        ("STR_TO_MILLIS('1970-01-01')", "0"), ("STR_TO_MILLIS('2024-02-30')", "NULL"),
        ("STR_TO_MILLIS('2024-02-29T00:00:60Z')", "NULL"), ("STR_TO_MILLIS('yesterday')", "NULL"),
        ("MILLIS_TO_STR(-1)", "'1969-12-31T23:59:59.999Z'"), ("MILLIS_TO_STR(1e18)", "NULL"),
        ("DATE_ADD_STR('2024-02-29', 1, 'year')", "'2025-02-28'"),
        ("DATE_DIFF_STR('2024-03-31', '2024-02-29', 'month')", "1"),
        ("DATE_DIFF_STR('2024-03-28', '2024-02-29', 'month')", "0"), ("DATE_PART_STR('2021-01-03', 'iso_week')", "53"),
        ("DATE_PART_STR('2021-01-03', 'iso_year')", "2020"), ("DATE_PART_STR('2024-12-31', 'doy')", "366"),
        ("DATE_TRUNC_STR('2026-12-02T10:00:00+02:00', 'week')", "'2026-11-30T00:00:00+02:00'"),
        ("DATE_ADD_MILLIS(0, -9223372036854775808, 'year')", "NULL"),
        ("STR_TO_TZ('2026-11-30 16:54', 90)", "'2026-11-30 18:24'"),
        ("GREATEST('a', 5)", "'a'"), ("LEAST(NULL, MISSING)", "NULL"), ("DECODE(3, 1, 'one', 'many')", "'many'"),
        ("NULLIF(1, 2)", "1"), ("MISSINGIF(NULL, 1)", "NULL"),
        ("OBJECT_PUT({'a': 1}, 'a', MISSING)", "{}"), ("DECODE_JSON('{')", "NULL"),
    ]) func gives(text: String, result: String) throws {
        let found = try value(text)
        #expect(try found == value(result), "\(text) gave \(found)")
    }

    @Test func thereAreMoreThanCouchbaseLiteHas() {
        #expect(QueryFunction.all.count >= 130)
        let theirs = [
            "ARRAY_AVG", "ARRAY_CONTAINS", "ARRAY_COUNT", "ARRAY_IFNULL", "ARRAY_LENGTH", "ARRAY_MAX", "ARRAY_MIN",
            "ARRAY_OF", "ARRAY_SUM",
            "GREATEST", "LEAST", "IFMISSING", "IFNULL", "IFMISSINGORNULL", "MISSINGIF", "NULLIF", "MILLIS_TO_STR",
            "MILLIS_TO_UTC",
            "MILLIS_TO_TZ", "STR_TO_MILLIS", "STR_TO_UTC", "DATE_DIFF_STR", "DATE_DIFF_MILLIS", "DATE_ADD_STR",
            "DATE_ADD_MILLIS", "STR_TO_TZ",
            "ABS", "ACOS", "ASIN", "ATAN", "ATAN2", "CEIL", "COS", "DEGREES", "E", "EXP", "FLOOR", "LN", "LOG", "PI",
            "POWER", "RADIANS", "ROUND",
            "ROUND_EVEN", "SIGN", "SIN", "SQRT", "TAN", "TRUNC", "DIV", "IDIV", "REGEXP_CONTAINS", "REGEXP_LIKE",
            "REGEXP_POSITION",
            "REGEXP_REPLACE", "CONCAT", "CONTAINS", "LENGTH", "LOWER", "LTRIM", "RTRIM", "TRIM", "UPPER", "ISARRAY",
            "IS_ARRAY", "ISATOM", "IS_ATOM",
            "ISBOOLEAN", "IS_BOOLEAN", "ISNUMBER", "IS_NUMBER", "ISOBJECT", "IS_OBJECT", "ISSTRING", "IS_STRING",
            "TYPE", "TYPENAME", "TOARRAY",
            "TO_ARRAY", "TOATOM", "TO_ATOM", "TOBOOLEAN", "TO_BOOLEAN", "TONUMBER", "TO_NUMBER", "TOOBJECT",
            "TO_OBJECT", "TOSTRING", "TO_STRING",
        ]
        for name in theirs { #expect(QueryFunction.named(name) != nil, "\(name)") }
    }

    @Test func whatWouldBeHugeIsAnError() {
        for text in [
            "REPEAT('abc', 1000000000)", "ARRAY_RANGE(0, 1e9)", "ARRAY_REPEAT(1, 1000000)", "LPAD('a', 1000000000)",
            "DATE_RANGE_MILLIS(0, 200000000000, 'millisecond')",
            "REPLACE(REPEAT('a', 100000), 'a', REPEAT('b', 100000))",
            "REGEXP_REPLACE(REPEAT('a', 100000), 'a', REPEAT('b', 100000))",
        ] {
            #expect(throws: QueryError.self, "\(text)") { try value(text) }
        }
    }
}
