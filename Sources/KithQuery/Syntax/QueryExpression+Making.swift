import KithDocument

// Trees that other front ends make.
extension QueryExpression {
    package static func literal(_ value: QueryValue) -> QueryExpression { QueryExpression(.literal(value)) }

    package static func string(_ string: String) -> QueryExpression { .literal(.string(string)) }

    package static func identifier(_ name: String) -> QueryExpression { QueryExpression(.identifier(name)) }

    package static func call(_ name: String, _ arguments: QueryExpression...) -> QueryExpression {
        QueryExpression(.call(name, arguments))
    }

    /// A value as the constructors that make it.
    package static func constant(_ value: JSONValue) -> QueryExpression {
        switch value {
        case .array(let array): QueryExpression(.array(array.map { constant($0) }))
        case .object(let object): QueryExpression(.object(object.map { ObjectMember($0.key, constant($0.value)) }))
        default: .literal(QueryValue(value))
        }
    }

    /// The condition that all hold: TRUE where there is none.
    package static func all(_ conditions: [QueryExpression]) -> QueryExpression {
        switch conditions.count {
        case 0: .literal(.bool(true))
        case 1: conditions[0]
        default: QueryExpression(.and(conditions))
        }
    }

    /// The condition that one holds: FALSE where there is none.
    package static func either(_ conditions: [QueryExpression]) -> QueryExpression {
        switch conditions.count {
        case 0: .literal(.bool(false))
        case 1: conditions[0]
        default: QueryExpression(.or(conditions))
        }
    }
}
