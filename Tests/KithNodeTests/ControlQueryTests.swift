import KithDocument
import KithHTTPCore
import KithNode
import KithQuery
import Testing

/// What is asked of a database over the control socket, before a database sees it.
@Suite struct ControlQueryTests {
    private let router = ControlRouterTests()

    @Test func aQueryAndItsParametersReachTheService() async throws {
        let body = #"{"query":"SELECT 1","parameters":{"a":[1],"2":"y","1":null}}"#
        let answer = try await router.ask("POST", "/v1/databases/db/query", body: body)
        #expect(answer.status == 200 && answer.text == "{\"columns\":[]}\n")
        #expect(answer.headers["content-type"] == "application/x-ndjson")
        let explained = try await router.ask("POST", "/v1/databases/db/explain", body: body)
        #expect(
            explained.text
                == #"{"sql":"SELECT 1","plan":["SCAN"],"indexes":[],"suggestion":["a"],"notes":[]}"# + "\n")
        #expect(router.service.calls == ["query db SELECT 1", "explain db SELECT 1"])
    }

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"query":1}"#, #"{"query":"SELECT 1","parameter":{}}"#,
        #"{"query":"SELECT 1","parameters":[1]}"#, #"{"query":"SELECT 1","parameters":{"2":1}}"#,
    ]) func whatIsNoQueryIsWrongUsage(body: String) async throws {
        let answer = try await router.ask("POST", "/v1/databases/db/query", body: body)
        #expect(answer.status == 400 && answer.json["error"]?.string == "usage", "\(answer.text)")
        #expect(router.service.calls.isEmpty)
    }

    @Test func definitionsOfIndexesReachTheServiceAsTheyAreMeant() async throws {
        let cases = [
            (#"{"kind":"values","expressions":["type","LOWER( title )"]}"#, ["type", "LOWER(title)"], String?.none),
            (#"{"kind":"values","expressions":["due"],"where":"done=false"}"#, ["due"], "done = FALSE"),
        ]
        for (body, expressions, filter) in cases {
            let definition = try IndexDefinition(named: "i", body: Array(body.utf8))
            #expect(definition.kind == .values(expressions) && definition.name == "i")
            #expect(definition.filter == filter)
            let answer = try await router.ask("PUT", "/v1/databases/db/indexes/i", body: body)
            #expect(answer.text == #"{"event":"done","database":"db","index":"i"}"# + "\n")
        }
        let array = #"{"kind":"elements","array":"items","path":"price.net"}"#
        #expect(
            try IndexDefinition(named: "i", body: Array(array.utf8)).kind == .elements(of: "items", path: "price.net"))
    }

    @Test(arguments: [
        ("", "usage"), ("{", "usage"), ("{}", "invalid"), (#"{"kind":"other"}"#, "invalid"),
        (#"{"kind":"values","expressions":["a +"]}"#, "invalid"), (#"{"kind":"values","expressions":[]}"#, "invalid"),
        (#"{"kind":"values","expressions":["a",1]}"#, "usage"),
        (#"{"kind":"values","expressions":["a"],"wher":"b"}"#, "usage"),
        (#"{"kind":"values","expressions":["a"],"where":1}"#, "usage"),
        (#"{"kind":"elements","array":"LOWER(a)"}"#, "invalid"),
    ]) func whatIsNoDefinitionIsAnErrorThatSaysWhy(body: String, code: String) async throws {
        let answer = try await router.ask("PUT", "/v1/databases/db/indexes/i", body: body)
        #expect(answer.status == 400 && answer.json["error"]?.string == code, "\(answer.text)")
        #expect(answer.json["message"]?.string?.contains("index i") == true, "\(answer.text)")
        #expect(router.service.calls.isEmpty)
    }
}
