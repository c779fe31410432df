import KithNode
import KithStore

/// Where a database's connections are: opened alone, or by a node.
protocol DatabaseHome: Sendable {
    var name: DatabaseName { get }

    /// The open database. A node opens it anew after a repair or a restore.
    /// - Throws: `KithError`: `closed`, and why it can't be used.
    func executor() throws(KithError) -> DatabaseExecutor

    /// - Throws: `KithError` `forbidden` where the node may only read.
    func requireWriter() throws(KithError)

    /// Keeps others from compacting, copying or checking it at once.
    func reserve(for what: String) throws(KithError)
    func release()

    /// What checks have found.
    var damage: DamageBook { get }

    func close()
}
