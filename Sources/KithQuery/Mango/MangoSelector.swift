import KithDocument

/// Reads a Mango selector, CouchDB's way to write a condition as JSON, into a condition on a document.
///
/// Selectors know TRUE and FALSE alone: a field that is not there fits nothing but `{"$exists": false}`, also under
/// `$not`, and null is a value as others. The condition has to say so in SQL++'s logic. So `$not` is carried down to the
/// operators, as CouchDB does; those without an opposite become `field IS NOT MISSING AND NOT IFMISSINGORNULL(..., FALSE)`.
struct MangoSelector {
    /// What operators stand for: the document, a field of it, or an element of an array.
    struct Subject {
        let value: QueryExpression
        /// Whether it is the document itself, which is not compared but has fields.
        var isDocument = false
    }

    private let alias: String
    private var depth = 0
    private var conditionCount = 0

    init(alias: String) { self.alias = alias }

    /// The condition that a selector is.
    /// - Parameter path: of the selector, for errors.
    mutating func condition(_ selector: JSONValue, at path: String = "selector") throws(QueryError) -> QueryExpression {
        guard selector.object != nil else { throw .selector("a selector is an object", path: path) }
        return try condition(
            selector, of: Subject(value: .identifier(alias), isDocument: true), isNegated: false, at: path)
    }

    // An object of fields and operators, or a value to be equal to.

    private mutating func condition(
        _ selector: JSONValue, of subject: Subject, isNegated: Bool, at path: String
    ) throws(QueryError) -> QueryExpression {
        depth += 1
        defer { depth -= 1 }
        conditionCount += 1
        if depth > QueryLimits.selectorDepth {
            throw .selector("selectors are nested deeper than \(QueryLimits.selectorDepth) levels", path: path)
        }
        if conditionCount > QueryLimits.selectorConditions {
            throw .selector("the selector has more than \(QueryLimits.selectorConditions) conditions", path: path)
        }
        guard case .object(let members) = selector, !members.isEmpty || subject.isDocument else {
            if subject.isDocument { throw .selector("expected an object with fields", path: path) }
            return compare(isNegated ? .notEqual : .equal, subject.value, selector)
        }
        var conditions: [QueryExpression] = []
        for (key, value) in members {
            let place = "\(path).\(key)"
            if key.hasPrefix("$") {
                conditions.append(try operation(key, value, of: subject, isNegated: isNegated, at: place))
            } else {
                let field = Subject(value: try field(key, of: subject, at: place))
                conditions.append(try condition(value, of: field, isNegated: isNegated, at: place))
            }
        }
        if members.isEmpty { return .literal(.bool(true)) }
        return isNegated ? .either(conditions) : .all(conditions)
    }

    // Fields.

    private func field(_ name: String, of subject: Subject, at path: String) throws(QueryError) -> QueryExpression {
        let names = try MangoField(name, at: path).names
        return try Self.expression(names, from: subject.value, isDocument: subject.isDocument, at: path)
    }

    /// The value of a field.
    static func expression(
        _ names: [String], from base: QueryExpression, isDocument: Bool, at path: String
    ) throws(QueryError) -> QueryExpression {
        var (value, rest) = (base, names[...])
        if isDocument, let first = names.first, first.hasPrefix("_") {
            value = try metadata(first, of: base, at: path)
            rest.removeFirst()
        }
        while let name = rest.popFirst() {
            // A number is an element of an array, too.
            let isNumber = name.utf8.count <= 9 && !name.isEmpty && name.utf8.allSatisfy(\.isDecimalDigit)
            let member = append(.member(name), to: value)
            value =
                isNumber
                ? .call("IFMISSING", member, append(.element(.literal(.number(Int64(name)!))), to: value)) : member
        }
        return value
    }

    private static func append(_ step: PathStep, to value: QueryExpression) -> QueryExpression {
        if case .path(let base, let steps) = value.kind { return QueryExpression(.path(base, steps + [step])) }
        return QueryExpression(.path(value, [step]))
    }

    /// Names that begin with `_` are none of a body.
    private static func metadata(
        _ name: String, of document: QueryExpression, at path: String
    ) throws(QueryError) -> QueryExpression {
        guard case .identifier(let alias) = document.kind else { preconditionFailure("a document is a variable") }
        func member(_ name: String) -> QueryExpression {
            QueryExpression(.path(QueryExpression(.metadata(alias)), [.member(name)]))
        }
        switch name {
        case "_id": return member("id")
        case "_rev": return member("revision")
        // Only deleted documents have it.
        case "_deleted": return .call("MISSINGIF", member("deleted"), .literal(.bool(false)))
        default:
            throw .selector(
                "\(name) can't be asked for: of the names that begin with _ expected _id, _rev or _deleted", path: path)
        }
    }

    // Operators.

    private mutating func operation(
        _ name: String, _ argument: JSONValue, of subject: Subject, isNegated: Bool, at path: String
    ) throws(QueryError) -> QueryExpression {
        switch name {
        case "$and", "$or", "$nor":
            return try combination(name, argument, of: subject, isNegated: isNegated, at: path)
        case "$not":
            guard argument.object != nil else { throw .selector("$not takes an object", path: path) }
            return try condition(argument, of: subject, isNegated: !isNegated, at: path)
        default: break
        }
        guard let known = MangoOperator(rawValue: name) else {
            throw .selector(MangoOperator.unknown(name), path: path)
        }
        if subject.isDocument {
            throw .selector("\(name) needs a field: expected {\"field\": {\"\(name)\": ...}}", path: path)
        }
        if let comparison = known.comparison {
            return compare(isNegated ? comparison.opposite : comparison, subject.value, argument)
        }
        switch known {
        case .exists:
            guard let exists = argument.bool else { throw .selector("$exists takes true or false", path: path) }
            return QueryExpression(.test(subject.value, .missing, isNegated: exists != isNegated))
        case .oneOf, .noneOf:
            guard let list = argument.array else { throw .selector("\(name) takes an array", path: path) }
            let isNone = (known == .noneOf) != isNegated
            return isNone ? Self.not(isOne(of: list, subject.value), subject.value) : isOne(of: list, subject.value)
        default:
            let condition = try special(known, argument, of: subject, at: path)
            return isNegated ? Self.not(condition, subject.value) : condition
        }
    }

    /// Where the field is there, and the condition is not TRUE.
    private static func not(_ condition: QueryExpression, _ value: QueryExpression) -> QueryExpression {
        .all([
            QueryExpression(.test(value, .missing, isNegated: true)),
            QueryExpression(.not(.call("IFMISSINGORNULL", condition, .literal(.bool(false))))),
        ])
    }

    /// `$and`, `$or` and `$nor`. As in CouchDB an empty list of them says nothing, also under `$not`.
    private mutating func combination(
        _ name: String, _ argument: JSONValue, of subject: Subject, isNegated: Bool, at path: String
    ) throws(QueryError) -> QueryExpression {
        guard let list = argument.array else { throw .selector("\(name) takes an array of selectors", path: path) }
        if list.isEmpty { return .literal(.bool(true)) }
        var conditions: [QueryExpression] = []
        for (index, selector) in list.enumerated() {
            conditions.append(
                try condition(
                    selector, of: subject, isNegated: isNegated != (name == "$nor"), at: "\(path)[\(index)]"))
        }
        return (name == "$or") != isNegated ? .either(conditions) : .all(conditions)
    }

    /// A comparison in which null is a value, the least of all.
    private func compare(
        _ operation: ComparisonOperator, _ value: QueryExpression, _ other: JSONValue
    ) -> QueryExpression {
        let isNull = QueryExpression(.test(value, .null, isNegated: false))
        if other.isNull {
            switch operation {
            case .equal, .lessOrEqual: return isNull
            case .notEqual, .greater: return QueryExpression(.test(value, .null, isNegated: true))
            case .less: return .literal(.bool(false))
            default: return QueryExpression(.test(value, .missing, isNegated: true))
            }
        }
        let comparison = QueryExpression(.comparison(operation, value, .constant(other)))
        switch operation {
        case .notEqual, .less, .lessOrEqual: return .either([comparison, isNull])
        default: return comparison
        }
    }

    /// `$in`: equal to one of the list, or an array with such an element.
    private mutating func isOne(of list: [JSONValue], _ value: QueryExpression) -> QueryExpression {
        if list.isEmpty { return .literal(.bool(false)) }
        let known = list.filter { !$0.isNull }
        func equals(_ value: QueryExpression) -> QueryExpression {
            var conditions: [QueryExpression] = []
            if !known.isEmpty {
                conditions.append(QueryExpression(.membership(value, in: .constant(.array(known)), isNegated: false)))
            }
            if known.count < list.count { conditions.append(QueryExpression(.test(value, .null, isNegated: false))) }
            return .either(conditions)
        }
        let element = variable
        return .either([
            equals(value),
            QueryExpression(
                .quantified(QuantifiedExpression(.any, element, in: value, satisfies: equals(.identifier(element))))),
        ])
    }

    /// The name of a variable that no variable around it has.
    private var variable: String { "element\(depth)" }

    private mutating func special(
        _ operation: MangoOperator, _ argument: JSONValue, of subject: Subject, at path: String
    ) throws(QueryError) -> QueryExpression {
        let value = subject.value
        func equal(_ one: QueryExpression, _ other: QueryExpression) -> QueryExpression {
            QueryExpression(.comparison(.equal, one, other))
        }
        switch operation {
        case .type:
            guard let type = argument.string, MangoOperator.types.contains(type) else {
                throw .selector("$type takes one of \(MangoOperator.types.joined(separator: ", "))", path: path)
            }
            return equal(.call("TYPE", value), .string(type))
        case .size:
            guard let size = argument.integer, size >= 0 else {
                throw .selector("$size takes an integer from 0 on", path: path)
            }
            return equal(.call("ARRAY_LENGTH", value), .literal(.number(size)))
        case .modulo:
            guard let pair = argument.array, pair.count == 2, let divisor = pair[0].integer, let rest = pair[1].integer,
                divisor != 0
            else { throw .selector("$mod takes two integers, [divisor, remainder], the first one not 0", path: path) }
            let term = ArithmeticTerm(.remainder, .literal(.number(divisor)))
            return equal(QueryExpression(.product(value, [term])), .literal(.number(rest)))
        case .pattern:
            guard let pattern = argument.string else { throw .selector("$regex takes a string", path: path) }
            do throws(QueryError) {
                _ = try RegularExpression(pattern)
            } catch {
                throw .selector(error.message, path: path)
            }
            return .call("REGEXP_CONTAINS", value, .string(pattern))
        case .beginning:
            guard let beginning = argument.string else { throw .selector("$beginsWith takes a string", path: path) }
            return .call("STARTS_WITH", value, .string(beginning))
        case .all:
            guard let list = argument.array else { throw .selector("$all takes an array", path: path) }
            if list.isEmpty { return .literal(.bool(false)) }
            let all = QueryExpression.all(list.map { .call("ARRAY_CONTAINS", value, .constant($0)) })
            return list.count == 1 && list[0].array != nil ? .either([all, equal(value, .constant(list[0]))]) : all
        default: return try elements(operation, argument, of: value, at: path)
        }
    }

    /// `$elemMatch`, `$allMatch`, `$keyMapMatch`.
    private mutating func elements(
        _ operation: MangoOperator, _ argument: JSONValue, of value: QueryExpression, at path: String
    ) throws(QueryError) -> QueryExpression {
        guard argument.object != nil else { throw .selector("\(operation.rawValue) takes an object", path: path) }
        let element = variable
        let condition = try condition(
            argument, of: Subject(value: .identifier(element)), isNegated: false, at: path)
        let array = operation == .keyMatch ? QueryExpression.call("OBJECT_NAMES", value) : value
        return QueryExpression(
            .quantified(
                QuantifiedExpression(
                    operation == .allMatch ? .anyAndEvery : .any, element, in: array, satisfies: condition)))
    }
}
