import Observation

/// What a view of the list shows: the items of a filter in an order, as they are at any time. Bound to the main actor, observable.
///
/// Nobody reloads: the list follows the repository. A filter or an order that is set, as by each letter that is typed, ends the
/// search before, and nothing of that one comes in afterwards.
@MainActor
@Observable
package final class TodoListModel {
    /// The items; those of the search before until the first of a new one come.
    package private(set) var items: [TodoItem] = []
    /// Whether the first list of a search is awaited.
    package private(set) var isLoading = true
    /// Why there is no newer list, until `retry`; nil while all is well.
    package private(set) var error: (any Error)?
    /// Which items are shown.
    package var filter: TodoFilter { didSet { if filter != oldValue { follow() } } }
    /// In which order.
    package var order: TodoOrder { didSet { if order != oldValue { follow() } } }

    @ObservationIgnored private let repository: any TodoRepository
    @ObservationIgnored private var task: Task<Void, Never>?

    /// Follows the items of a repository.
    package init(_ repository: any TodoRepository, filter: TodoFilter = TodoFilter(), order: TodoOrder = .dueDate) {
        self.repository = repository
        self.filter = filter
        self.order = order
        follow()
    }

    deinit { task?.cancel() }

    /// Completes or reopens an item; the list follows by itself.
    package func toggle(_ id: String) async {
        do { try await repository.toggle(id) } catch { self.error = error }
    }

    /// Goes on after an error.
    package func retry() { follow() }

    private func follow() {
        task?.cancel()
        isLoading = true
        let lists = repository.lists(filter, by: order)
        task = Task { [weak self] in
            do {
                for try await list in lists {
                    guard !Task.isCancelled, let self else { return }
                    (items, isLoading, error) = (list, false, nil)
                }
            } catch {
                guard !Task.isCancelled, let self else { return }
                (isLoading, self.error) = (false, error)
            }
        }
    }
}
