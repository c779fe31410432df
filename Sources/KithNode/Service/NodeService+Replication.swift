import KithDocument
import KithStore

extension NodeService {
    func replication(of name: String) async throws(ControlError) -> DatabaseReplication {
        if node.catalog.failure(of: name) == nil { _ = try database(name) }
        return await onNode { $0.replication[name] }
    }

    func setReplication(
        _ change: ControlReplication, of name: String
    ) async throws(ControlError) -> DatabaseReplication {
        do throws(StoreError) { _ = try DatabaseName(name) } catch { throw ControlError(error) }
        try await asking { node, done in
            node.setReplication(of: name) {
                change.apply(to: &$0)
            } then: {
                done($0)
            }
        }
        return await onNode { $0.replication[name] }
    }

    func pending(of name: String, at peer: String?, limit: Int) async throws(ControlError) -> ControlPending {
        _ = try database(name)
        let id = try await find(peer)
        let acknowledged = await onNode { $0.acknowledgements(of: name, by: id) }
        let page = try await reading(name) { reader throws(StoreError) in
            var reached: UInt64 = 0
            for position in acknowledged { reached = max(reached, try reader.resume(at: position) ?? 0) }
            return try reader.feed(after: reached, limit: limit + 1)
        }
        return ControlPending(
            isKnown: !acknowledged.isEmpty, documents: page.prefix(limit).map(\.document.string),
            hasMore: page.count > limit)
    }

    func resetCheckpoint(of name: String, with peer: String?) async throws(ControlError) {
        let database = try database(name)
        let id = try await find(peer)
        try await asking { node, done in node.resetCheckpoint(of: database, with: id) { done($0) } }
    }

    func synchronise(_ name: String, timeoutMilliseconds: Int64) async throws(ControlError) -> ControlSync {
        _ = try database(name)
        return try await outcome { node, done in
            do throws(ControlError) {
                try node.synchronise(name, timeoutMilliseconds: timeoutMilliseconds) { done(.success($0)) }
            } catch { done(.failure(error)) }
        }
    }
}
