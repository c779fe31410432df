import KithDocument

extension QueryFunction {
    private static func pattern(
        _ name: String, aliases: [String] = [], _ parameters: String, _ summary: String, _ example: String,
        _ result: String, _ body: @escaping Body
    ) -> QueryFunction {
        QueryFunction(name, aliases: aliases, parameters, summary, example, result, in: .pattern, body)
    }

    static let patterns: [QueryFunction] = [
        pattern(
            "REGEXP_CONTAINS", aliases: ["CONTAINS_REGEXP"], "string, pattern",
            "Whether the pattern matches somewhere in the string.",
            "REGEXP_CONTAINS('seaside', 's.d')", "TRUE"
        ) { arguments throws(QueryError) in
            guard let text = arguments.scalars, let pattern = try arguments.pattern(1) else { return .null }
            return .bool(try pattern.firstMatch(in: text) != nil)
        },
        pattern(
            "REGEXP_LIKE", "string, pattern", "Whether the pattern matches the whole string.",
            "REGEXP_LIKE('seaside', 's.*e')", "TRUE"
        ) {
            arguments throws(QueryError) in
            guard let text = arguments.scalars, let pattern = try arguments.pattern(1) else { return .null }
            return .bool(try pattern.matchesWhole(text))
        },
        pattern(
            "REGEXP_POSITION", "string, pattern", "The place of the first match, from 0; -1 for none.",
            "REGEXP_POSITION('seaside', 'side?')", "3"
        ) {
            arguments throws(QueryError) in
            guard let text = arguments.scalars, let pattern = try arguments.pattern(1) else { return .null }
            return .number(try pattern.firstMatch(in: text)?.range.lowerBound ?? -1)
        },
        pattern(
            "REGEXP_MATCHES", "string, pattern", "All matches that don't overlap.", "REGEXP_MATCHES('a1b22', '\\d+')",
            "['1', '22']"
        ) {
            arguments throws(QueryError) in
            guard let text = arguments.scalars, let pattern = try arguments.pattern(1) else { return .null }
            let matches = try pattern.matches(in: text)
            return try .made(matches.map { .string(String(scalars: text[$0.range])) })
        },
        pattern(
            "REGEXP_SPLIT", "string, pattern", "The parts between the matches.", "REGEXP_SPLIT('a1b22c', '\\d+')",
            "['a', 'b', 'c']"
        ) {
            arguments throws(QueryError) in
            guard let text = arguments.scalars, let pattern = try arguments.pattern(1) else { return .null }
            var (parts, end): ([JSONValue], Int) = ([], 0)
            for match in try pattern.matches(in: text) where !match.range.isEmpty {
                parts.append(.string(String(scalars: text[end..<match.range.lowerBound])))
                end = match.range.upperBound
            }
            return try .made(parts + [.string(String(scalars: text[end...]))])
        },
        pattern(
            "REGEXP_REPLACE", "string, pattern, replacement[, count]",
            "The string with the replacement for each match, or for the first ones; $0 to $9 in it are the match and its groups, $$ is $.",
            "REGEXP_REPLACE('Ada Lovelace', '(\\w+) (\\w+)', '$2, $1')", "'Lovelace, Ada'"
        ) { arguments throws(QueryError) in
            let count = arguments.has(3) ? arguments.count(3) : .max
            guard let text = arguments.scalars, let pattern = try arguments.pattern(1), let other = arguments.string(2),
                let count
            else { return .null }
            let matches = try pattern.matches(in: text, atMost: count < 0 ? .max : count)
            return try .made(try replaced(text, matches, with: Array(other.unicodeScalars)))
        },
    ]

    private static func replaced(
        _ text: [Unicode.Scalar], _ matches: [RegularExpression.Match], with template: [Unicode.Scalar]
    ) throws(QueryError) -> String {
        var (replaced, end): ([Unicode.Scalar], Int) = ([], 0)
        for match in matches {
            replaced += text[end..<match.range.lowerBound]
            var index = 0
            while index < template.count {
                let next = index + 1 < template.count ? template[index + 1] : nil
                if template[index] == "$", let next, next == "$" || ("0"..."9").contains(next) {
                    let group = Int(next.value) - 0x30
                    if next == "$" {
                        replaced.append("$")
                    } else if group < match.groups.count, let range = match.groups[group] {
                        replaced += text[range]
                    }
                    index += 2
                } else {
                    replaced.append(template[index])
                    index += 1
                }
            }
            if replaced.count > QueryLimits.stringBytes { throw QueryValue.tooLong }
            end = match.range.upperBound
        }
        return String(scalars: replaced + text[end...])
    }
}

extension FunctionArguments {
    /// The characters of the first argument.
    fileprivate var scalars: [Unicode.Scalar]? { string(0).map { Array($0.unicodeScalars) } }
}
