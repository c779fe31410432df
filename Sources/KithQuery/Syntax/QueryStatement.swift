/// A whole query.
package struct QueryStatement: Sendable, Equatable {
    package var isDistinct = false
    package var selection: QuerySelection
    /// Without it the query has one row, of constants.
    package var source: QuerySource?
    package var joins: [QueryJoin] = []
    package var bindings: [QueryBinding] = []
    package var filter: QueryExpression?
    package var groups: [QueryGroup] = []
    package var groupFilter: QueryExpression?
    package var order: [QueryOrdering] = []
    package var limit: QueryExpression?
    package var offset: QueryExpression?

    package init(selection: QuerySelection, from source: QuerySource? = nil) {
        self.selection = selection
        self.source = source
    }
}

/// What a row of the result is.
package enum QuerySelection: Sendable, Equatable {
    /// An object with a member for each column.
    case columns([QueryColumn])
    /// RAW, or VALUE: the value itself.
    case raw(QueryExpression)
}

package enum QueryColumn: Sendable, Equatable {
    /// `*`: each source under its name.
    case all(SourcePosition)
    /// `expression.*`: the members of an object.
    case members(QueryExpression)
    case value(QueryExpression, alias: String?)
}

/// FROM name AS alias.
package struct QuerySource: Sendable, Equatable {
    package var name: String
    /// The name itself where none was given.
    package var alias: String
    package var position: SourcePosition

    package init(_ name: String, alias: String? = nil, at position: SourcePosition = .none) {
        self.name = name
        self.alias = alias ?? name
        self.position = position
    }
}

/// What is put beside each row.
package enum QueryJoin: Sendable, Equatable {
    case inner(QuerySource, on: QueryExpression)
    case left(QuerySource, on: QueryExpression)
    case cross(QuerySource)
    /// The elements of an array; a row without any goes, but with LEFT.
    case unnest(QueryExpression, alias: String, isLeft: Bool, SourcePosition)

    /// The variable that it brings.
    package var alias: String {
        switch self {
        case .inner(let source, _), .left(let source, _), .cross(let source): source.alias
        case .unnest(_, let alias, _, _): alias
        }
    }

    var position: SourcePosition {
        switch self {
        case .inner(let source, _), .left(let source, _), .cross(let source): source.position
        case .unnest(_, _, _, let position): position
        }
    }
}

/// LET name = expression.
package struct QueryBinding: Sendable, Equatable {
    package var name: String
    package var value: QueryExpression
    package var position: SourcePosition

    package init(_ name: String, _ value: QueryExpression, at position: SourcePosition = .none) {
        self.name = name
        self.value = value
        self.position = position
    }
}

/// GROUP BY expression AS alias.
package struct QueryGroup: Sendable, Equatable {
    package var key: QueryExpression
    package var alias: String?

    package init(_ key: QueryExpression, alias: String? = nil) {
        self.key = key
        self.alias = alias
    }
}

/// ORDER BY expression.
package struct QueryOrdering: Sendable, Equatable {
    package var key: QueryExpression
    package var isDescending: Bool
    /// Where NULL and MISSING stand; nil: where their order puts them, before all other values.
    package var nullsFirst: Bool?

    package init(_ key: QueryExpression, isDescending: Bool = false, nullsFirst: Bool? = nil) {
        self.key = key
        self.isDescending = isDescending
        self.nullsFirst = nullsFirst
    }
}
