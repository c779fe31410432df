import KithDocument
import KithHTTPCore
import KithStore

/// Maps requests on the control socket to the operations of a service, and their results to responses.
package struct ControlRouter: Sendable {
    let service: any ControlService

    package init(_ service: any ControlService) { self.service = service }

    /// Answers one request; errors become responses.
    package func respond(to request: HTTPRequest) async -> HTTPResponse {
        do throws(ControlError) {
            return try await route(ControlCall(request))
        } catch {
            return Self.response(to: error)
        }
    }

    /// The response that tells of an error.
    package static func response(to error: ControlError) -> HTTPResponse {
        HTTPResponse(status: error.httpStatus, headers: jsonHeaders, body: .bytes(error.json + newline))
    }

    private func route(_ call: ControlCall) async throws(ControlError) -> HTTPResponse {
        guard call.segments.first == "v1" else { throw call.unknownPath }
        switch call.segments.dropFirst().first {
        case "databases" where call.segments.count == 2:
            try call.require("GET")
            return Self.json("databases", try await service.databases().map(\.json))
        case "databases":
            guard DatabaseName.isValid(call.segments[2]) else {
                throw ControlError(
                    .invalid,
                    "\(Shown.name(call.segments[2])) is no database name: it begins with a letter from a to z and has "
                        + "only those, digits and _$()+-, up to \(DocumentLimits.databaseNameBytes) bytes")
            }
            return try await routeDatabase(call, call.segments[2])
        case "identity": return try await routeIdentity(call)
        case .some where call.segments.count == 2: return try await routeNode(call, call.segments[1])
        default: throw call.unknownPath
        }
    }

    // MARK: The node

    private func routeNode(_ call: ControlCall, _ operation: String) async throws(ControlError) -> HTTPResponse {
        switch operation {
        case "status":
            try call.require("GET", parameters: ["watch"])
            if try call.flag("watch") { return try await watchStatus() }
            return Self.json(try await service.status().json)
        case "check":
            try call.require("GET")
            return check(try await service.status())
        case "metrics": return try await metrics(call)
        case "support": return try await supportReport(call)
        case "mute": return try await mute(call)
        case "unmute": return try await unmute(call)
        case "mesh":
            try call.require("GET")
            return Self.json(try await service.mesh().json)
        case "wait":
            try call.require("POST", parameters: ["peers", "in_sync", "timeout_ms"])
            var wait = ControlWait()
            wait.peers = try call.integer("peers", 1...1_000_000) ?? wait.peers
            wait.database = call.value("in_sync")
            wait.timeoutMilliseconds =
                try call.integer("timeout_ms", ControlLimits.waitMilliseconds) ?? wait.timeoutMilliseconds
            return Self.json(try await service.wait(for: wait).json)
        case "pause":
            try call.require("POST", parameters: ["peer", "for_ms"])
            let time: Int64? = try call.integer("for_ms", ControlLimits.pauseMilliseconds)
            return Self.json(try await service.pause(peer: call.value("peer"), milliseconds: time).json)
        case "resume":
            try call.require("POST", parameters: ["peer"])
            try await service.resume(peer: call.value("peer"))
            return HTTPResponse(status: 204)
        case "invitations": return try await invite(call)
        case "members", "revocations", "roles": return try await routeMembership(call, operation)
        case "log":
            try call.require("PUT", parameters: ["level", "area"])
            guard let level = call.value("level") else { throw ControlError(.usage, "the parameter level is missing") }
            try await service.setLogLevel(level, area: call.value("area"))
            return HTTPResponse(status: 204)
        case "reload":
            try call.require("POST")
            return Self.json(try await service.reload().json)
        case "stop":
            try call.require("POST")
            try await service.stop()
            return HTTPResponse(status: 202)
        default: throw call.unknownPath
        }
    }

    private func watchStatus() async throws(ControlError) -> HTTPResponse {
        let updates = try await service.statusUpdates()
        return Self.lines(
            ControlStream { writer in
                for await status in updates { try await writer.write(status.json + newline) }
                throw ControlError.stopping
            })
    }

    private func check(_ status: ControlStatus) -> HTTPResponse {
        var object = JSONObjectWriter()
        object.add("level", status.level.rawValue)
        object.add("exit", ControlStatus.Level.allCases.firstIndex(of: status.level))
        object.add("checks", elements: status.checks.map(\.json))
        return Self.json(object.bytes)
    }

    private func invite(_ call: ControlCall) async throws(ControlError) -> HTTPResponse {
        try call.require("POST", parameters: ["role", "valid_ms"])
        var invite = ControlInvite()
        invite.role = call.value("role") ?? invite.role
        guard ["admin", "writer", "reader"].contains(invite.role) else {
            throw ControlError(.usage, "\(Shown.name(invite.role)) is no role; there are admin, writer and reader")
        }
        invite.validMilliseconds =
            try call.integer("valid_ms", ControlLimits.invitationMilliseconds) ?? invite.validMilliseconds
        let key = try await call.body(limit: ControlLimits.smallBodyBytes, of: "the root's key")
        invite.rootKey = key.isEmpty ? nil : key
        return Self.json(try await service.invite(invite).json, status: 201)
    }

    // MARK: Databases

    private func routeDatabase(_ call: ControlCall, _ database: String) async throws(ControlError) -> HTTPResponse {
        switch (call.segments.count, call.segments.count > 3 ? call.segments[3] : "") {
        case (3, _):
            try call.require("PUT", "DELETE")
            if call.method == "PUT" {
                try await service.createDatabase(database)
                return HTTPResponse(status: 201)
            }
            let kept = try await service.deleteDatabase(database)
            var object = JSONObjectWriter()
            object.add("database", database)
            object.add("kept_files", elements: kept.map(\.json))
            return Self.json(object.bytes)
        case (4, "changes"):
            try call.require("GET", parameters: ["since", "limit", "follow"])
            var changes = ControlChanges()
            changes.since = try call.integer("since", 0...UInt64.max) ?? 0
            changes.limit = try call.integer("limit", 1...Int.max)
            changes.follows = try call.flag("follow")
            return Self.lines(try await service.changes(of: database, changes))
        case (4, "policy"):
            try call.require("GET", "PUT")
            if call.method == "GET" { return Self.json(try await service.policy(of: database)) }
            let body = try await call.body(limit: ControlLimits.smallBodyBytes, of: "the policy of \(database)")
            return Self.json(try await service.setPolicy(body, of: database))
        case (4, "conflicts"):
            try call.require("GET")
            return Self.lines(try await service.conflicts(in: database))
        case (4, "import"):
            try call.require("POST", parameters: ["id", "initial", "dry_run"])
            var request = ControlImport()
            request.idField = call.value("id")
            request.isInitial = try call.flag("initial")
            request.isDryRun = try call.flag("dry_run")
            return Self.lines(try await service.importDocuments(call.request.body, into: database, request))
        case (4, "refused"):
            try call.require("GET")
            return Self.lines(try await service.refusedDocuments(in: database))
        case (4, "export"):
            try call.require("GET")
            return Self.lines(try await service.exportDocuments(of: database))
        case (4, "query"), (4, "explain"), (4..., "indexes"): return try await routeQueries(call, database)
        case (5..., "documents"): return try await routeDocument(call, database)
        case (4, let operation):
            if let response = try await routeReplication(call, database, operation) { return response }
            guard let response = try await routeUpkeep(call, database, operation) else { throw call.unknownPath }
            return response
        default: throw call.unknownPath
        }
    }

    private func routeDocument(_ call: ControlCall, _ database: String) async throws(ControlError) -> HTTPResponse {
        let id = try call.documentID(at: 4)
        switch (call.segments.count, call.segments.count > 5 ? call.segments[5] : "") {
        case (5, _): return try await documentItself(call, id, database)
        case (6, "history"):
            try call.require("GET")
            return Self.json(try await service.history(of: id, in: database).json)
        case (6, "purge"):
            try call.require("POST")
            var object = JSONObjectWriter()
            object.add("id", id.string)
            object.add("purged", try await service.purge(id, in: database))
            return Self.json(object.bytes)
        case (6, "resolve"):
            try call.require("POST", parameters: ["keep"])
            guard let keep = try call.revision("keep") else {
                throw ControlError(.usage, "the parameter keep is missing: the revision that stays")
            }
            return Self.json(try await service.resolve(id, in: database, keeping: keep).json)
        default: throw call.unknownPath
        }
    }

    private func documentItself(_ call: ControlCall, _ id: DocumentID, _ database: String)
        async throws(ControlError) -> HTTPResponse
    {
        switch call.method {
        case "PUT":
            try call.require("PUT", parameters: ["rev"])
            let revision = try call.revision("rev")
            let body = try await call.body(limit: ControlLimits.documentBytes, of: "document \(Shown.name(id.string))")
            let written = try await service.put(body, as: id, in: database, revision: revision)
            return Self.json(written.json, status: written.isNew ? 201 : 200)
        case "DELETE":
            try call.require("DELETE", parameters: ["rev"])
            return Self.json(try await service.delete(id, in: database, revision: try call.revision("rev")).json)
        default:
            try call.require("GET", parameters: ["rev", "meta"])
            let document = try await service.document(
                id, in: database, revision: try call.revision("rev"), withMeta: try call.flag("meta"))
            var response = Self.json(document.body)
            response.headers.add("Kith-Revision", document.revision.description)
            return response
        }
    }

    // MARK: Responses

    private static let jsonHeaders: HTTPHeaders = ["Content-Type": "application/json"]

    static func json(_ bytes: [UInt8], status: Int = 200) -> HTTPResponse {
        HTTPResponse(status: status, headers: jsonHeaders, body: .bytes(bytes + newline))
    }

    static func json(_ name: String, _ elements: [[UInt8]]) -> HTTPResponse {
        var object = JSONObjectWriter()
        object.add(name, elements: elements)
        return json(object.bytes)
    }

    /// A response of JSON lines. An error on the way is its last line, under a name that no document has. So is the end of
    /// the node, which cancels the task.
    static func lines(_ stream: ControlStream) -> HTTPResponse {
        HTTPResponse(
            status: 200, headers: ["Content-Type": "application/x-ndjson"],
            body: .stream { writer in
                let lines = HTTPBodyWriter { bytes throws(HTTPError) in
                    if Task.isCancelled { throw HTTPError.gone }
                    try await writer.write(bytes)
                }
                do {
                    try await stream.produce(lines)
                } catch let error as ControlError {
                    try await writer.write(lastLine(error))
                } catch {
                    guard Task.isCancelled else { throw error }
                    // Nobody reads it where it is the client that left.
                    try await writer.write(lastLine(.stopping))
                }
            })
    }

    private static func lastLine(_ error: ControlError) -> [UInt8] {
        var object = JSONObjectWriter()
        object.add("_error", json: error.json)
        return object.bytes + newline
    }
}

private let newline = [UInt8(ascii: "\n")]
