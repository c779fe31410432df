import KithQuery

/// How long a query may go on.
package struct QueryBounds {
    /// Asked every few milliseconds of work; true ends the query. A limit of time is one that looks at a clock.
    package var isUnwanted: (() -> Bool)?
    /// Steps of work: instructions of SQLite and expressions that are evaluated. Nil for no bound. A scan takes about 20 a
    /// document.
    package var steps: UInt64?

    package init(isUnwanted: (() -> Bool)? = nil, steps: UInt64? = nil) {
        self.isUnwanted = isUnwanted
        self.steps = steps
    }

    /// What is left of the bounds of one query; asked while its statement runs.
    final class Rest: Connection.Watcher {
        private let bounds: QueryBounds
        private let functions: QueryFunctions
        private var done: UInt64 = 0
        private(set) var isGivenUp = false

        init(_ bounds: QueryBounds, _ functions: QueryFunctions) {
            self.bounds = bounds
            self.functions = functions
        }

        override func isUnwanted() -> Bool {
            functions.failure != nil || isUnwanted(after: UInt64(Limits.watchInstructions))
        }

        private func isUnwanted(after steps: UInt64) -> Bool {
            done += steps
            isGivenUp = isGivenUp || bounds.steps.map { done > $0 } ?? false || bounds.isUnwanted?() ?? false
            return isGivenUp
        }

        /// For what is evaluated; nil where there are no bounds.
        var work: QueryWork? {
            if bounds.isUnwanted == nil, bounds.steps == nil { return nil }
            return QueryWork { self.isUnwanted(after: QueryLimits.stepsBetweenLooks) }
        }
    }
}
