import KithDocument

extension QueryFunction {
    private static func test(
        _ name: String, _ summary: String, _ example: String, _ result: String,
        _ body: @escaping @Sendable (QueryValue) -> Bool
    ) -> QueryFunction {
        QueryFunction(
            "IS\(name)", aliases: ["IS_\(name)"], "value", "Whether it is \(summary).", example, result, in: .type
        ) { .bool(body($0[0])) }
    }

    private static func conversion(
        _ name: String, _ summary: String, _ example: String, _ result: String,
        _ body: @escaping @Sendable (QueryValue) -> QueryValue
    ) -> QueryFunction {
        QueryFunction("TO\(name)", aliases: ["TO_\(name)"], "value", summary, example, result, in: .type) {
            body($0[0])
        }
    }

    static let types: [QueryFunction] = [
        QueryFunction(
            "TYPE", aliases: ["TYPENAME"], "value", unknowns: .own("'missing', 'null'"),
            "The name of its type: 'missing', 'null', 'boolean', 'number', 'string', 'array' or 'object'.", "TYPE([])",
            "'array'", in: .type
        ) { .string($0[0].typeName) },
        test("ARRAY", "an array", "ISARRAY([1])", "TRUE") { $0.array != nil },
        test("ATOM", "a boolean, a number or a string", "ISATOM('a')", "TRUE") { $0.array == nil && $0.object == nil },
        test("BOOLEAN", "TRUE or FALSE", "ISBOOLEAN(FALSE)", "TRUE") { $0.typeName == "boolean" },
        test("NUMBER", "a number", "ISNUMBER('1')", "FALSE") { $0.number != nil },
        test("OBJECT", "an object", "ISOBJECT({'a': 1})", "TRUE") { $0.object != nil },
        test("STRING", "a string", "ISSTRING('a')", "TRUE") { $0.string != nil },
        conversion("ARRAY", "The array itself, or an array of the value.", "TOARRAY(1)", "[1]") { value in
            value.array == nil ? .array([value.element]) : value
        },
        conversion(
            "ATOM", "The boolean, number or string itself, or that of an array or object of one; NULL for others.",
            "TOATOM([['a']])", "'a'"
        ) { atom(of: $0) },
        conversion(
            "BOOLEAN", "FALSE for FALSE, 0, '', [] and {}; TRUE for others.", "TOBOOLEAN('a')", "TRUE"
        ) { value in
            switch value {
            case .bool(let bool): .bool(bool)
            case .number(let number): .bool(number.text != "0")
            case .string(let string): .bool(!string.isEmpty)
            case .array(let array): .bool(!array.isEmpty)
            case .object(let object): .bool(!object.isEmpty)
            case .null, .missing: value
            }
        },
        conversion(
            "NUMBER",
            "The number itself, that of a text that is one as JSON has them, 1 for TRUE and 0 for FALSE; NULL for others.",
            "TONUMBER('1.50')", "1.5"
        ) { value in
            switch value {
            case .number: value
            case .bool(let bool): .number(bool ? 1 : 0)
            case .string(let string): number(in: string).map { .number($0) } ?? .null
            default: .null
            }
        },
        conversion("OBJECT", "The object itself; an empty one for others.", "TOOBJECT('a')", "{}") { value in
            value.object == nil ? .object(JSONObject()) : value
        },
        conversion(
            "STRING", "The string itself, or the text of a boolean or number; NULL for others.", "TOSTRING(1.50)",
            "'1.5'"
        ) {
            switch $0 {
            case .string: $0
            case .bool(let bool): .string(bool ? "true" : "false")
            case .number(let number): .string(number.text)
            default: .null
            }
        },
    ]

    private static func atom(of value: QueryValue) -> QueryValue {
        var value = value
        while true {
            switch value {
            case .array(let array) where array.count == 1: value = QueryValue(array[0])
            case .object(let object) where object.count == 1: value = QueryValue(object[0].value)
            case .array, .object: return .null
            default: return value
            }
        }
    }

    private static func number(in text: String) -> JSONNumber? {
        // Nothing but numbers: a text may be large, and something else.
        guard let first = text.utf8.first, first == 0x2D || first.isDecimalDigit,
            text.utf8.allSatisfy({ $0.isDecimalDigit || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains($0) })
        else { return nil }
        return (try? JSONValue(parsing: text))?.number
    }

    static let conditionals: [QueryFunction] = [
        conditional(
            "IFMISSING", "value, value, ...", unknowns: "the first that is not MISSING",
            "The first value that is not MISSING; NULL where all are.",
            "IFMISSING(MISSING, NULL, 1)", "NULL"
        ) { arguments in arguments.values.first { !$0.isMissing } ?? .null },
        conditional(
            "IFNULL", "value, value, ...", unknowns: "the first that is not NULL",
            "The first value that is not NULL; NULL where all are.",
            "IFNULL(NULL, 1, 2)", "1"
        ) { arguments in arguments.values.first { !$0.isNull } ?? .null },
        conditional(
            "IFMISSINGORNULL", aliases: ["COALESCE"], "value, value, ...", unknowns: "the first that is neither",
            "The first value that is neither MISSING nor NULL; NULL where there is none.",
            "IFMISSINGORNULL(MISSING, NULL, 1)", "1"
        ) { arguments in arguments.values.first { $0.isValued } ?? .null },
        QueryFunction(
            "MISSINGIF", "value, other", "MISSING where the two are equal, else the first.", "MISSINGIF('', '')",
            "MISSING",
            in: .conditional
        ) { $0[0] == $0[1] ? .missing : $0[0] },
        QueryFunction(
            "NULLIF", "value, other", "NULL where the two are equal, else the first.", "NULLIF(0, 0)", "NULL",
            in: .conditional
        ) { $0[0] == $0[1] ? .null : $0[0] },
        conditional(
            "NVL", "value, other", unknowns: "the other", "The first, or the other where it is MISSING or NULL.",
            "NVL(NULL, 'none')", "'none'"
        ) { $0[0].isValued ? $0[0] : $0[1] },
        conditional(
            "NVL2", "value, one, other", unknowns: "the other",
            "One where the value is neither MISSING nor NULL, else the other.",
            "NVL2(NULL, 'known', 'unknown')", "'unknown'"
        ) { $0[0].isValued ? $0[1] : $0[2] },
        conditional(
            "DECODE", "value, case, result, ...", unknowns: "compared as values",
            "The result after the first case that the value equals; else the last argument where one is left over; else NULL.",
            "DECODE(2, 1, 'one', 2, 'two', 'many')", "'two'"
        ) { arguments in
            var index = 1
            while index + 1 < arguments.count {
                if arguments[0] == arguments[index] { return arguments[index + 1] }
                index += 2
            }
            return index < arguments.count ? arguments[index] : .null
        },
        conditional(
            "GREATEST", "value, value, ...", unknowns: "left out",
            "The greatest in the order of values; NULL where there is none.",
            "GREATEST(1, NULL, 3, 2)", "3"
        ) { AggregateValue.greatest(of: $0.values) },
        conditional(
            "LEAST", "value, value, ...", unknowns: "left out",
            "The least in the order of values; NULL where there is none.",
            "LEAST(3, NULL, 1, 2)", "1"
        ) { AggregateValue.least(of: $0.values) },
    ]

    private static func conditional(
        _ name: String, aliases: [String] = [], _ parameters: String, unknowns: String, _ summary: String,
        _ example: String, _ result: String, _ body: @escaping Body
    ) -> QueryFunction {
        QueryFunction(
            name, aliases: aliases, parameters, unknowns: .own(unknowns), summary, example, result, in: .conditional,
            body)
    }
}
