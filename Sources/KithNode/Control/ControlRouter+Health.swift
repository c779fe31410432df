import KithHTTPCore

extension ControlRouter {
    /// `GET /v1/metrics`
    func metrics(_ call: ControlCall) async throws(ControlError) -> HTTPResponse {
        try call.require("GET")
        let metrics = try await service.metrics()
        return HTTPResponse(
            status: 200, headers: ["Content-Type": ControlMetrics.contentType], body: .bytes(metrics.text))
    }

    /// `GET /v1/support`
    func supportReport(_ call: ControlCall) async throws(ControlError) -> HTTPResponse {
        try call.require("GET")
        let text = try await service.supportReport()
        return HTTPResponse(
            status: 200, headers: ["Content-Type": "text/plain; charset=utf-8"], body: .bytes(text))
    }

    /// `POST /v1/mute`
    func mute(_ call: ControlCall) async throws(ControlError) -> HTTPResponse {
        try call.require("POST", parameters: ["code", "for_ms"])
        guard let code = try healthCode(call) else { throw ControlError(.usage, "the parameter code is missing") }
        let time: Int64? = try call.integer("for_ms", ControlLimits.pauseMilliseconds)
        let until = try await service.mute(code, milliseconds: time ?? ControlLimits.muteMilliseconds)
        var object = JSONObjectWriter()
        object.add("code", code.rawValue)
        object.add("muted_until", time: until)
        return HTTPResponse(
            status: 200, headers: ["Content-Type": "application/json"],
            body: .bytes(object.bytes + [UInt8(ascii: "\n")]))
    }

    /// `POST /v1/unmute`
    func unmute(_ call: ControlCall) async throws(ControlError) -> HTTPResponse {
        try call.require("POST", parameters: ["code"])
        try await service.unmute(try healthCode(call))
        return HTTPResponse(status: 204)
    }

    private func healthCode(_ call: ControlCall) throws(ControlError) -> HealthCode? {
        guard let name = call.value("code") else { return nil }
        guard let code = HealthCode(named: name) else {
            throw ControlError(.usage, "\(Shown.name(name)) is no health check; kith help lists them")
        }
        return code
    }
}
