import KithDocument
import KithHTTPCore
import KithNode
import Testing

/// The router without sockets: requests in, responses out.
@Suite struct ControlRouterTests {
    let service = ControlMemoryService()

    struct Answer {
        let status: Int
        let headers: HTTPHeaders
        let text: String

        var json: JSONValue { (try? JSONValue(parsing: text)) ?? .null }
    }

    /// - Parameter target: as in a request line.
    func ask(_ method: String, _ target: String, body: String = "") async throws -> Answer {
        let parts = BodyParts(Array(body.utf8))
        let request = HTTPRequest(
            method: method, target: try HTTPTarget(target),
            body: HTTPBodyReader { () async throws(HTTPError) -> [UInt8]? in parts.next() })
        let response = await ControlRouter(service).respond(to: request)
        let collected = BodyParts([])
        switch response.body {
        case .bytes(let bytes): collected.append(bytes)
        case .stream(let produce):
            try await produce(HTTPBodyWriter { bytes throws(HTTPError) in collected.append(bytes) })
        }
        return Answer(
            status: response.status, headers: response.headers, text: String(decoding: collected.all, as: UTF8.self))
    }

    static let revision = ControlMemoryService.revision(1)

    @Test(arguments: [
        ("GET", "/v1/status", 200, "status"), ("GET", "/v1/check", 200, "status"), ("GET", "/v1/mesh", 200, "mesh"),
        ("GET", "/v1/metrics", 200, "metrics"),
        ("POST", "/v1/mute?code=CONFLICTS", 200, "mute CONFLICTS 604800000"),
        ("POST", "/v1/mute?code=storage-full&for_ms=5", 200, "mute STORAGE_FULL 5"),
        ("POST", "/v1/unmute", 204, "unmute -"), ("POST", "/v1/unmute?code=PAUSED", 204, "unmute PAUSED"),
        ("POST", "/v1/wait", 200, "wait 1 - 30000"),
        ("POST", "/v1/wait?peers=3&in_sync=db&timeout_ms=5", 200, "wait 3 db 5"),
        ("POST", "/v1/pause", 200, "pause - -"), ("POST", "/v1/pause?peer=den&for_ms=9", 200, "pause den 9"),
        ("POST", "/v1/resume", 204, "resume -"), ("POST", "/v1/resume?peer=den", 204, "resume den"),
        ("POST", "/v1/invitations", 201, "invite writer 900000 0"),
        ("POST", "/v1/invitations?role=reader&valid_ms=5000", 201, "invite reader 5000 0"),
        ("PUT", "/v1/log?level=debug", 204, "log debug -"),
        ("PUT", "/v1/log?level=debug&area=mesh", 204, "log debug mesh"),
        ("POST", "/v1/reload", 200, "reload"), ("POST", "/v1/stop", 202, "stop"),
        ("GET", "/v1/databases", 200, "databases"),
        ("PUT", "/v1/databases/new", 201, "create new"), ("DELETE", "/v1/databases/db", 200, "drop db"),
        ("GET", "/v1/databases/db/changes", 200, "changes 0 - false"),
        ("GET", "/v1/databases/db/changes?since=4&limit=2&follow=true", 200, "changes 4 2 true"),
        ("GET", "/v1/databases/db/policy", 200, "policy"), ("PUT", "/v1/databases/db/policy", 200, "setPolicy"),
        ("GET", "/v1/databases/db/conflicts", 200, "conflicts"), ("GET", "/v1/databases/db/export", 200, "export"),
        ("POST", "/v1/databases/db/import", 200, "import - false false"),
        ("POST", "/v1/databases/db/import?id=x&initial=true&dry_run=true", 200, "import x true true"),
        ("PUT", "/v1/databases/db/documents/a", 201, "put a -"),
        ("PUT", "/v1/databases/db/documents/a%2Fb+c", 201, "put a/b+c -"),
        ("POST", "/v1/databases/db/documents/a/resolve?keep=\(revision)", 200, "resolve a \(revision)"),
        ("GET", "/v1/databases/db/replication", 200, "replication db"),
        ("PUT", "/v1/databases/db/replication?direction=pull", 200, "setReplication db pull - -"),
        ("PUT", "/v1/databases/db/replication?mode=on-demand&paused=true", 200, "setReplication db - on-demand true"),
        ("POST", "/v1/databases/db/sync", 200, "synchronise db 60000"),
        ("GET", "/v1/databases/db/pending", 200, "pending db - 1000"),
        ("GET", "/v1/databases/db/pending?peer=den&limit=5", 200, "pending db den 5"),
        ("POST", "/v1/databases/db/reset", 204, "reset db -"),
        ("POST", "/v1/databases/db/reset?peer=den", 204, "reset db den"),
        ("POST", "/v1/databases/db/sync?timeout_ms=5", 200, "synchronise db 5"),
        ("POST", "/v1/databases/db/verify", 200, "verify db"), ("POST", "/v1/databases/db/compact", 200, "compact db"),
        ("POST", "/v1/databases/db/repair", 200, "repair db 60000"),
        ("POST", "/v1/databases/db/repair?wait_ms=5", 200, "repair db 5"),
        ("GET", "/v1/databases/db/backup", 200, "backup db"),
        ("POST", "/v1/databases/db/restore", 201, "restore db 0 false"),
        ("POST", "/v1/databases/db/restore?replace=true", 201, "restore db 0 true"),
        ("GET", "/v1/databases/db/indexes", 200, "indexes db"),
        ("GET", "/v1/databases/db/refused", 200, "refused db"), ("GET", "/v1/support", 200, "support"),
        ("DELETE", "/v1/databases/db/indexes/by-title", 204, "dropIndex db by-title"),
    ]) func eachOperationReachesTheService(method: String, target: String, status: Int, call: String) async throws {
        let answer = try await ask(method, target)
        #expect(answer.status == status)
        #expect(service.calls == [call])
    }

    @Test func everyOperationPassesTheErrorsOfTheService() async throws {
        let targets = [
            ("GET", "/v1/status"), ("GET", "/v1/status?watch=true"), ("GET", "/v1/check"), ("GET", "/v1/mesh"),
            ("POST", "/v1/wait"), ("POST", "/v1/pause"), ("POST", "/v1/resume"), ("POST", "/v1/invitations"),
            ("PUT", "/v1/log?level=x"), ("POST", "/v1/stop"), ("GET", "/v1/databases"), ("PUT", "/v1/databases/db"),
            ("DELETE", "/v1/databases/db"), ("GET", "/v1/databases/db/changes"), ("GET", "/v1/databases/db/policy"),
            ("PUT", "/v1/databases/db/policy"), ("GET", "/v1/databases/db/conflicts"),
            ("POST", "/v1/databases/db/import"), ("GET", "/v1/databases/db/export"),
            ("GET", "/v1/databases/db/documents/a"), ("PUT", "/v1/databases/db/documents/a"),
            ("DELETE", "/v1/databases/db/documents/a"), ("GET", "/v1/databases/db/documents/a/history"),
            ("POST", "/v1/databases/db/documents/a/purge"), ("POST", "/v1/databases/db/verify"),
            ("POST", "/v1/databases/db/repair"), ("POST", "/v1/databases/db/compact"),
            ("GET", "/v1/databases/db/replication"), ("PUT", "/v1/databases/db/replication"),
            ("POST", "/v1/databases/db/sync"), ("GET", "/v1/databases/db/pending"),
            ("POST", "/v1/databases/db/reset"),
            ("GET", "/v1/databases/db/backup"), ("POST", "/v1/databases/db/restore"),
            ("GET", "/v1/databases/db/indexes"), ("DELETE", "/v1/databases/db/indexes/a"),
            ("POST", "/v1/databases/db/documents/a/resolve?keep=\(Self.revision)"),
        ]
        for (method, target) in targets {
            for code in ControlError.Code.allCases {
                let error = ControlError(code, "what happened, and what to do")
                service.fail(with: error)
                let answer = try await ask(method, target)
                #expect(answer.status == error.httpStatus, "\(method) \(target)")
                #expect(answer.json["error"]?.string == code.rawValue, "\(method) \(target)")
                #expect(answer.json["message"]?.string == "what happened, and what to do")
                #expect(answer.json["exit"]?.integer == Int64(error.exitStatus))
                #expect(answer.headers["content-type"] == "application/json")
            }
        }
    }

    @Test(arguments: [
        ("GET", "/", 400, "usage"), ("GET", "/v2/status", 400, "usage"), ("GET", "/v1", 400, "usage"),
        ("GET", "/v1/nothing", 400, "usage"), ("GET", "/v1/status/more", 400, "usage"),
        ("POST", "/v1/status", 405, "method_not_allowed"), ("GET", "/v1/stop", 405, "method_not_allowed"),
        ("GET", "/v1/status?wach=true", 400, "usage"), ("GET", "/v1/status?watch=yes", 400, "usage"),
        ("POST", "/v1/wait?peers=0", 400, "usage"), ("POST", "/v1/wait?peers=x", 400, "usage"),
        ("POST", "/v1/wait?peers=1&peers=2", 400, "usage"),
        ("POST", "/v1/wait?timeout_ms=99999999999999999999", 400, "usage"),
        ("POST", "/v1/pause?for_ms=-1", 400, "usage"), ("POST", "/v1/invitations?role=king", 400, "usage"),
        ("PUT", "/v1/log", 400, "usage"), ("PUT", "/v1/databases/Upper", 400, "invalid"),
        ("PUT", "/v1/databases/db/replication?direction=up", 400, "usage"),
        ("PUT", "/v1/databases/db/replication?paused=1", 400, "usage"),
        ("PUT", "/v1/databases/a%2Fb", 400, "invalid"), ("PUT", "/v1/databases/", 400, "invalid"),
        ("POST", "/v1/databases/db", 405, "method_not_allowed"), ("GET", "/v1/databases/db/nothing", 400, "usage"),
        ("GET", "/v1/databases/db/changes?since=-1", 400, "usage"),
        ("GET", "/v1/databases/db/changes?limit=0", 400, "usage"),
        ("GET", "/v1/databases/db/documents", 400, "usage"), ("GET", "/v1/databases/db/documents/", 400, "invalid"),
        ("GET", "/v1/databases/db/documents/_x", 400, "invalid"),
        ("GET", "/v1/databases/db/documents/a%00", 400, "invalid"),
        ("GET", "/v1/databases/db/documents/a?rev=1", 400, "usage"),
        ("PUT", "/v1/databases/db/documents/a?meta=true", 400, "usage"),
        ("GET", "/v1/databases/db/documents/a/b", 400, "usage"),
        ("POST", "/v1/databases/db/documents/a/resolve", 400, "usage"),
        ("PATCH", "/v1/databases/db/documents/a", 405, "method_not_allowed"),
        ("GET", "/v1/databases/no/documents/a", 404, "not_found"),
        ("GET", "/v1/databases/db/documents/a", 404, "not_found"),
        ("DELETE", "/v1/databases/db/documents/a", 404, "not_found"), ("PUT", "/v1/databases/db", 409, "exists"),
        ("GET", "/v1/databases/no/changes", 404, "not_found"), ("POST", "/v1/databases/no/import", 404, "not_found"),
        ("PUT", "/v1/databases/db/documents/a?rev=\(revision)", 409, "conflict"),
    ]) func whatCannotBeDoneIsAnErrorThatSaysSo(method: String, target: String, status: Int, code: String) async throws
    {
        let answer = try await ask(method, target, body: "{}")
        #expect(answer.status == status)
        #expect(answer.json["error"]?.string == code)
        let message = try #require(answer.json["message"]?.string)
        #expect(!message.isEmpty && message.count <= 200 && !message.contains("\n") && !message.contains("Optional("))
    }

    @Test func anIDThatIsTooLongIsCutInTheMessage() async throws {
        let id = String(repeating: "x", count: 600)
        let answer = try await ask("PUT", "/v1/databases/db/documents/\(id)", body: "{}")
        #expect(answer.status == 400)
        #expect(answer.json["message"]?.string?.count ?? 999 <= 200)
        let missing = try await ask("GET", "/v1/databases/db/documents/\(id.prefix(500))")
        #expect(missing.status == 404 && missing.json["message"]?.string?.contains("…") == true)
    }

    @Test func documentsPassAsTheBytesTheyAre() async throws {
        let body = #"{"n":1.10,"big":123456789012345678901234567890,"u":"\u00e4","n2":1e0}"#
        let written = try await ask("PUT", "/v1/databases/db/documents/a", body: body)
        #expect(written.text == #"{"id":"a","rev":"\#(Self.revision)","written":true}"# + "\n")
        let read = try await ask("GET", "/v1/databases/db/documents/a")
        #expect(read.text == body + "\n")
        #expect(read.headers["kith-revision"] == Self.revision.description)
        let again = try await ask("PUT", "/v1/databases/db/documents/a?rev=\(Self.revision)", body: body)
        #expect(again.status == 200 && again.json["written"]?.bool == false)
        let deleted = try await ask("DELETE", "/v1/databases/db/documents/a")
        #expect(deleted.status == 200 && deleted.json["rev"]?.string == ControlMemoryService.revision(2).description)
    }

    @Test func aDocumentOverTheLimitIsRefusedByName() async throws {
        let body = String(repeating: " ", count: ControlLimits.documentBytes + 1)
        let answer = try await ask("PUT", "/v1/databases/db/documents/large", body: body)
        #expect(answer.status == 413)
        #expect(answer.json["error"]?.string == "too_large")
        #expect(answer.json["message"]?.string?.contains("large") == true)
        #expect(service.calls.isEmpty)
    }

    @Test func purgeAndHistoryTellWhatTheyDid() async throws {
        _ = try await ask("PUT", "/v1/databases/db/documents/a", body: "{}")
        let history = try await ask("GET", "/v1/databases/db/documents/a/history")
        #expect(history.json["schema"]?.string == "kith.history/1")
        #expect(history.json["revisions"]?[0]?["rev"]?.string == Self.revision.description)
        let purged = try await ask("POST", "/v1/databases/db/documents/a/purge")
        #expect(purged.text == #"{"id":"a","purged":1}"# + "\n")
        #expect(try await ask("POST", "/v1/databases/db/documents/a/purge").status == 404)
    }

    @Test func checkGivesTheLevelAndWhatIsWrong() async throws {
        let answer = try await ask("GET", "/v1/check")
        #expect(answer.json["level"]?.string == "warning")
        #expect(answer.json["exit"]?.integer == 1)
        #expect(answer.json["checks"]?[0]?["code"]?.string == "CONFLICTS")
    }

    @Test func linesAreWholeAndAnErrorOnTheWayIsTheLast() async throws {
        for id in ["a", "b"] { _ = try await ask("PUT", "/v1/databases/db/documents/\(id)", body: "{}") }
        let answer = try await ask("GET", "/v1/databases/db/changes")
        #expect(
            answer.text == """
                {"seq":1,"id":"a","rev":"\(Self.revision)","deleted":false}
                {"seq":2,"id":"b","rev":"\(Self.revision)","deleted":false}

                """)
        #expect(answer.headers["content-type"] == "application/x-ndjson")
    }

    @Test func anErrorInAStreamStandsUnderANameNoDocumentHas() async throws {
        _ = try await ask("PUT", "/v1/databases/db/documents/a", body: #"{"a":1}"#)
        service.failAtTheEndOfAnExport(with: ControlError(.failed, "the disk broke; replace it"))
        let answer = try await ask("GET", "/v1/databases/db/export")
        #expect(answer.status == 200)
        #expect(
            answer.text == """
                {"a":1}
                {"_error":{"error":"failed","message":"the disk broke; replace it","exit":1}}

                """)
    }

    @Test func theImportReportsFailuresAndTheSum() async throws {
        let answer = try await ask("POST", "/v1/databases/db/import", body: "{}\n{}\n{}\n")
        #expect(
            answer.text == """
                {"event":"failure","position":2,"id":null,"message":"no"}
                {"event":"done","read":3,"written":2,"unchanged":0,"failed":1}

                """)
    }

    @Test func theRootsKeyPassesInTheBody() async throws {
        _ = try await ask("POST", "/v1/invitations?role=admin", body: "KEY")
        #expect(service.calls == ["invite admin 900000 3"])
    }

    @Test func aCopyComesAsBytesWithItsLength() async throws {
        let answer = try await ask("GET", "/v1/databases/db/backup")
        #expect(answer.text == "one two")
        #expect(answer.headers["Kith-Bytes"] == "7")
    }

    @Test func aCopyGoesInAsBytes() async throws {
        #expect(try await ask("POST", "/v1/databases/db/restore", body: "a copy").status == 201)
        #expect(service.calls == ["restore db 6 false"])
    }
}
