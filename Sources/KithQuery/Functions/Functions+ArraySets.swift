import KithDocument

// Arrays as numbers to reckon with, and as sets.
extension QueryFunction {
    static let arrayAggregates: [QueryFunction] = [
        reckoning(
            "ARRAY_AVG", "The mean of the numbers in it; NULL where there are none.", "ARRAY_AVG([1, 2, 'a'])", "1.5"
        ) {
            AggregateValue.average(of: $0)
        },
        reckoning("ARRAY_SUM", "The sum of the numbers in it.", "ARRAY_SUM([1, 2, 'a'])", "3") {
            AggregateValue.sum(of: $0)
        },
        reckoning("ARRAY_COUNT", "How many elements are not NULL.", "ARRAY_COUNT([1, NULL, 2])", "2") { elements in
            .number(elements.count { !$0.isNull })
        },
        reckoning("ARRAY_LENGTH", "How many elements it has.", "ARRAY_LENGTH([1, NULL, 2])", "3") { .number($0.count) },
        reckoning(
            "ARRAY_MIN", "The least element in the order of values, NULL apart.", "ARRAY_MIN([3, NULL, 1])", "1"
        ) { elements in AggregateValue.least(of: elements) },
        reckoning(
            "ARRAY_MAX", "The greatest element in the order of values.", "ARRAY_MAX([3, NULL, 1])", "3"
        ) { elements in AggregateValue.greatest(of: elements) },
        reckoning(
            "ARRAY_IFNULL", "The first element that is not NULL; NULL where there is none.",
            "ARRAY_IFNULL([NULL, 1, 2])", "1"
        ) { elements in elements.first { !$0.isNull } ?? .null },
    ]

    private static func reckoning(
        _ name: String, _ summary: String, _ example: String, _ result: String,
        _ body: @escaping @Sendable ([QueryValue]) -> QueryValue
    ) -> QueryFunction {
        QueryFunction(name, "array", summary, example, result, in: .array) { arguments in
            arguments.array(0).map { body($0.map { QueryValue($0) }) } ?? .null
        }
    }

    static let arraySets: [QueryFunction] = [
        QueryFunction(
            "ARRAY_DISTINCT", "array", "The array without the elements that equal one before them.",
            "ARRAY_DISTINCT([1, 2, 1.0])", "[1, 2]", in: .array
        ) { arguments in
            guard let array = arguments.array(0) else { return .null }
            return .array(distinct(array))
        },
        QueryFunction(
            "ARRAY_UNION", "array, array, ...", "The elements that are in one of the arrays, each once.",
            "ARRAY_UNION([1, 2], [2, 3])", "[1, 2, 3]", in: .array
        ) { arguments throws(QueryError) in
            var all: [JSONValue] = []
            for value in arguments.values {
                guard let array = value.array else { return .null }
                all += array
            }
            return try .made(of: .array(distinct(all)))
        },
        QueryFunction(
            "ARRAY_INTERSECT", "array, array, ...", "The elements that are in all the arrays, each once.",
            "ARRAY_INTERSECT([1, 2, 3], [3, 2])", "[2, 3]", in: .array
        ) { arguments in
            guard var kept = arguments.array(0) else { return .null }
            for value in arguments.values.dropFirst() {
                guard let array = value.array else { return .null }
                let keys = keys(of: array)
                kept = kept.filter { keys.contains(ValueKey(QueryValue($0))) }
            }
            return .array(distinct(kept))
        },
        QueryFunction(
            "ARRAY_EXCEPT", "array, array", "The elements of the first array that the second one does not have.",
            "ARRAY_EXCEPT([1, 2, 3], [2])", "[1, 3]", in: .array
        ) { arguments in
            guard let array = arguments.array(0), let other = arguments.array(1) else { return .null }
            return .array(difference(array, other))
        },
        QueryFunction(
            "ARRAY_SYMDIFF", "array, array", "The elements that only one of the two arrays has, each once.",
            "ARRAY_SYMDIFF([1, 2], [2, 3])", "[1, 3]", in: .array
        ) { arguments throws(QueryError) in
            guard let array = arguments.array(0), let other = arguments.array(1) else { return .null }
            return try .made(of: .array(distinct(difference(array, other) + difference(other, array))))
        },
    ]

    private static func keys(of array: [JSONValue]) -> Set<ValueKey> { Set(array.map { ValueKey(QueryValue($0)) }) }

    private static func difference(_ array: [JSONValue], _ other: [JSONValue]) -> [JSONValue] {
        let keys = keys(of: other)
        return array.filter { !keys.contains(ValueKey(QueryValue($0))) }
    }

    private static func distinct(_ array: [JSONValue]) -> [JSONValue] {
        var seen: Set<ValueKey> = []
        return array.filter { seen.insert(ValueKey(QueryValue($0))).inserted }
    }
}
