import KithDocument

extension QueryFunction {
    private static func object(
        _ name: String, _ parameters: String, unknowns: Unknowns = .propagated, _ summary: String, _ example: String,
        _ result: String, _ body: @escaping Body
    ) -> QueryFunction {
        QueryFunction(name, parameters, unknowns: unknowns, summary, example, result, in: .object, body)
    }

    static let objects: [QueryFunction] = [
        object("OBJECT_LENGTH", "object", "How many members it has.", "OBJECT_LENGTH({'a': 1, 'b': 2})", "2") {
            arguments in
            arguments.object(0).map { .number($0.count) } ?? .null
        },
        object("OBJECT_NAMES", "object", "The keys in their order.", "OBJECT_NAMES({'b': 1, 'a': 2})", "['a', 'b']") {
            arguments in
            arguments.object(0).map { .array($0.keys.map { .string($0) }) } ?? .null
        },
        object(
            "OBJECT_VALUES", "object", "The values in the order of their keys.", "OBJECT_VALUES({'b': 1, 'a': 2})",
            "[2, 1]"
        ) {
            arguments in arguments.object(0).map { .array($0.map(\.value)) } ?? .null
        },
        object(
            "OBJECT_PAIRS", "object", "An object of name and value for each member.", "OBJECT_PAIRS({'a': 1})",
            "[{'name': 'a', 'value': 1}]"
        ) { arguments throws(QueryError) in
            guard let object = arguments.object(0) else { return .null }
            return try .made(of: .array(object.map { ["name": .string($0.key), "value": $0.value] }))
        },
        object(
            "OBJECT_FIELD", "object, key", "The value of a member; MISSING where there is none.",
            "OBJECT_FIELD({'a': 1}, 'a')", "1"
        ) {
            arguments in
            guard let object = arguments.object(0), let key = arguments.string(1) else { return .null }
            return QueryValue(object[key])
        },
        object(
            "OBJECT_ADD", "object, key, value", unknowns: .firstOnly,
            "The object with a further member; unchanged where it has that key.",
            "OBJECT_ADD({'a': 1}, 'b', 2)", "{'a': 1, 'b': 2}"
        ) { arguments throws(QueryError) in
            guard var object = arguments.object(0), let key = arguments.string(1) else { return .null }
            if object[key] == nil { object[key] = arguments[2].element }
            return try .made(of: .object(object))
        },
        object(
            "OBJECT_PUT", "object, key, value",
            unknowns: .own("a MISSING value removes the member; NULL for an object that is NULL"),
            "The object with the value for that key.", "OBJECT_PUT({'a': 1}, 'a', 2)", "{'a': 2}"
        ) { arguments throws(QueryError) in
            if arguments[0].isMissing || arguments[1].isMissing { return .missing }
            guard var object = arguments.object(0), let key = arguments.string(1) else { return .null }
            object[key] = arguments[2].json
            return try .made(of: .object(object))
        },
        object(
            "OBJECT_REMOVE", "object, key, ...", "The object without members of these keys.",
            "OBJECT_REMOVE({'a': 1, 'b': 2}, 'a')", "{'b': 2}"
        ) {
            arguments in
            guard var object = arguments.object(0) else { return .null }
            for value in arguments.values.dropFirst() {
                guard let key = value.string else { return .null }
                object[key] = nil
            }
            return .object(object)
        },
        object(
            "OBJECT_RENAME", "object, key, other", "The object with a member under another key.",
            "OBJECT_RENAME({'a': 1}, 'a', 'b')", "{'b': 1}"
        ) {
            arguments in
            guard var object = arguments.object(0), let old = arguments.string(1), let new = arguments.string(2) else {
                return .null
            }
            if let value = object[old] {
                object[old] = nil
                object[new] = value
            }
            return .object(object)
        },
        object(
            "OBJECT_REPLACE", "object, old, new", unknowns: .firstOnly,
            "The object with the new value in each member that equals the old one.",
            "OBJECT_REPLACE({'a': 1, 'b': 2}, 1, 9)", "{'a': 9, 'b': 2}"
        ) { arguments throws(QueryError) in
            guard let object = arguments.object(0) else { return .null }
            let members = object.map {
                ($0.key, QueryValue($0.value) == arguments[1] ? arguments[2].element : $0.value)
            }
            return try .made(of: .object(JSONObject(members)))
        },
        object(
            "OBJECT_CONCAT", "object, object, ...", "The members of all; of one key the last.",
            "OBJECT_CONCAT({'a': 1}, {'a': 2, 'b': 3})", "{'a': 2, 'b': 3}"
        ) { arguments throws(QueryError) in
            var all = JSONObject()
            for value in arguments.values {
                guard let object = value.object else { return .null }
                for (key, value) in object { all[key] = value }
            }
            return try .made(of: .object(all))
        },
        object(
            "OBJECT_UNWRAP", "object", "The value of its only member; NULL where there are none or several.",
            "OBJECT_UNWRAP({'a': 1})", "1"
        ) { arguments in
            guard let object = arguments.object(0), object.count == 1 else { return .null }
            return QueryValue(object[0].value)
        },
    ]

    static let json: [QueryFunction] = [
        QueryFunction(
            "ENCODE_JSON", aliases: ["JSON_ENCODE"], "value", unknowns: .own("MISSING; 'null'"),
            "The value as canonical JSON text.",
            "ENCODE_JSON({'b': 1.0, 'a': []})", "'{\"a\":[],\"b\":1}'", in: .json
        ) { arguments throws(QueryError) in
            guard let json = arguments[0].json else { return .missing }
            return try .made(json.description)
        },
        QueryFunction(
            "DECODE_JSON", aliases: ["JSON_DECODE"], "string", "The value of a JSON text; NULL where it is none.",
            "DECODE_JSON('[1, 2]')",
            "[1, 2]", in: .json
        ) { arguments in
            guard let text = arguments.string(0), let value = try? JSONValue(parsing: text) else { return .null }
            return QueryValue(value)
        },
        QueryFunction(
            "ENCODED_SIZE", "value", unknowns: .own("MISSING; 4"), "The bytes of its canonical JSON.",
            "ENCODED_SIZE('é')", "4", in: .json
        ) { arguments in arguments[0].json.map { .number($0.canonicalBytes.count) } ?? .missing },
    ]
}
