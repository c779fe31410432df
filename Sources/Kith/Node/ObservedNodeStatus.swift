import Observation

/// The status of a node for a view: bound to the main actor, and observable. It follows the node as long as it lives.
///
///     @State private var sync = ObservedNodeStatus(of: node)
///     ...
///     Text(sync.state.rawValue)
@MainActor
@Observable
public final class ObservedNodeStatus {
    /// The newest status; nil before the first came.
    public private(set) var status: NodeStatus?
    @ObservationIgnored private var task: Task<Void, Never>?

    /// Follows the node from now on.
    public init(of node: LocalNode) {
        let updates = node.statusUpdates()
        task = Task { [weak self] in
            for await status in updates {
                guard let self else { return }
                self.status = status
            }
        }
    }

    deinit { task?.cancel() }

    /// In one word; `offline` before the first status came.
    public var state: NodeStatus.State { status?.state ?? .offline }
}
