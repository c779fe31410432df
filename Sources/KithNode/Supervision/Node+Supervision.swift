import Dispatch
import KithStore
import KithSystem

extension Node {
    /// How the node is, in a few words for a service manager; on the queue only.
    var statusLine: String { serviceStatusText() }

    /// Calls back when a task has gone through the node's queue and a reading of a database has come back, well or not; of
    /// several databases another one each time.
    package func prove(_ isAlive: @escaping @Sendable () -> Void) {
        queue.async {
            let databases = self.catalog.databases
            if databases.isEmpty { return isAlive() }
            self.proofs = (self.proofs + 1) % databases.count
            databases[self.proofs].read { reader throws(StoreError) in
                try reader.feed(after: 0, limit: 1).count
            } completion: { _ in
                isAlive()
            }
        }
    }
}
