import KithDocument

/// A function of SQL++: what `docs/query.md` says of it, and what it does.
package struct QueryFunction: Sendable {
    package enum Group: String, Sendable, CaseIterable {
        case array = "Arrays"
        case string = "Strings"
        case number = "Numbers"
        case date = "Dates"
        case type = "Types"
        case conditional = "Conditions"
        case pattern = "Patterns"
        case object = "Objects"
        case json = "JSON"
    }

    /// What becomes of arguments that are MISSING or NULL.
    package enum Unknowns: Sendable {
        /// MISSING if one is MISSING, else NULL if one is NULL.
        case propagated
        /// MISSING if one is MISSING, else NULL if the first one is NULL. A NULL among the others is a value.
        case firstOnly
        /// What the text says.
        case own(String)
    }

    /// An example: an expression, and what it gives, as SQL++ too.
    package struct Example: Sendable {
        package let text: String
        package let result: String
    }

    package let name: String
    /// Other names of the same.
    package let aliases: [String]
    /// As in `array, value[, count]`: brackets around what can be left out, `...` for more of the last one.
    package let parameters: String
    package let unknowns: Unknowns
    /// One sentence.
    package let summary: String
    package let example: Example
    package let group: Group
    let body: Body

    /// What it does with arguments whose number is right and that `unknowns` has let through. An argument of a wrong type
    /// gives NULL.
    typealias Body = @Sendable (FunctionArguments) throws(QueryError) -> QueryValue

    init(
        _ name: String, aliases: [String] = [], _ parameters: String, unknowns: Unknowns = .propagated,
        _ summary: String,
        _ example: String, _ result: String, in group: Group, _ body: @escaping Body
    ) {
        self.name = name
        self.aliases = aliases
        self.parameters = parameters
        self.unknowns = unknowns
        self.summary = summary
        self.example = Example(text: example, result: result)
        self.group = group
        self.body = body
    }

    /// How many arguments it takes.
    package var arity: ClosedRange<Int> {
        let required = parameters.prefix { $0 != "[" }
        let optional = parameters.drop { $0 != "[" }
        let names = { (text: Substring) in text.split { ",[] ".contains($0) }.filter { $0 != "..." }.count }
        let least = names(required)
        return least...(parameters.contains("...") ? QueryLimits.expressions : least + names(optional))
    }

    /// What MISSING and NULL give, for people.
    package var unknownsText: String {
        switch unknowns {
        case .propagated: parameters.isEmpty ? "" : "MISSING, NULL"
        case .firstOnly: "MISSING; NULL for the first"
        case .own(let text): text
        }
    }

    func call(_ arguments: FunctionArguments) throws(QueryError) -> QueryValue {
        switch unknowns {
        case .propagated:
            if let unknown = arguments.unknown { return unknown }
        case .firstOnly:
            if arguments.values.contains(where: \.isMissing) { return .missing }
            if arguments.values.first?.isNull == true { return .null }
        case .own: break
        }
        return try body(arguments)
    }
}

extension QueryFunction {
    /// All of them, by group and then as they are listed.
    package static let all: [QueryFunction] =
        arrays + arrayAggregates + arraySets + strings + stringParts + numbers + roundings + trigonometry + dates
        + dateParts + dateTexts + types + conditionals + patterns + objects + json

    private static let byName: [String: QueryFunction] = {
        var byName: [String: QueryFunction] = [:]
        for function in all {
            for name in [function.name] + function.aliases {
                precondition(byName.updateValue(function, forKey: name) == nil, "two functions are named \(name)")
            }
        }
        return byName
    }()

    /// The function of a name in upper case.
    package static func named(_ name: String) -> QueryFunction? { byName[name] }

    /// Whether it depends on the time of the query, or on this machine's offset, and not on its arguments alone.
    package var isContextual: Bool { Self.contextual.contains(name) }

    private static let contextual: Set<String> = ["NOW_MILLIS", "NOW_STR", "NOW_LOCAL", "NOW_TZ", "MILLIS_TO_LOCAL"]

    /// The name that is most like one that there is not; nil where none is.
    static func nearMiss(to name: String) -> String? {
        let others = AggregateFunction.allCases.map(\.rawValue) + ["META", "MATCH", "RANK", "HIGHLIGHT"]
        let names = all.flatMap { [$0.name] + $0.aliases } + others
        return Suggestion.nearest(to: name, among: names)
    }
}
