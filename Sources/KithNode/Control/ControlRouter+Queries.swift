import KithHTTPCore
import KithQuery

extension ControlRouter {
    /// What is asked of a database, and its indexes.
    func routeQueries(_ call: ControlCall, _ database: String) async throws(ControlError) -> HTTPResponse {
        switch (call.segments.count, call.segments[3]) {
        case (4, "query"):
            try call.require("POST")
            return Self.lines(try await service.query(try await Self.query(call), in: database))
        case (4, "explain"):
            try call.require("POST")
            return Self.json(try await service.explain(try await Self.query(call), in: database).json)
        case (4, "indexes"):
            try call.require("GET")
            return Self.json("indexes", try await service.indexes(of: database).map(\.json))
        case (5, "indexes"): return try await routeIndex(call, call.segments[4], database)
        default: throw call.unknownPath
        }
    }

    private func routeIndex(
        _ call: ControlCall, _ name: String, _ database: String
    ) async throws(ControlError) -> HTTPResponse {
        try call.require("PUT", "DELETE")
        if call.method == "PUT" {
            let body = try await call.body(limit: ControlLimits.smallBodyBytes, of: "index \(Shown.name(name))")
            let definition = try IndexDefinition(named: name, body: body)
            return Self.lines(try await service.createIndex(definition, in: database))
        }
        try await service.dropIndex(name, in: database)
        return HTTPResponse(status: 204)
    }

    private static func query(_ call: ControlCall) async throws(ControlError) -> ControlQuery {
        try ControlQuery(body: try await call.body(limit: ControlLimits.documentBytes, of: "the query"))
    }
}
