import KithQuery
import KithStore

/// A query that is being run, within what it may cost.
final class QueryRun {
    /// Why it is given up.
    private enum Stop {
        case cancelled
        case late(Duration)

        var message: String {
            switch self {
            case .cancelled: "the query was given up: its task was cancelled"
            case .late(let limit):
                "the query was given up: it took longer than \(limit), its time limit; explain says whether an index would help"
            }
        }
    }

    /// Asked while it runs.
    private final class Watch {
        private let isCancelled: (@Sendable () -> Bool)?
        private let limit: Duration?
        private let end: ContinuousClock.Instant?
        private(set) var stop: Stop?

        init(_ isCancelled: (@Sendable () -> Bool)?, _ limit: Duration?) {
            self.isCancelled = isCancelled
            self.limit = limit
            end = limit.map { .now + $0 }
        }

        func isUnwanted() -> Bool {
            if isCancelled?() == true {
                stop = .cancelled
            } else if let limit, let end, end <= .now {
                stop = .late(limit)
            }
            return stop != nil
        }
    }

    private let options: QueryOptions
    private let watch: Watch
    private let cursor: QueryCursor
    private var rows = 0
    private var bytes = 0

    init(_ query: RunnableQuery, by access: ReadAccess, _ options: QueryOptions) throws(KithError) {
        self.options = options
        let watch = Watch(access.isCancelled, options.timeLimit)
        self.watch = watch
        let isWatched = access.isCancelled != nil || options.timeLimit != nil
        let bounds = QueryBounds(isUnwanted: isWatched ? { watch.isUnwanted() } : nil)
        let reader = try access.reader()
        let (now, offset) = RunnableQuery.time
        do throws(StoreError) {
            cursor = try reader.query(
                try query.prepared(by: reader), parameters: query.parameters, now: now, offset: offset, bounds: bounds)
        } catch { throw Self.error(error, watch) }
    }

    deinit { cursor.close() }

    /// The next row; nil after the last one.
    func next() throws(KithError) -> QueryRow? {
        let row: QueryRow?
        do throws(StoreError) { row = try cursor.next() } catch { throw Self.error(error, watch) }
        if let row { try count(row) }
        return row
    }

    private func count(_ row: QueryRow) throws(KithError) {
        rows += 1
        if let limit = options.rowLimit, rows > limit {
            throw Self.given(up: "it has more than \(limit) rows, its limit; LIMIT gives the first ones")
        }
        guard let limit = options.byteLimit else { return }
        guard let size = row.value.size(atMost: limit - bytes) else {
            throw Self.given(up: "its rows have more than \(limit) bytes, their limit; select less, or fewer by LIMIT")
        }
        bytes += size
    }

    private static func given(up why: String) -> KithError {
        KithError(.cancelled, "query", "the query was given up: \(why)")
    }

    private static func error(_ error: StoreError, _ watch: Watch) -> KithError {
        guard error.code == .cancelled, let stop = watch.stop else { return KithError(error) }
        return KithError(.cancelled, error.subject, stop.message)
    }
}
