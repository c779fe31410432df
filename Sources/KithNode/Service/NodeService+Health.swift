extension NodeService {
    func metrics() async throws(ControlError) -> ControlMetrics {
        try await asking { (node, done: @escaping @Sendable (Result<ControlMetrics, ControlError>) -> Void) in
            node.freshen { done(.success(ControlMetrics(status: node.status(), counters: node.counters))) }
        }
    }

    func mute(_ code: HealthCode, milliseconds: Int64) async throws(ControlError) -> Int64 {
        let until = SystemClock.wallMilliseconds + milliseconds
        return try await asking { (node, done: @escaping @Sendable (Result<Int64, ControlError>) -> Void) in
            node.mute(code, until: until) { failure in done(failure.map { .failure($0) } ?? .success(until)) }
        }
    }

    func unmute(_ code: HealthCode?) async throws(ControlError) {
        try await asking { (node, done: @escaping @Sendable (Result<Void, ControlError>) -> Void) in
            node.unmute(code) { failure in done(failure.map { .failure($0) } ?? .success(())) }
        }
    }
}
