import KithNode
import KithStore

/// A database that a node has.
struct NodeHome: DatabaseHome {
    let name: DatabaseName
    let node: KithNode.Node

    var damage: DamageBook { node.damage }

    func executor() throws(KithError) -> DatabaseExecutor {
        if let database = node.catalog[name.string] {
            if database.isOver { throw KithError(.closed, name.string, "the node of database \(name) was stopped") }
            return database
        }
        if let failure = node.catalog.failure(of: name.string) { throw KithError(failure) }
        throw KithError(
            .notFound, name.string, "the node has no database \(name) any more: ask it for the database to make it anew"
        )
    }

    func requireWriter() throws(KithError) {
        do throws(ControlError) { try node.requireWriter() } catch { throw KithError(error, of: name.string) }
    }

    func reserve(for what: String) throws(KithError) {
        do throws(StoreError) { try node.catalog.reserve(name, for: what) } catch { throw KithError(error) }
    }

    func release() { node.catalog.release(name) }

    func close() {}
}
