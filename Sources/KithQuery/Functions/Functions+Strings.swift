import KithDocument

extension QueryFunction {
    private static func string(
        _ name: String, aliases: [String] = [], _ parameters: String, _ summary: String, _ example: String,
        _ result: String, _ body: @escaping Body
    ) -> QueryFunction {
        QueryFunction(name, aliases: aliases, parameters, summary, example, result, in: .string, body)
    }

    static let strings: [QueryFunction] = [
        string(
            "CONCAT", "string, string, ...", "The strings after one another, as || does.", "CONCAT('a', 'b', 'c')",
            "'abc'"
        ) {
            arguments throws(QueryError) in
            var all = ""
            for value in arguments.values {
                guard let string = value.string else { return .null }
                all += string
                if all.utf8.count > QueryLimits.stringBytes { throw QueryValue.tooLong }
            }
            return .string(all)
        },
        string(
            "CONTAINS", "string, part", "Whether the part is somewhere in the string.", "CONTAINS('seaside', 'side')",
            "TRUE"
        ) {
            $0.strings { .bool($0.place(of: $1) != nil) }
        },
        string(
            "STARTS_WITH", "string, part", "Whether the string begins with the part.", "STARTS_WITH('seaside', 'sea')",
            "TRUE"
        ) {
            $0.strings { .bool($0.utf8.starts(with: $1.utf8)) }
        },
        string(
            "ENDS_WITH", "string, part", "Whether the string ends with the part.", "ENDS_WITH('seaside', 'side')",
            "TRUE"
        ) {
            $0.strings { .bool($0.utf8.reversed().starts(with: $1.utf8.reversed())) }
        },
        string("LENGTH", "string", "How many characters (Unicode code points) the string has.", "LENGTH('déjà')", "4") {
            arguments in
            arguments.string(0).map { .number($0.unicodeScalars.count) } ?? .null
        },
        string("LOWER", "string", "The string in lower case.", "LOWER('ÄB')", "'äb'") { arguments in
            .string(orNull: arguments.string(0)?.lowercased())
        },
        string("UPPER", "string", "The string in upper case.", "UPPER('äb')", "'ÄB'") { arguments in
            .string(orNull: arguments.string(0)?.uppercased())
        },
        string(
            "INITCAP", aliases: ["TITLE"], "string",
            "Each word with its first letter in upper case and the others in lower.",
            "INITCAP('the QUICK fox')", "'The Quick Fox'"
        ) { arguments in .string(orNull: arguments.string(0)?.capitalizedWords) },
        string(
            "POSITION", aliases: ["POS"], "string, part",
            "The place of the first character of the part, from 0; -1 where the string does not have it.",
            "POSITION('seaside', 'side')", "3"
        ) { $0.strings { .number($0.place(of: $1) ?? -1) } },
        string("REVERSE", "string", "The characters from the last to the first.", "REVERSE('abc')", "'cba'") {
            arguments in
            .string(orNull: arguments.string(0).map { String($0.reversed()) })
        },
        string("REPEAT", "string, count", "The string so many times.", "REPEAT('ab', 3)", "'ababab'") {
            arguments throws(QueryError) in
            guard let string = arguments.string(0), let count = arguments.count(1), count >= 0 else { return .null }
            let (length, overflow) = string.utf8.count.multipliedReportingOverflow(by: count)
            if overflow || length > QueryLimits.stringBytes { throw QueryValue.tooLong }
            return .string(length == 0 ? "" : String(repeating: string, count: count))
        },
        string(
            "REPLACE", "string, part, other[, count]",
            "The string with the other string for each place where the part stands, or for the first ones of them.",
            "REPLACE('a-b-c', '-', '+', 1)", "'a+b-c'"
        ) { arguments throws(QueryError) in
            guard let string = arguments.string(0), let part = arguments.string(1), let other = arguments.string(2)
            else {
                return .null
            }
            let limit = arguments.has(3) ? arguments.count(3) : .max
            guard let limit else { return .null }
            return try .made(string.replacing(part, with: other, atMost: limit < 0 ? .max : limit))
        },
    ]

    static let stringParts: [QueryFunction] = [
        string(
            "TRIM", "string[, characters]", "The string without spaces, or others of the characters, at both ends.",
            "TRIM('  a b ')", "'a b'"
        ) {
            $0.trimmed(atStart: true, atEnd: true)
        },
        string("LTRIM", "string[, characters]", "The same at its beginning.", "LTRIM('xxaxx', 'x')", "'axx'") {
            $0.trimmed(atStart: true, atEnd: false)
        },
        string("RTRIM", "string[, characters]", "The same at its end.", "RTRIM('xxaxx', 'x')", "'xxa'") {
            $0.trimmed(atStart: false, atEnd: true)
        },
        string(
            "LPAD", "string, length[, characters]",
            "The string with spaces, or the characters over and over, before it, or cut, so that it has that length.",
            "LPAD('7', 3, '0')", "'007'"
        ) { arguments throws(QueryError) in try arguments.padded(atStart: true) },
        string("RPAD", "string, length[, characters]", "The same after it.", "RPAD('ab', 4)", "'ab  '") {
            arguments throws(QueryError) in try arguments.padded(atStart: false)
        },
        string(
            "SPLIT", "string[, separator]", "The parts between the separators; without one, between spaces.",
            "SPLIT('a,b,,c', ',')", "['a', 'b', '', 'c']"
        ) { arguments throws(QueryError) in
            guard let string = arguments.string(0) else { return .null }
            if !arguments.has(1) {
                return try .made(string.split { $0.isWhitespace }.map { .string(String($0)) })
            }
            guard let separator = arguments.string(1), !separator.isEmpty else { return .null }
            return try .made(string.split(at: separator).map { .string($0) })
        },
        string(
            "SUBSTR", "string, start[, length]",
            "The part from a place on, counted from 0, or from the end where it is below zero. NULL where there is no such place.",
            "SUBSTR('seaside', 3, 2)", "'si'"
        ) { $0.part(from: 0) },
        string("SUBSTR1", "string, start[, length]", "The same, counted from 1.", "SUBSTR1('seaside', 1, 3)", "'sea'") {
            $0.part(from: 1)
        },
    ]
}

extension FunctionArguments {
    fileprivate func trimmed(atStart: Bool, atEnd: Bool) -> QueryValue {
        guard let string = string(0) else { return .null }
        let characters = has(1) ? self.string(1) : " \t\n\r\u{0B}\u{0C}"
        guard let characters else { return .null }
        let unwanted = Array(characters.unicodeScalars)
        var rest = string.unicodeScalars[...]
        while atStart, let first = rest.first, unwanted.contains(first) { rest.removeFirst() }
        while atEnd, let last = rest.last, unwanted.contains(last) { rest.removeLast() }
        return .string(String(rest))
    }

    fileprivate func padded(atStart: Bool) throws(QueryError) -> QueryValue {
        guard let string = string(0), let length = count(1), length >= 0 else { return .null }
        let padding = has(2) ? self.string(2) : " "
        guard let padding, !padding.isEmpty else { return .null }
        if length > QueryLimits.stringBytes { throw QueryValue.tooLong }
        let (scalars, fill) = (Array(string.unicodeScalars), Array(padding.unicodeScalars))
        var padded = String.UnicodeScalarView()
        if scalars.count >= length {
            padded.append(contentsOf: scalars[..<length])
            return .string(String(padded))
        }
        let missing = (0..<length - scalars.count).map { fill[$0 % fill.count] }
        padded.append(contentsOf: atStart ? missing + scalars : scalars + missing)
        return try .made(String(padded))
    }

    /// - Parameter first: the number of the first character.
    fileprivate func part(from first: Int) -> QueryValue {
        guard let string = string(0), let place = count(1) else { return .null }
        let scalars = Array(string.unicodeScalars)
        let (start, overflow) =
            place < 0 ? place.addingReportingOverflow(scalars.count) : place.subtractingReportingOverflow(first)
        guard !overflow, (0...scalars.count).contains(start) else { return .null }
        var length = scalars.count - start
        if has(2) {
            guard let wanted = count(2), wanted >= 0 else { return .null }
            length = min(length, wanted)
        }
        var part = String.UnicodeScalarView()
        part.append(contentsOf: scalars[start..<start + length])
        return .string(String(part))
    }
}
