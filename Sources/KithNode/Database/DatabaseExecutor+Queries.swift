import KithStore
import Synchronization

/// What the queries of a database have used.
struct QueryUse: Sendable {
    /// Indexes that nobody has written down yet.
    var indexes: Set<String> = []
    /// SQLite's plans since the opening, and how many queries had each.
    var plans: [[String]: UInt64] = [:]
}

extension DatabaseExecutor {
    /// Remembers what the queries of a reader have used. A reading causes no commit: it is written down with the upkeep.
    func noteQueries(of reader: StoreReader) {
        let (indexes, plans) = (reader.takeUsedIndexes(), reader.takePlans())
        guard !plans.isEmpty else { return }
        queries.withLock { use in
            use.indexes.formUnion(indexes)
            for (plan, count) in plans where use.plans[plan] != nil || use.plans.count < NodeLimits.plansCounted {
                use.plans[plan, default: 0] += count
            }
        }
    }

    /// The indexes that were used since somebody asked, ascending.
    func takeUsedIndexes() -> [String] {
        queries.withLock { use in
            defer { use.indexes = [] }
            return use.indexes.sorted()
        }
    }

    /// How queries were run since the opening, the most frequent way first.
    var planCounts: [QueryPlanCount] {
        queries.withLock { $0.plans }.map { QueryPlanCount(plan: $0.key, queries: $0.value) }
            .sorted { ($1.queries, $0.plan.joined()) < ($0.queries, $1.plan.joined()) }
    }
}
