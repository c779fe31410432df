/// The operators of selectors that stand for a field.
enum MangoOperator: String, CaseIterable {
    case equal = "$eq"
    case notEqual = "$ne"
    case less = "$lt"
    case lessOrEqual = "$lte"
    case greater = "$gt"
    case greaterOrEqual = "$gte"
    case exists = "$exists"
    case type = "$type"
    case oneOf = "$in"
    case noneOf = "$nin"
    case size = "$size"
    case modulo = "$mod"
    case pattern = "$regex"
    case beginning = "$beginsWith"
    case all = "$all"
    case elementMatch = "$elemMatch"
    case allMatch = "$allMatch"
    case keyMatch = "$keyMapMatch"

    static let types = ["null", "boolean", "number", "string", "array", "object"]

    /// The comparison that it is; nil for what is none.
    var comparison: ComparisonOperator? {
        switch self {
        case .equal: .equal
        case .notEqual: .notEqual
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        case .greater: .greater
        case .greaterOrEqual: .greaterOrEqual
        default: nil
        }
    }

    /// What to say of an operator that is none.
    static func unknown(_ name: String) -> String {
        if ["$text", "$where", "$near", "$geoWithin", "$geoIntersects", "$nearSphere"].contains(name) {
            return "the operator \(name) is not supported"
        }
        let names = ["$and", "$or", "$nor", "$not"] + allCases.map(\.rawValue)
        return
            "there is no operator \(name): expected one of \(names.joined(separator: ", ")) (a field whose name begins with $ is written \\$)"
    }
}
