import KithNode

/// Waits for a database to go on, also where its node opens its file anew.
struct DatabaseFollower {
    private let database: Database
    private var executor: DatabaseExecutor?
    /// Whether the file was opened anew since the last moment: its sequences may be others.
    private(set) var isOther = false

    init(_ database: Database) { self.database = database }

    /// A moment of the database that is another than the one that is known, at once for nil; or any, when a time has come.
    /// - Parameter time: in milliseconds since 1970.
    /// - Returns: nil when the database is closed or the task cancelled.
    /// - Throws: `KithError` where the database can't be used.
    mutating func moment(
        after known: DatabaseMoment?, until time: Int64? = nil
    ) async throws(KithError) -> DatabaseMoment? {
        while !Task.isCancelled {
            guard let executor = try open() else { return nil }
            isOther = self.executor != nil && executor !== self.executor
            self.executor = executor
            let moment = executor.moment
            guard let known, moment == known, !isOther else { return moment }
            let left = time.map { $0 - RunnableQuery.time.now }
            if let left, left <= 0 { return moment }
            // Far times come nearer with every change.
            await executor.waitForChange(
                after: known, for: left.map { .milliseconds(min($0, Limits.liveAlarmMilliseconds)) })
        }
        return nil
    }

    private func open() throws(KithError) -> DatabaseExecutor? {
        do { return try database.home.executor() } catch {
            if error.code == .closed { return nil }
            throw error
        }
    }
}
