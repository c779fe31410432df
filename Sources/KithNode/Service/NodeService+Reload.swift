extension NodeService {
    func reload() async throws(ControlError) -> ControlReload {
        let node = node
        let result = await withCheckedContinuation { continuation in
            node.reload { continuation.resume(returning: $0) }
        }
        return try result.get()
    }
}
