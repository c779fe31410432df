import KithQuery

/// What a function takes: a term, or a constant.
public protocol QueryArgument: Sendable {
    var queryArgument: QueryPart { get }
}

/// A part of a query without its type.
public struct QueryPart: Sendable {
    package let expression: QueryExpression
    package let fault: QueryBuilderError?
}

extension QueryTerm: QueryArgument {
    /// As an argument of a function.
    public var queryArgument: QueryPart { QueryPart(expression: expression, fault: fault) }
}

extension QueryArgument where Self: Encodable {
    /// As an argument of a function.
    public var queryArgument: QueryPart {
        let (expression, fault) = constant(self)
        return QueryPart(expression: expression, fault: fault)
    }
}

extension String: QueryArgument {}
extension Bool: QueryArgument {}
extension Int: QueryArgument {}
extension Double: QueryArgument {}

extension QueryTerm {
    /// A function of docs/query.md: `.function("ROUND", $0.price, 2)`. Whether there is one, takes so many arguments, and
    /// may have aggregates among them is looked at when the query is run.
    public static func function(_ name: String, _ arguments: any QueryArgument...) -> Self {
        var expressions: [QueryExpression] = []
        var fault: QueryBuilderError?
        for argument in arguments {
            let part = argument.queryArgument
            expressions.append(part.expression)
            fault = fault ?? part.fault
        }
        return Self(.call(name.uppercased(), expressions), fault)
    }
}
