extension NodeService {
    func metrics() async throws(ControlError) -> ControlMetrics {
        await onNode { ControlMetrics(status: $0.status(), counters: $0.counters) }
    }

    func mute(_ code: HealthCode, milliseconds: Int64) async throws(ControlError) -> Int64 {
        let until = SystemClock.wallMilliseconds + milliseconds
        let result = await onNode { node -> Result<Int64, ControlError> in
            do throws(ControlError) {
                try node.mute(code, until: until)
                return .success(until)
            } catch { return .failure(error) }
        }
        return try result.get()
    }

    func unmute(_ code: HealthCode?) async throws(ControlError) {
        let result = await onNode { node -> Result<Void, ControlError> in
            do throws(ControlError) {
                try node.unmute(code)
                return .success(())
            } catch { return .failure(error) }
        }
        try result.get()
    }
}
