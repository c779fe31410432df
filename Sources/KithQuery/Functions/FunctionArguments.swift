import KithDocument

/// What functions ask for besides their arguments.
package struct FunctionContext {
    /// The time of the query since 1970: the same for all its rows.
    package let now: Int64
    /// Minutes that this machine's clock is ahead of UTC.
    package let offset: Int
    let patterns: PatternCache
    /// Nil for work without a bound.
    let work: QueryWork?

    package init(now: Int64 = 0, offset: Int = 0, work: QueryWork? = nil) {
        self.now = now
        self.offset = offset
        self.work = work
        patterns = PatternCache()
    }
}

/// Patterns that were compiled, for the rows of one query.
final class PatternCache {
    /// By their bytes.
    private var compiled: [[UInt8]: RegularExpression] = [:]

    func pattern(_ text: String) throws(QueryError) -> RegularExpression {
        let key = Array(text.utf8)
        if let known = compiled[key] { return known }
        let pattern = try RegularExpression(text)
        if compiled.count >= QueryLimits.cachedPatterns { compiled.removeAll() }
        compiled[key] = pattern
        return pattern
    }
}

/// The arguments of a call, as the types that are asked for.
struct FunctionArguments {
    let values: [QueryValue]
    let context: FunctionContext

    var count: Int { values.count }

    subscript(_ index: Int) -> QueryValue { values[index] }

    /// MISSING, else NULL, where an argument is.
    var unknown: QueryValue? {
        if values.contains(where: \.isMissing) { return .missing }
        return values.contains(where: \.isNull) ? .null : nil
    }

    func has(_ index: Int) -> Bool { index < values.count }

    func string(_ index: Int) -> String? { has(index) ? values[index].string : nil }

    func array(_ index: Int) -> [JSONValue]? { has(index) ? values[index].array : nil }

    func object(_ index: Int) -> JSONObject? { has(index) ? values[index].object : nil }

    func number(_ index: Int) -> JSONNumber? { has(index) ? values[index].number : nil }

    /// An integer that a place or a count can be.
    func count(_ index: Int) -> Int? { number(index)?.count }

    /// A time between the years 0 and 9999, in milliseconds since 1970. What is below a millisecond is left out.
    func time(_ index: Int) -> Int64? {
        guard let number = number(index) else { return nil }
        let time = number.integer ?? Int64(exactly: number.double.rounded(.down))
        return time.flatMap { CivilDate.range.contains($0) ? $0 : nil }
    }

    func date(_ index: Int) -> DateText? { string(index).flatMap { DateText($0) } }

    func part(_ index: Int) -> DatePart? { string(index).flatMap { DatePart($0) } }

    /// A function of doubles.
    func real(_ body: (Double) -> Double) -> QueryValue {
        guard let number = number(0) else { return .null }
        return .number(body(number.double))
    }

    /// A function of two strings.
    func strings(_ body: (String, String) -> QueryValue) -> QueryValue {
        guard let one = string(0), let other = string(1) else { return .null }
        return body(one, other)
    }

    /// A pattern, compiled once.
    func pattern(_ index: Int) throws(QueryError) -> RegularExpression? {
        guard let text = string(index) else { return nil }
        return try context.patterns.pattern(text)
    }
}

extension QueryValue {
    /// NULL for nil.
    static func string(orNull string: String?) -> QueryValue { string.map { .string($0) } ?? .null }

    /// NULL for nil.
    static func number(orNull number: Int64?) -> QueryValue { number.map { .number($0) } ?? .null }

    /// An array that a function has made.
    static func made(_ array: [JSONValue]) throws(QueryError) -> QueryValue {
        guard array.count <= QueryLimits.madeElements else { throw tooManyElements }
        return .array(array)
    }

    /// An array or object that is made of values that there are: with what it has in it no larger than a document may be, so
    /// that a value which has another one many times is no more than that either.
    /// - Complexity: O(n) in the values within.
    static func made(of parts: JSONValue) throws(QueryError) -> QueryValue {
        guard parts.size(atMost: QueryLimits.stringBytes) != nil else { throw tooLarge }
        return QueryValue(parts)
    }

    /// A string that a function has made.
    static func made(_ string: String) throws(QueryError) -> QueryValue {
        guard string.utf8.count <= QueryLimits.stringBytes else { throw tooLong }
        return .string(string)
    }

    static var tooManyElements: QueryError {
        .running("a function would make an array of more than \(QueryLimits.madeElements) elements")
    }

    static var tooLarge: QueryError {
        .running("a value would be made of more than \(QueryLimits.stringBytes) bytes")
    }

    static var tooLong: QueryError {
        .running("a function would make a string of more than \(QueryLimits.stringBytes) bytes")
    }
}
