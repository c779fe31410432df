import Dispatch
import KithNode
import KithStore
import KithSystem
import Synchronization

/// A database that no node has.
final class DatabaseAlone: DatabaseHome {
    let name: DatabaseName
    let damage: DamageBook
    private let open: Mutex<DatabaseExecutor?>
    private let reserved = Mutex<String?>(nil)
    private let upkeep: any WorkQueue

    init(_ database: DatabaseExecutor, damage: DamageBook) {
        name = database.name
        self.damage = damage
        open = Mutex(database)
        upkeep = database.machine.queue("kith.upkeep")
        keepUp()
    }

    /// Does once an hour what a node would do.
    private func keepUp() {
        upkeep.async(afterMilliseconds: Limits.upkeepMilliseconds) { [weak self] in
            guard let self, let database = open.withLock({ $0 }) else { return }
            database.maintain()
            keepUp()
        }
    }

    deinit {
        // The last to let go may be a closure on a queue of the database, which can't wait for itself.
        if let database = take() { DispatchQueue.global().async { database.close() } }
    }

    func executor() throws(KithError) -> DatabaseExecutor {
        guard let database = open.withLock({ $0 }) else {
            throw KithError(.closed, name.string, "database \(name) was closed: open it again")
        }
        return database
    }

    func requireWriter() throws(KithError) {}

    func reserve(for what: String) throws(KithError) {
        let other = reserved.withLock { reserved -> String? in
            if let other = reserved { return other }
            reserved = what
            return nil
        }
        guard let other else { return }
        throw KithError(.inUse, name.string, "database \(name) is being \(other): try again when that is over")
    }

    func release() { reserved.withLock { $0 = nil } }

    func close() {
        guard let database = take() else { return }
        if Waiting.isInside { return DispatchQueue.global().async { database.close() } }
        database.close()
    }

    private func take() -> DatabaseExecutor? {
        open.withLock { open in
            defer { open = nil }
            return open
        }
    }
}
