import KithQuery

/// A query without a model: what SQL++ can say, in Swift. It is a value; each call gives another one.
///
///     DocumentQuery(from: "people").where(Field("age") >= 18).order(Field("name")).limit(20)
public struct DocumentQuery: BuiltQuery, DraftedQuery {
    /// What the library keeps of it.
    public internal(set) var draft: QueryDraft

    /// All documents of a source: `SELECT * FROM source AS alias`.
    public init(from source: String, as alias: String? = nil) {
        draft = QueryDraft(from: QuerySource(source, alias: alias))
    }

    init(_ draft: QueryDraft) { self.draft = draft }

    /// Rows of which a condition is true; of several calls, all are.
    public func `where`(_ condition: RowTerm<Bool>) -> DocumentQuery { changed { $0.filter(condition) } }

    /// `JOIN source AS alias ON condition`.
    public func join(_ source: String, as alias: String? = nil, on condition: RowTerm<Bool>) -> DocumentQuery {
        changed { $0.join(.inner(QuerySource(source, alias: alias), on: condition.expression), condition.fault) }
    }

    /// `LEFT JOIN`: rows that find nothing stay, with the alias missing.
    public func leftJoin(_ source: String, as alias: String? = nil, on condition: RowTerm<Bool>) -> DocumentQuery {
        changed { $0.join(.left(QuerySource(source, alias: alias), on: condition.expression), condition.fault) }
    }

    /// `CROSS JOIN`: each row with each document of the source.
    public func crossJoin(_ source: String, as alias: String? = nil) -> DocumentQuery {
        changed { $0.join(.cross(QuerySource(source, alias: alias)), nil) }
    }

    /// A row for each element of an array.
    public func unnest<Values: QueryArray>(_ array: RowTerm<Values>, as alias: String) -> DocumentQuery {
        changed { $0.join(.unnest(array.expression, alias: alias, isLeft: false, .none), array.fault) }
    }

    /// The same, and rows without elements stay.
    public func leftUnnest<Values: QueryArray>(_ array: RowTerm<Values>, as alias: String) -> DocumentQuery {
        changed { $0.join(.unnest(array.expression, alias: alias, isLeft: true, .none), array.fault) }
    }

    /// `LET name = value`.
    public func binding<Value>(_ name: String, to value: RowTerm<Value>) -> DocumentQuery {
        changed { $0.bind(name, to: value) }
    }

    /// Rows in an order; of several calls the first counts most.
    public func order<Value: QueryOrdered, Level>(
        _ term: QueryTerm<Value, Level>, _ direction: QueryOrder = .ascending, nils: NilPlace? = nil
    ) -> DocumentQuery { changed { $0.order(term, direction, nils) } }

    /// So many rows at most.
    public func limit(_ count: Int) -> DocumentQuery { limit(.value(count)) }

    /// So many rows at most.
    public func limit(_ count: RowTerm<Int>) -> DocumentQuery { changed { $0.limit(count) } }

    /// Without so many rows at the beginning.
    public func offset(_ count: Int) -> DocumentQuery { offset(.value(count)) }

    /// Without so many rows at the beginning.
    public func offset(_ count: RowTerm<Int>) -> DocumentQuery { changed { $0.offset(count) } }

    /// Rows that are equal once.
    public func distinct() -> DocumentQuery { changed { $0.makeDistinct() } }

    /// Objects with a member for each column; aggregates make one group of all rows.
    public func select(_ columns: any ResultColumnConvertible...) -> DocumentQuery { changed { $0.select(columns) } }

    /// `SELECT RAW`: the values themselves.
    public func select<Value, Level>(value: QueryTerm<Value, Level>) -> DocumentQuery {
        changed { $0.select(value: value) }
    }

    /// Groups of rows that have these in common; of all rows where there are none.
    public func group(by keys: any ResultColumnConvertible<RowLevel>...) -> GroupedQuery {
        GroupedQuery(changed { $0.group(by: keys) }.draft)
    }
}
