import KithDocument
import KithHTTPCore
import KithReplication

extension ControlRouter {
    func routeReplication(
        _ call: ControlCall, _ database: String, _ operation: String
    ) async throws(ControlError) -> HTTPResponse? {
        switch operation {
        case "replication":
            if call.method == "GET" {
                try call.require("GET", "PUT")
                return Self.json(try await service.replication(of: database).json)
            }
            try call.require("GET", "PUT", parameters: ["direction", "mode", "paused"])
            var change = ControlReplication()
            change.direction = try call.choice("direction")
            change.mode = try call.choice("mode")
            change.isPaused = call.value("paused") == nil ? nil : try call.flag("paused")
            change.filter = try Self.filter(try await call.body(limit: ControlLimits.smallBodyBytes, of: "the filter"))
            return Self.json(try await service.setReplication(change, of: database).json)
        case "sync":
            try call.require("POST", parameters: ["timeout_ms"])
            let timeout: Int64? = try call.integer("timeout_ms", ControlLimits.waitMilliseconds)
            return Self.json(
                try await service.synchronise(
                    database, timeoutMilliseconds: timeout ?? ControlLimits.synchronisationMilliseconds
                ).json)
        case "pending":
            try call.require("GET", parameters: ["peer", "limit"])
            let limit = try call.integer("limit", 1...ControlLimits.mostPendingDocuments)
            return Self.json(
                try await service.pending(
                    of: database, at: call.value("peer"), limit: limit ?? ControlLimits.pendingDocuments
                ).json)
        case "reset":
            try call.require("POST", parameters: ["peer"])
            try await service.resetCheckpoint(of: database, with: call.value("peer"))
            return HTTPResponse(status: 204)
        default: return nil
        }
    }

    /// What a body says of the filter: nothing where there is none, `null` for no filter.
    private static func filter(_ body: [UInt8]) throws(ControlError) -> FeedFilter?? {
        if body.isEmpty { return nil }
        let json: JSONValue
        do throws(DocumentError) { json = try JSONValue(parsing: body) } catch {
            throw ControlError(.usage, "the filter is no JSON: \(error.message)")
        }
        return json == .null ? .some(nil) : .some(try FeedFilter(json: json))
    }
}

extension ControlCall {
    /// A parameter that is one of a few words.
    fileprivate func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String
    ) throws(ControlError) -> Choice? {
        guard let text = value(name) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlError(.usage, "the parameter \(name) is one of \(words), not \(Shown.name(text))")
        }
        return choice
    }
}
