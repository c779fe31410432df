import KithDocument

/// An expression that SQLite has evaluated: SQL++ whose parameters `$1`, `$2` ... are the fields given with it.
package final class CompiledExpression {
    private let expression: QueryExpression

    package init(_ expression: QueryExpression) { self.expression = expression }

    /// Nil for a text that is none.
    package convenience init?(text: String) {
        guard let expression = try? QueryExpression(parsing: text) else { return nil }
        self.init(expression)
    }

    /// - Parameter inputs: the canonical texts of the fields; nil for MISSING.
    package func value(_ inputs: [QueryValue], _ context: FunctionContext) throws(QueryError) -> QueryValue {
        try QueryEvaluator(parameters: ParameterValues(slots: inputs), context: context).constant(expression)
    }
}
