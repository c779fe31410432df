import KithSystem

extension NodeService {
    func metrics() async throws(ControlError) -> ControlMetrics {
        await onFreshNode { ControlMetrics(status: $0.status(), counters: $0.counters) }
    }

    func mute(_ code: HealthCode, milliseconds: Int64) async throws(ControlError) -> Int64 {
        let until = SystemClock().wallMilliseconds + milliseconds
        try await asking { node, done in node.mute(code, until: until, then: done) }
        return until
    }

    func unmute(_ code: HealthCode?) async throws(ControlError) {
        try await asking { node, done in node.unmute(code, then: done) }
    }
}
