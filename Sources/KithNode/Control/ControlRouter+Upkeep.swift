import KithHTTPCore

extension ControlRouter {
    /// Databases as wholes; nil for what is none of these operations.
    func routeUpkeep(
        _ call: ControlCall, _ database: String, _ operation: String
    ) async throws(ControlError) -> HTTPResponse? {
        switch operation {
        case "verify":
            try call.require("POST")
            return Self.lines(try await service.verify(database))
        case "repair":
            try call.require("POST", parameters: ["wait_ms"])
            let wait = try call.integer("wait_ms", ControlLimits.repairMilliseconds)
            return Self.lines(
                try await service.repair(database, waitingMilliseconds: wait ?? NodeLimits.fetchMilliseconds))
        case "compact":
            try call.require("POST")
            return Self.lines(try await service.compact(database))
        case "backup":
            try call.require("GET")
            let file = try await service.backup(database)
            var headers: HTTPHeaders = ["Content-Type": "application/vnd.sqlite3"]
            headers.add("Kith-Bytes", String(file.bytes))
            return HTTPResponse(
                status: 200, headers: headers,
                body: .stream { writer in
                    while let part = try file.next() { try await writer.write(part) }
                })
        case "restore":
            try call.require("POST", parameters: ["replace"])
            let replaces = try call.flag("replace")
            return Self.json(
                try await service.restore(database, from: call.request.body, replaces: replaces).json, status: 201)
        default: return nil
        }
    }
}
