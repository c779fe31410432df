import KithDocument
import KithReplication
import KithStore

/// One database of a running node: the real store, and the work that waits for it. Writes are done one after the other
/// in the order given, readings one after the other beside them; each takes some time, in which other things happen.
final class SimulatedDatabase {
    /// Who asked.
    enum Work {
        case client(item: Int, Operation)
        case link(UInt64, Ticket, StoreRequest)
    }

    /// What came of it, told when the work is done.
    enum Answer {
        case client(item: Int, Operation, ClientResult)
        case link(UInt64, Ticket, StoreResult)
    }

    struct Lane {
        var waiting: [Work] = []
        var isBusy = false
        /// What is done and not told yet.
        var answers: [Answer] = []
        /// Whether the work that is done wrote.
        var hasWritten = false
    }

    let number: Int
    let store: Store
    let reader: StoreReader
    let replica: SimulatedReplica
    /// 0: writes; 1: readings.
    var lanes = [Lane(), Lane()]
    var claims = WantRegistry()

    init(number: Int, store: Store, sabotage: Sabotage?) throws(StoreError) {
        self.number = number
        self.store = store
        reader = try store.makeReader()
        replica = SimulatedReplica(store: store, reader: reader, sabotage: sabotage)
    }

    static func name(_ number: Int) -> String { "db\(number)" }

    /// All leaves of a document with what is known of their ancestry, ascending; empty when nothing is known.
    func leaves(of change: Change) throws(StoreError) -> [Delivery.Item] {
        let want = Want(document: change.document, revisions: change.leaves.map(\.id), known: [])
        return try reader.deliveries(for: [want], maximumBytes: .max).deliveries.first?.items ?? []
    }
}

/// What a client is told.
enum ClientResult {
    case written(RevisionID)
    /// There was nothing to write.
    case unchanged
    /// A read: nil when nothing lives.
    case read(RevisionID?)
    /// A precondition failed, or there is no such document.
    case refused(String)
}
