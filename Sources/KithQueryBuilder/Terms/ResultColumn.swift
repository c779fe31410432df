import KithQuery

/// A column of a result: a term, and a name where one is given.
public struct ResultColumn<Level>: Sendable {
    package let expression: QueryExpression
    package let alias: String?
    package let fault: QueryBuilderError?
}

/// What can be selected: terms, and terms with a name.
public protocol ResultColumnConvertible<Level>: Sendable {
    associatedtype Level
    var resultColumn: ResultColumn<Level> { get }
}

extension ResultColumn: ResultColumnConvertible {
    /// The column, under its own name.
    public var resultColumn: ResultColumn<Level> { self }
}

extension QueryTerm: ResultColumnConvertible {
    /// The column, under its own name.
    public var resultColumn: ResultColumn<Level> {
        ResultColumn(expression: expression, alias: nil, fault: fault)
    }

    /// The term under a name: `a AS x`.
    public func named(_ alias: String) -> ResultColumn<Level> {
        ResultColumn(expression: expression, alias: alias, fault: fault)
    }
}
