import KithQuery

/// A query of models whose rows are no documents: pairs of a join, or of a document and an element.
///
/// Its closures get a term for each.
public struct RowsQuery<each Value>: BuiltQuery, DraftedQuery {
    /// What the library keeps of it.
    public internal(set) var draft: QueryDraft
    private let terms: (repeat RowTerm<each Value>)

    init(_ draft: QueryDraft, _ terms: repeat RowTerm<each Value>) {
        self.draft = draft
        self.terms = (repeat each terms)
    }

    /// Those of which a condition is true; of several calls, all are.
    public func `where`(_ condition: (repeat RowTerm<each Value>) -> RowTerm<Bool>) -> RowsQuery {
        changed { $0.filter(condition(repeat each terms)) }
    }

    /// Rows in an order; of several calls the first counts most.
    public func order<Key: QueryOrdered>(
        _ direction: QueryOrder = .ascending, nils: NilPlace? = nil,
        by key: (repeat RowTerm<each Value>) -> RowTerm<Key>
    ) -> RowsQuery { changed { $0.order(key(repeat each terms), direction, nils) } }

    /// So many rows at most.
    public func limit(_ count: Int) -> RowsQuery { changed { $0.limit(.value(count)) } }

    /// Without so many rows at the beginning.
    public func offset(_ count: Int) -> RowsQuery { changed { $0.offset(.value(count)) } }

    /// Rows of the columns; with aggregates among them, one row of all.
    public func select(
        _ columns: (repeat RowTerm<each Value>) -> [any ResultColumnConvertible]
    ) -> DocumentQuery { DocumentQuery(changed { $0.select(columns(repeat each terms)) }.draft) }

    /// Groups of rows that have these in common; of all rows where there are none.
    public func group(
        by keys: (repeat RowTerm<each Value>) -> [any ResultColumnConvertible<RowLevel>]
    ) -> GroupsQuery<repeat each Value> {
        GroupsQuery(changed { $0.group(by: keys(repeat each terms)) }.draft, repeat each terms)
    }
}

/// A query of models whose rows are groups.
public struct GroupsQuery<each Value>: BuiltQuery, DraftedQuery {
    /// What the library keeps of it.
    public internal(set) var draft: QueryDraft
    private let terms: (repeat RowTerm<each Value>)

    init(_ draft: QueryDraft, _ terms: repeat RowTerm<each Value>) {
        self.draft = draft
        self.terms = (repeat each terms)
    }

    /// Groups of which a condition is true.
    public func having<Level>(
        _ condition: (repeat RowTerm<each Value>) -> QueryTerm<Bool, Level>
    ) -> GroupsQuery { changed { $0.filterGroups(condition(repeat each terms)) } }

    /// Rows in an order; of several calls the first counts most.
    public func order<Key: QueryOrdered, Level>(
        _ direction: QueryOrder = .ascending, nils: NilPlace? = nil,
        by key: (repeat RowTerm<each Value>) -> QueryTerm<Key, Level>
    ) -> GroupsQuery { changed { $0.order(key(repeat each terms), direction, nils) } }

    /// Rows of what groups have in common, and of aggregates.
    public func select(
        _ columns: (repeat RowTerm<each Value>) -> [any ResultColumnConvertible]
    ) -> GroupedQuery { GroupedQuery(changed { $0.select(columns(repeat each terms)) }.draft) }
}
