/// How long the work of a query is still wanted. Expressions ask it as they are evaluated, so that one that goes over
/// millions of elements within one row ends too.
package final class QueryWork {
    private let isUnwanted: () -> Bool
    private var steps: UInt64 = 0

    /// - Parameter isUnwanted: asked again and again; true ends the evaluation with an error.
    package init(isUnwanted: @escaping () -> Bool) { self.isUnwanted = isUnwanted }

    /// Other work begins, whose steps are counted from the start.
    package func beginAnew() { steps = 0 }

    /// One expression more.
    func count() throws(QueryError) {
        steps &+= 1
        if steps.isMultiple(of: QueryLimits.stepsBetweenLooks), isUnwanted() { throw .givenUp }
    }
}

extension QueryError {
    static let givenUp = QueryError.running("the query was given up before its end: it took longer than was allowed")
}
