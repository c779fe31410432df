import KithHTTPCore

extension ControlRouter {
    /// `GET /v1/metrics`
    func metrics(_ call: ControlCall) async throws(ControlError) -> HTTPResponse {
        try call.require("GET")
        let metrics = try await service.metrics()
        return HTTPResponse(
            status: 200, headers: ["Content-Type": ControlMetrics.contentType], body: .bytes(metrics.text))
    }
}
