import KithDocument

extension QueryFunction {
    private static func array(
        _ name: String, _ parameters: String, unknowns: Unknowns = .firstOnly, _ summary: String, _ example: String,
        _ result: String, _ body: @escaping Body
    ) -> QueryFunction {
        QueryFunction(
            name, parameters, unknowns: unknowns, summary, example, result, in: .array, body)
    }

    static let arrays: [QueryFunction] = [
        array(
            "ARRAY_APPEND", "array, value, ...", "The array with the values after its last element.",
            "ARRAY_APPEND([1, 2], 3, NULL)", "[1, 2, 3, NULL]"
        ) { arguments throws(QueryError) in try arguments.added(atEnd: true) },
        array(
            "ARRAY_PREPEND", "array, value, ...", "The array with the values before its first element.",
            "ARRAY_PREPEND([2, 3], 0, 1)", "[0, 1, 2, 3]"
        ) { arguments throws(QueryError) in try arguments.added(atEnd: false) },
        array(
            "ARRAY_CONCAT", "array, array, ...", unknowns: .propagated, "The elements of all the arrays.",
            "ARRAY_CONCAT([1], [2, 3])", "[1, 2, 3]"
        ) { arguments throws(QueryError) in
            var all: [JSONValue] = []
            for value in arguments.values {
                guard let array = value.array else { return .null }
                all += array
            }
            return try .made(of: .array(all))
        },
        array(
            "ARRAY_CONTAINS", "array, value", "Whether an element equals the value.", "ARRAY_CONTAINS([1, 2], 2.0)",
            "TRUE"
        ) { arguments in
            guard let array = arguments.array(0) else { return .null }
            return .bool(array.contains { QueryValue($0) == arguments[1] })
        },
        array(
            "ARRAY_POSITION", "array, value",
            "The place of the first element that equals the value, from 0; -1 for none.",
            "ARRAY_POSITION(['a', 'b'], 'b')", "1"
        ) { arguments in
            guard let array = arguments.array(0) else { return .null }
            return .number(array.firstIndex { QueryValue($0) == arguments[1] } ?? -1)
        },
        array(
            "ARRAY_INSERT", "array, place, value, ...",
            "The array with the values put in at a place, from 0, or from the end where it is below zero.",
            "ARRAY_INSERT([1, 4], 1, 2, 3)", "[1, 2, 3, 4]"
        ) { arguments throws(QueryError) in
            guard var array = arguments.array(0), let place = arguments.count(1) else { return .null }
            let (index, isTooFar) = place < 0 ? place.addingReportingOverflow(array.count) : (place, false)
            guard !isTooFar, (0...array.count).contains(index) else { return .null }
            array.insert(contentsOf: arguments.values[2...].map(\.element), at: index)
            return try .made(of: .array(array))
        },
        array(
            "ARRAY_PUT", "array, value, ...",
            "The array with those of the values at its end that it does not have yet.",
            "ARRAY_PUT([1, 2], 2, 3)", "[1, 2, 3]"
        ) { arguments throws(QueryError) in
            guard var array = arguments.array(0) else { return .null }
            for value in arguments.values.dropFirst() where !array.contains(where: { QueryValue($0) == value }) {
                array.append(value.element)
            }
            return try .made(of: .array(array))
        },
        array(
            "ARRAY_REMOVE", "array, value, ...", "The array without the elements that equal one of the values.",
            "ARRAY_REMOVE([1, 2, 1, 3], 1, 3)", "[2]"
        ) { arguments in
            guard let array = arguments.array(0) else { return .null }
            let values = arguments.values.dropFirst()
            return .array(array.filter { element in !values.contains { $0 == QueryValue(element) } })
        },
        array(
            "ARRAY_REPLACE", "array, old, new",
            "The array with the new value for each element that equals the old one.",
            "ARRAY_REPLACE([1, 2, 1], 1, 9)", "[9, 2, 9]"
        ) { arguments throws(QueryError) in
            guard let array = arguments.array(0) else { return .null }
            return try .made(of: .array(array.map { QueryValue($0) == arguments[1] ? arguments[2].element : $0 }))
        },
        array(
            "ARRAY_REVERSE", "array", "The elements from the last to the first.", "ARRAY_REVERSE([1, 2, 3])",
            "[3, 2, 1]"
        ) { arguments in arguments.array(0).map { .array($0.reversed()) } ?? .null },
        array(
            "ARRAY_SORT", "array", "The elements in the order of values.", "ARRAY_SORT(['b', 3, NULL, 'a'])",
            "[NULL, 3, 'a', 'b']"
        ) { arguments in
            arguments.array(0).map { .array($0.sorted { QueryValue($0) < QueryValue($1) }) } ?? .null
        },
        array(
            "ARRAY_FLATTEN", "array, depth",
            "The array with the elements of the arrays in it in their place, so many levels deep; -1 for all.",
            "ARRAY_FLATTEN([1, [2, [3]]], 1)", "[1, 2, [3]]"
        ) { arguments in
            guard let array = arguments.array(0), let depth = arguments.count(1) else { return .null }
            return .array(flattened(array, depth: depth < 0 ? DocumentLimits.depth : min(depth, DocumentLimits.depth)))
        },
        array(
            "ARRAY_RANGE", "start, end[, step]", unknowns: .propagated,
            "Numbers from the start on, without the end. The step is 1 where none is given.", "ARRAY_RANGE(0, 10, 3)",
            "[0, 3, 6, 9]"
        ) { arguments throws(QueryError) in try range(arguments) },
        array(
            "ARRAY_REPEAT", "value, count", "An array with the value so many times.", "ARRAY_REPEAT('a', 3)",
            "['a', 'a', 'a']"
        ) { arguments throws(QueryError) in
            guard let count = arguments.count(1), count >= 0 else { return .null }
            guard count <= QueryLimits.madeElements else { throw QueryValue.tooManyElements }
            let element = arguments[0].element
            guard let size = element.size(atMost: QueryLimits.stringBytes), size * count <= QueryLimits.stringBytes
            else { throw QueryValue.tooLarge }
            return .array(Array(repeating: element, count: count))
        },
        array(
            "ARRAY_OF", "[value, ...]", unknowns: .own("as NULL elements"), "An array of the values, as [ ] makes it.",
            "ARRAY_OF(1, 'a', MISSING)", "[1, 'a', NULL]"
        ) { arguments throws(QueryError) in try .made(of: .array(arguments.values.map(\.element))) },
    ]

    /// Level by level.
    private static func flattened(_ array: [JSONValue], depth: Int) -> [JSONValue] {
        var flattened = array
        for _ in 0..<depth where flattened.contains(where: { $0.array != nil }) {
            flattened = flattened.flatMap { $0.array ?? [$0] }
        }
        return flattened
    }

    private static func range(_ arguments: FunctionArguments) throws(QueryError) -> QueryValue {
        guard let start = arguments.number(0), let end = arguments.number(1) else { return .null }
        let step = arguments.has(2) ? arguments.number(2) : JSONNumber(1)
        guard let step, step.text != "0" else { return .null }
        let isUp = !step.text.hasPrefix("-")
        var (numbers, next): ([JSONValue], JSONNumber) = ([], start)
        while next.order(to: end) == (isUp ? .less : .greater) {
            guard numbers.count < QueryLimits.madeElements else { throw QueryValue.tooManyElements }
            numbers.append(.number(next))
            guard case .number(let sum) = Arithmetic.apply(.plus, next, step), sum.order(to: next) != .equal else {
                break
            }
            next = sum
        }
        return .array(numbers)
    }
}

extension FunctionArguments {
    fileprivate func added(atEnd: Bool) throws(QueryError) -> QueryValue {
        guard let array = array(0) else { return .null }
        let others = values.dropFirst().map(\.element)
        return try .made(of: .array(atEnd ? array + others : others + array))
    }
}
