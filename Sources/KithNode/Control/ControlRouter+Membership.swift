import KithHTTPCore

extension ControlRouter {
    /// Operations on the members of the group.
    func routeMembership(_ call: ControlCall, _ operation: String) async throws(ControlError) -> HTTPResponse {
        switch operation {
        case "members":
            try call.require("GET")
            return Self.json(try await service.members().json)
        case "revocations":
            try call.require("POST", parameters: ["node", "dry_run"])
            let node = try Self.node(call)
            let key = try await call.body(limit: ControlLimits.smallBodyBytes, of: "the root's key")
            let result = try await service.revoke(
                node, rootKey: key.isEmpty ? nil : key, isDryRun: try call.flag("dry_run"))
            return Self.json(result.json)
        case "roles":
            try call.require("POST", parameters: ["node", "role"])
            let node = try Self.node(call)
            guard let role = call.value("role"), ["admin", "writer", "reader"].contains(role) else {
                throw ControlError(.usage, "the parameter role is writer or reader")
            }
            return Self.json(try await service.setRole(role, of: node).json)
        default: throw call.unknownPath
        }
    }

    private static func node(_ call: ControlCall) throws(ControlError) -> String {
        guard let node = call.value("node"), !node.isEmpty else {
            throw ControlError(.usage, "the parameter node is missing: a name or the beginning of an id")
        }
        return node
    }
}
