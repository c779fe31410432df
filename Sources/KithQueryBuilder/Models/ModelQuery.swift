import KithQuery

/// A query whose result are values of a model. It is a value; each call gives another one.
///
///     tasks.where { $0.status == .pending && $0.title.contains("milk") }.order(\.dueDate, nils: .last).limit(20)
public struct ModelQuery<Model: Codable & Identifiable & Sendable>: BuiltQuery, DraftedQuery {
    package let collection: ModelCollection<Model>
    /// Gives the columns `id` and `body`.
    public internal(set) var draft: QueryDraft
    private let term: RowTerm<Model>

    init(_ collection: ModelCollection<Model>) {
        let alias = ModelCollection<Model>.alias
        self.collection = collection
        term = collection.term(as: alias)
        draft = QueryDraft(from: QuerySource(collection.source, alias: alias))
        draft.select(
            .columns([
                .value(QueryExpression(.path(QueryExpression(.metadata(alias)), [.member("id")])), alias: "id"),
                .value(.identifier(alias), alias: "body"),
            ]))
        if let membership = collection.membership(of: alias) { draft.filter(membership) }
    }

    /// Those of which a condition is true; of several calls, all are: `where(\.status == .pending)`.
    public func `where`(_ condition: ModelCondition<Model>) -> ModelQuery {
        changed { $0.filter(condition.term(term)) }
    }

    /// The same as a closure, whose argument has the model's fields: `where { $0.status == .pending && $0.priority > 1 }`.
    public func `where`(_ condition: (RowTerm<Model>) -> RowTerm<Bool>) -> ModelQuery {
        changed { $0.filter(condition(term)) }
    }

    /// In an order; of several calls the first counts most.
    public func order<Value: QueryOrdered>(
        _ field: ModelField<Model, Value>, _ direction: QueryOrder = .ascending, nils: NilPlace? = nil
    ) -> ModelQuery { changed { $0.order(term[dynamicMember: field], direction, nils) } }

    /// By a term: `order { $0.title.ignoringCase }`.
    public func order<Value: QueryOrdered>(
        _ direction: QueryOrder = .ascending, nils: NilPlace? = nil, by key: (RowTerm<Model>) -> RowTerm<Value>
    ) -> ModelQuery { changed { $0.order(key(term), direction, nils) } }

    /// So many rows at most.
    public func limit(_ count: Int) -> ModelQuery { limit(.value(count)) }

    /// So many rows at most.
    public func limit(_ count: RowTerm<Int>) -> ModelQuery { changed { $0.limit(count) } }

    /// Without so many rows at the beginning.
    public func offset(_ count: Int) -> ModelQuery { offset(.value(count)) }

    /// Without so many rows at the beginning.
    public func offset(_ count: RowTerm<Int>) -> ModelQuery { changed { $0.offset(count) } }

    /// How many there are, as a query of one value; without order, limit and offset.
    public var counting: DocumentQuery {
        aggregating { _ in Field.rowCount }
    }

    /// One aggregate of all of them, as a query of one value; without order, limit and offset.
    public func aggregating<Value>(_ term: (RowTerm<Model>) -> GroupTerm<Value>) -> DocumentQuery {
        DocumentQuery(changed { $0.aggregate(term(self.term)) }.draft)
    }

    /// Their ids.
    package var selectingIDs: DocumentQuery {
        let id = Field.metadata(.id, of: ModelCollection<Model>.alias)
        return DocumentQuery(changed { $0.select(value: id) }.draft)
    }

    // Beyond documents.

    private var rows: RowsQuery<Model> { RowsQuery(draft, term) }

    /// Columns instead of documents: `select { [$0.title, $0.owner.name.named("owner")] }`.
    public func select(_ columns: (RowTerm<Model>) -> [any ResultColumnConvertible]) -> DocumentQuery {
        rows.select(columns)
    }

    /// Groups of those that have values in common: `group { [$0.status] }`; of all where there are none.
    public func group(
        by keys: (RowTerm<Model>) -> [any ResultColumnConvertible<RowLevel>]
    ) -> GroupsQuery<Model> { rows.group(by: keys) }

    /// Pairs with those of another collection of the same database.
    public func join<Other>(
        _ other: ModelCollection<Other>, on condition: (RowTerm<Model>, RowTerm<Other>) -> RowTerm<Bool>
    ) -> RowsQuery<Model, Other> {
        let alias = ModelCollection<Model>.joinedAlias
        let joined = other.term(as: alias)
        // Its type belongs to the condition: a LEFT JOIN would lose its rows by it in WHERE.
        let condition = condition(term, joined)
        let both = other.membership(of: alias).map { $0 && condition } ?? condition
        let draft = changed {
            $0.join(.inner(QuerySource(other.source, alias: alias), on: both.expression), both.fault)
        }.draft
        return RowsQuery(draft, term, joined)
    }

    /// Pairs with the elements of an array: `unnest(\.tags)`.
    public func unnest<Values: QueryArray>(
        _ field: ModelField<Model, Values>
    ) -> RowsQuery<Model, Values.QueryElement> {
        let alias = ModelCollection<Model>.elementAlias
        let array = term[dynamicMember: field]
        let element = RowTerm<Values.QueryElement>(
            .identifier(alias), fault: nil, cursor: array.cursor?.element(as: alias))
        let draft = changed {
            $0.join(.unnest(array.expression, alias: alias, isLeft: false, .none), array.fault)
        }.draft
        return RowsQuery(draft, term, element)
    }
}
