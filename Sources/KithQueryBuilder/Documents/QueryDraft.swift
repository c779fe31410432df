import KithQuery

/// A statement on the way, and what is wrong with it so far; for the library alone.
public struct QueryDraft: Sendable {
    private(set) var statement: QueryStatement
    private var fault: QueryBuilderError?

    init(from source: QuerySource) {
        statement = QueryStatement(selection: .columns([.all(.none)]), from: source)
    }

    /// The statement, which may still make no sense: `QueryStatement.checked()` looks at that.
    package func finished() throws(QueryBuilderError) -> QueryStatement {
        if let fault { throw fault }
        return statement
    }

    private mutating func take(_ fault: QueryBuilderError?) { self.fault = self.fault ?? fault }

    mutating func filter(_ condition: RowTerm<Bool>) {
        statement.filter = Self.both(statement.filter, condition)
        take(condition.fault)
    }

    mutating func filterGroups<Level>(_ condition: QueryTerm<Bool, Level>) {
        statement.groupFilter = Self.both(statement.groupFilter, condition)
        take(condition.fault)
    }

    private static func both<Level>(_ old: QueryExpression?, _ new: QueryTerm<Bool, Level>) -> QueryExpression {
        old.map { (QueryTerm<Bool, Level>($0) && new).expression } ?? new.expression
    }

    mutating func order<Value, Level>(_ term: QueryTerm<Value, Level>, _ direction: QueryOrder, _ nils: NilPlace?) {
        statement.order.append(
            QueryOrdering(
                term.expression, isDescending: direction == .descending, nullsFirst: nils.map { $0 == .first }))
        take(term.fault)
    }

    mutating func limit(_ count: RowTerm<Int>) { statement.limit = count.expression }
    mutating func offset(_ count: RowTerm<Int>) { statement.offset = count.expression }
    mutating func makeDistinct() { statement.isDistinct = true }

    mutating func join(_ join: QueryJoin, _ fault: QueryBuilderError?) {
        statement.joins.append(join)
        take(fault)
    }

    mutating func bind<Value>(_ name: String, to term: RowTerm<Value>) {
        statement.bindings.append(QueryBinding(name, term.expression))
        take(term.fault)
    }

    mutating func select(_ columns: [any ResultColumnConvertible]) {
        statement.selection = .columns(columns.map { column(opening: $0) })
    }

    mutating func select<Value, Level>(value: QueryTerm<Value, Level>) {
        statement.selection = .raw(value.expression)
        take(value.fault)
    }

    /// One value of all rows, instead of them.
    mutating func aggregate<Value>(_ term: GroupTerm<Value>) {
        select(value: term)
        (statement.order, statement.limit, statement.offset) = ([], nil, nil)
    }

    mutating func select(_ selection: QuerySelection) { statement.selection = selection }

    mutating func group(by keys: [any ResultColumnConvertible<RowLevel>]) {
        for key in keys {
            guard case .value(let expression, let alias) = column(opening: key) else { continue }
            statement.groups.append(QueryGroup(expression, alias: alias))
        }
    }

    private mutating func column<Column: ResultColumnConvertible>(opening column: Column) -> QueryColumn {
        let column = column.resultColumn
        take(column.fault)
        return .value(column.expression, alias: column.alias)
    }
}

/// Which way an order goes.
public enum QueryOrder: Sendable {
    case ascending, descending
}

/// Where what is missing or NULL stands in an order; where nothing is said, before all values.
public enum NilPlace: Sendable {
    case first, last
}
