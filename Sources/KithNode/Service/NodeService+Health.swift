extension NodeService {
    func metrics() async throws(ControlError) -> ControlMetrics {
        await onNode { ControlMetrics(status: $0.status(), counters: $0.counters) }
    }
}
