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

    /// What is left of the bounds of one query.
    final class Rest {
        private let bounds: QueryBounds
        private var done: UInt64 = 0
        private(set) var isGivenUp = false

        init(_ bounds: QueryBounds) { self.bounds = bounds }

        func isUnwanted(after steps: UInt64) -> Bool {
            done += steps
            isGivenUp = isGivenUp || bounds.steps.map { done > $0 } ?? false || bounds.isUnwanted?() ?? false
            return isGivenUp
        }
    }
}
