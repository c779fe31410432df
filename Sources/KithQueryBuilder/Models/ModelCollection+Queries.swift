// What begins a query of all documents of the collection: as `ModelQuery` has it.
extension ModelCollection {
    /// Those of which a condition is true; of several calls, all are.
    public func `where`(_ condition: ModelCondition<Model>) -> ModelQuery<Model> { all.where(condition) }

    /// Those of which a condition is true; of several calls, all are.
    public func `where`(_ condition: (RowTerm<Model>) -> RowTerm<Bool>) -> ModelQuery<Model> { all.where(condition) }

    /// Rows in an order; of several calls the first counts most.
    public func order<Value: QueryOrdered>(
        _ field: ModelField<Model, Value>, _ direction: QueryOrder = .ascending, nils: NilPlace? = nil
    ) -> ModelQuery<Model> { all.order(field, direction, nils: nils) }

    /// Rows in an order; of several calls the first counts most.
    public func order<Value: QueryOrdered>(
        _ direction: QueryOrder = .ascending, nils: NilPlace? = nil, by key: (RowTerm<Model>) -> RowTerm<Value>
    ) -> ModelQuery<Model> { all.order(direction, nils: nils, by: key) }

    /// Rows of columns: `SELECT a, b AS x`.
    public func select(_ columns: (RowTerm<Model>) -> [any ResultColumnConvertible]) -> DocumentQuery {
        all.select(columns)
    }

    /// Groups of rows that have these in common; of all rows where there are none.
    public func group(
        by keys: (RowTerm<Model>) -> [any ResultColumnConvertible<RowLevel>]
    ) -> GroupsQuery<Model> { all.group(by: keys) }

    /// Pairs with those of another collection of the same database.
    public func join<Other>(
        _ other: ModelCollection<Other>, on condition: (RowTerm<Model>, RowTerm<Other>) -> RowTerm<Bool>
    ) -> RowsQuery<Model, Other> { all.join(other, on: condition) }

    /// Pairs with the elements of an array.
    public func unnest<Values: QueryArray>(
        _ field: ModelField<Model, Values>
    ) -> RowsQuery<Model, Values.QueryElement> { all.unnest(field) }
}
