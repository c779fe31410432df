import Kith

/// How the notes stand with the other machines, in one line.
public enum SyncState: Hashable, Sendable {
    /// In no group.
    case local
    /// By the user's wish nothing is exchanged.
    case offline
    /// No other machine can be reached now.
    case alone
    /// So many changes are to come or to go.
    case catchingUp(left: UInt64)
    /// All that are reached have the same notes.
    case inSync(machines: Int)

    /// What the status says of a database.
    public init(_ status: NodeStatus, of name: String) {
        guard let database = status.database(name) else {
            self = .alone
            return
        }
        let machines = database.peers ?? 0
        if database.replication.isPaused {
            self = .offline
        } else if machines == 0 {
            self = .alone
        } else if database.inSyncWith == machines {
            self = .inSync(machines: machines)
        } else {
            let progress = status.peers.flatMap(\.databases).filter { $0.name == name }
            self = .catchingUp(left: progress.reduce(0) { $0 + ($1.inChanges ?? 0) + ($1.outChanges ?? 0) })
        }
    }

    /// For the corner of the screen.
    public var text: String {
        switch self {
        case .local: "this machine alone"
        case .offline: "offline"
        case .alone: "nobody there"
        case .catchingUp(0): "catching up"
        case .catchingUp(let left): "catching up, \(left) left"
        case .inSync(let machines): "in sync with \(machines)"
        }
    }
}
