import KithQuery

/// A query whose rows are groups.
public struct GroupedQuery: BuiltQuery, DraftedQuery {
    /// What the library keeps of it.
    public internal(set) var draft: QueryDraft

    init(_ draft: QueryDraft) { self.draft = draft }

    /// Groups of which a condition is true; of several calls, all are.
    public func having<Level>(_ condition: QueryTerm<Bool, Level>) -> GroupedQuery {
        changed { $0.filterGroups(condition) }
    }

    /// Rows of columns: `SELECT a, b AS x`.
    public func select(_ columns: any ResultColumnConvertible...) -> GroupedQuery { changed { $0.select(columns) } }

    /// `SELECT RAW`: the values themselves.
    public func select<Value, Level>(value: QueryTerm<Value, Level>) -> GroupedQuery {
        changed { $0.select(value: value) }
    }

    /// Rows in an order; of several calls the first counts most.
    public func order<Value: QueryOrdered, Level>(
        _ term: QueryTerm<Value, Level>, _ direction: QueryOrder = .ascending, nils: NilPlace? = nil
    ) -> GroupedQuery { changed { $0.order(term, direction, nils) } }

    /// So many rows at most.
    public func limit(_ count: Int) -> GroupedQuery { limit(.value(count)) }

    /// So many rows at most.
    public func limit(_ count: RowTerm<Int>) -> GroupedQuery { changed { $0.limit(count) } }

    /// Without so many rows at the beginning.
    public func offset(_ count: Int) -> GroupedQuery { offset(.value(count)) }

    /// Without so many rows at the beginning.
    public func offset(_ count: RowTerm<Int>) -> GroupedQuery { changed { $0.offset(count) } }

    /// Rows that are equal once.
    public func distinct() -> GroupedQuery { changed { $0.makeDistinct() } }
}
