import Observation

/// The result of a live query for a view: bound to the main actor, and observable. It follows the query as long as it lives.
///
///     @State private var open = ObservedQuery(try tasks.where(\.status == .pending).order(\.dueDate).live())
///     ...
///     ForEach(open.rows) { TaskRow(task: $0) }
@MainActor
@Observable
public final class ObservedQuery<Row: Sendable> {
    /// The newest result; empty before the first came.
    public private(set) var rows: [Row] = []
    /// How it differs from the one before.
    public private(set) var difference = RowDifference()
    /// Whether a first result has come.
    public private(set) var isLoaded = false
    /// Why there is no newer result; nil while all is well. It is tried again.
    public private(set) var error: KithError?
    @ObservationIgnored private var task: Task<Void, Never>?

    /// Follows the query from now on.
    public init(_ query: LiveQuery<Row>) {
        task = Task { [weak self] in
            var results = query.makeAsyncIterator()
            while !Task.isCancelled {
                do {
                    guard let result = try await results.next(), let self else { return }
                    take(result)
                } catch {
                    guard let self else { return }
                    self.error = error as? KithError ?? KithError(.internalError, "query", "\(error)")
                    try? await Task.sleep(for: .seconds(1))
                }
            }
        }
    }

    deinit { task?.cancel() }

    private func take(_ result: LiveResult<Row>) {
        rows = result.rows
        difference = result.difference
        isLoaded = true
        error = nil
    }
}
