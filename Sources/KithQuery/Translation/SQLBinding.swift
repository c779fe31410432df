import KithDocument

/// What stands in the place of a `?` of SQL, made when a query begins.
package enum SQLBinding: Equatable, Sendable {
    /// The key of a slot's value; SQL's NULL for MISSING.
    case key(Int)
    /// The key as it is compared; SQL's NULL for NULL too, which is equal to nothing.
    case comparand(Int, QueryCollation)
    /// The canonical text.
    case json(Int)
    /// The text of a string; SQL's NULL for all else.
    case text(Int)
    /// What a full-text index with these fields looks for, as FTS5 takes it; SQL's NULL for NULL and MISSING.
    case match(QueryExpression, fields: [String])
    /// The text of a string that is the same for all rows.
    case string(QueryExpression)
    /// The time of the query in milliseconds since 1970.
    case now
    /// LIMIT and OFFSET.
    case count(QueryExpression, clause: String)
}

/// A value as SQLite takes it.
package enum SQLValue: Equatable, Sendable {
    case null
    case integer(Int64)
    case text([UInt8])
    case blob([UInt8])
}

/// What an index could serve: where a query compares something with what is the same for all rows.
package struct IndexWish: Equatable, Sendable {
    package enum Use: Int, Sendable, Comparable {
        case equality, range, order

        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The source, by its number.
    let source: Int
    /// What an index would have, as it is defined.
    package let expression: String
    package let use: Use

    package static func == (left: Self, right: Self) -> Bool {
        left.source == right.source && left.use == right.use && left.expression.hasSameBytes(as: right.expression)
    }
}
