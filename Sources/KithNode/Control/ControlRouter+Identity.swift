import KithHTTPCore

// Who the node is, and on which machine.

extension ControlRouter {
    func routeIdentity(_ call: ControlCall) async throws(ControlError) -> HTTPResponse {
        switch (call.segments.count, call.segments.last) {
        case (2, _):
            try call.require("GET")
            return Self.json(try await service.identity().json)
        case (3, "keep"):
            try call.require("POST")
            try await service.keepMachine()
            return HTTPResponse(status: 204)
        default: throw call.unknownPath
        }
    }
}

extension NodeIdentity {
    /// One JSON object.
    package var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("id", id)
        object.add("name", name)
        object.add("group", group)
        object.add("role", role)
        object.add("fingerprint", fingerprint)
        object.add("machine", machine.rawValue)
        object.add("data", directory)
        return object.bytes
    }
}
