import Glibc
import KithHTTPCore
import KithTestSupport
import Testing

/// The command as a whole: exit statuses, and what goes to which output.
@Suite(.timeLimit(.minutes(2))) struct CommandTests {
    private let nowhere = "/tmp/kith-nowhere-\(getpid())"

    @Test(arguments: [
        ["status"], ["status", "--json"], ["status", "--watch"], ["status", "-x"], ["mesh"], ["wait"], ["pause"],
        ["resume"],
        ["invite"], ["metrics"], ["mute", "CONFLICTS"], ["unmute"], ["db", "list"], ["db", "create", "a"],
        ["db", "delete", "a", "--yes"],
        ["put", "a", "b", "{}"],
        ["get", "a", "b"], ["delete", "a", "b"], ["purge", "a", "b"], ["changes", "a"], ["changes", "a", "--follow"],
        ["history", "a", "b"], ["policy", "a"], ["policy", "a", "{}"], ["conflicts", "a"],
        ["resolve", "a", "b", "--keep", "1-a"],
        ["import", "a", "-"], ["export", "a"], ["stop"], ["log", "debug"],
    ]) func withoutARunningNodeTheStatusIs69(arguments: [String]) async throws {
        let result = try await Command.run(arguments, data: nowhere)
        #expect(result.status == 69)
        #expect(result.output == "")
        let reason =
            "kith is not running (socket \(nowhere)/kith.sock: No such file or directory); no node is there: kith init or "
            + "kith join makes one, --data DIR names another\n"
        #expect(result.errors == reason)
    }

    @Test func checkIsUnknownWithoutARunningNode() async throws {
        let result = try await Command.run(["check"], data: nowhere)
        #expect(result.status == 3)
        #expect(result.output.hasPrefix("UNKNOWN kith is not running"))
        #expect(result.errors == "")
    }

    @Test(arguments: [
        [], ["nothing"], ["get"], ["get", "a"], ["get", "a", "b", "c"], ["get", "a", "b", "--nothing"], ["db"],
        ["db", "nothing"],
        ["wait", "--timeout", "long"], ["wait", "--peers", "0"], ["changes", "a", "--since", "x"],
        ["resolve", "a", "b"],
        ["demo", "--nodes", "1"], ["help", "nothing"], ["status", "--color", "blue"], ["db", "delete", "a"],
        ["status", "a", "-x", "--watch"], ["pause", "--for", "1x"], ["--data", "x"], ["init", "extra"], ["join"],
        ["sync", "a", "--direction", "pull", "--timeout", "5s"], ["sync", "a", "--once", "--timeout", "long"],
        ["sync", "a", "--once", "--pending", "any"], ["sync", "a", "--pause", "--resume"],
    ]) func wrongUsageIs64OnStandardErrorAlone(arguments: [String]) async throws {
        let result = try await Command.run(arguments, data: nowhere)
        #expect(result.status == 64)
        #expect(result.output == "")
        #expect(!result.errors.isEmpty)
        if !arguments.isEmpty { #expect(result.errors.split(separator: "\n").count == 1 && result.errors.count <= 201) }
    }

    @Test func helpAndVersionGoToStandardOutput() async throws {
        for arguments in [["--help"], ["help"], ["help", "put"], ["put", "--help"], ["--version"], ["db", "--help"]] {
            let result = try await Command.run(arguments, data: nowhere)
            #expect(result.status == 0 && result.errors == "" && !result.output.isEmpty, "\(arguments)")
        }
    }

    @Test func aSocketLeftBehindIsNoRunningNode() async throws {
        let node = try FakeNode { _ in .json("{}") }
        defer { node.close() }
        let directory = node.directory + "-left"
        mkdir(directory, 0o700)
        do { _ = try HTTPListener.unixSocket(directory + "/kith.sock") }
        defer {
            unlink(directory + "/kith.sock")
            rmdir(directory)
        }
        let result = try await Command.run(["status"], data: directory)
        #expect(result.status == 69 && result.errors.contains("Connection refused"))
    }

    @Test func theOptionNamesTheDirectory() async throws {
        let node = try FakeNode { _ in .json(#"{"level":"ok","checks":[]}"#) }
        defer { node.close() }
        let result = try await Command.run(["check", "--data", node.directory], data: nowhere)
        #expect(result.status == 0 && result.output == "OK\n")
    }

    // MARK: What is asked of the node, and what is printed

    struct Case: Sendable {
        let arguments: [String]
        let request: String
        let answer: String
        let output: String
        var input = ""
    }

    @Test(arguments: [
        Case(
            arguments: ["put", "db", "a/b", "{\"x\":1}"], request: "PUT /v1/databases/db/documents/a%2Fb {\"x\":1}",
            answer: #"{"rev":"1-a","written":true}"#, output: "1-a\n"),
        Case(
            arguments: ["put", "db", "a", "--rev", "1-a"],
            request: "PUT /v1/databases/db/documents/a?rev=1-a {\"y\":2}",
            answer: #"{"rev":"2-a","written":true}"#, output: "2-a\n", input: #"{"y":2}"#),
        Case(
            arguments: ["put", "db", "a", "-"], request: "PUT /v1/databases/db/documents/a {\"y\":2}",
            answer: #"{"rev":"2-a","written":true}"#, output: "2-a\n", input: #"{"y":2}"#),
        Case(
            arguments: ["get", "db", "..", "--meta", "--rev", "1-a"],
            request: "GET /v1/databases/db/documents/%2E%2E?rev=1-a&meta=true", answer: #"{"n":1.50}"#,
            output: #"{"n":1.50}"# + "\n"),
        Case(
            arguments: ["delete", "db", "a"], request: "DELETE /v1/databases/db/documents/a", answer: #"{"rev":"2-a"}"#,
            output: "2-a\n"),
        Case(
            arguments: ["purge", "db", "a"], request: "POST /v1/databases/db/documents/a/purge", answer: "{}",
            output: ""),
        Case(
            arguments: ["changes", "db", "--since", "4", "--limit", "2"],
            request: "GET /v1/databases/db/changes?since=4&limit=2", answer: "{\"seq\":5}\n{\"seq\":6}",
            output: "{\"seq\":5}\n{\"seq\":6}\n"),
        Case(arguments: ["export", "db"], request: "GET /v1/databases/db/export", answer: "{}", output: "{}\n"),
        Case(
            arguments: ["db", "list"], request: "GET /v1/databases",
            answer: #"{"databases":[{"name":"a"},{"name":"b"}]}"#,
            output: "a\nb\n"),
        Case(arguments: ["db", "create", "a"], request: "PUT /v1/databases/a", answer: "", output: ""),
        Case(
            arguments: ["db", "delete", "a", "-y"], request: "DELETE /v1/databases/a",
            answer: #"{"database":"a","kept_files":[]}"#, output: ""),
        Case(
            arguments: ["conflicts", "db"], request: "GET /v1/databases/db/conflicts",
            answer: #"{"id":"a","winner":"2-a","leaves":["2-a","2-b"]}"#, output: "a  2-a  2-b\n"),
        Case(
            arguments: ["conflicts", "db", "--json"], request: "GET /v1/databases/db/conflicts",
            answer: "{\"id\":1}\n{\"id\":2}",
            output: "[{\"id\":1},\n{\"id\":2}]\n"),
        Case(
            arguments: ["resolve", "db", "a", "--keep", "2-a"],
            request: "POST /v1/databases/db/documents/a/resolve?keep=2-a",
            answer: #"{"rev":"2-a"}"#, output: "2-a\n"),
        Case(arguments: ["policy", "db"], request: "GET /v1/databases/db/policy", answer: "{}", output: "{}\n"),
        Case(
            arguments: ["policy", "db", "--json"], request: "GET /v1/databases/db/policy", answer: "{}", output: "{}\n"),
        Case(
            arguments: ["policy", "db", "-"], request: "PUT /v1/databases/db/policy {\"default\":\"manual\"}",
            answer: "{}",
            output: "{}\n", input: #"{"default":"manual"}"#),
        Case(
            arguments: ["wait", "--peers", "2", "--in-sync", "db", "--timeout", "1m"],
            request: "POST /v1/wait?in_sync=db&peers=2&timeout_ms=60000", answer: "{}", output: ""),
        Case(arguments: ["wait"], request: "POST /v1/wait?timeout_ms=30000", answer: "{}", output: ""),
        Case(
            arguments: ["pause", "den", "--for", "4h"], request: "POST /v1/pause?peer=den&for_ms=14400000",
            answer: "{}", output: ""),
        Case(arguments: ["resume"], request: "POST /v1/resume", answer: "", output: ""),
        Case(
            arguments: ["invite", "--role", "reader", "--valid", "1h"],
            request: "POST /v1/invitations?role=reader&valid_ms=3600000", answer: #"{"code":"ABCDE-FGHJK"}"#,
            output: "ABCDE-FGHJK\n"),
        Case(arguments: ["log", "mesh=debug"], request: "PUT /v1/log?level=debug&area=mesh", answer: "", output: ""),
        Case(
            arguments: ["mesh", "--json"], request: "GET /v1/mesh", answer: #"{"b":1,"a":2}"#,
            output: #"{"b":1,"a":2}"# + "\n"),
        Case(
            arguments: ["status", "--json"], request: "GET /v1/status", answer: #"{"b":1,"a":2}"#,
            output: #"{"b":1,"a":2}"# + "\n"),
        Case(
            arguments: ["metrics"], request: "GET /v1/metrics", answer: "# EOF", output: "# EOF\n"),
        Case(
            arguments: ["check", "--json"], request: "GET /v1/check", answer: #"{"level":"ok","exit":0,"checks":[]}"#,
            output: #"{"level":"ok","exit":0,"checks":[]}"# + "\n"),
    ]) func eachCommandAsksForOneThingAndPrintsItsAnswer(case one: Case) async throws {
        let node = try FakeNode { _ in one.answer.isEmpty ? HTTPResponse(status: 204) : .json(one.answer) }
        defer { node.close() }
        let result = try await Command.run(one.arguments, data: node.directory, input: one.input)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output == one.output)
        #expect(node.requests == [one.request])
    }

    @Test(arguments: [
        ["get", "db", "a"], ["changes", "db"], ["export", "db"], ["import", "db", "-"], ["wait"], ["status"],
        ["db", "create", "a"],
    ]) func errorsOfTheNodeAreOneLineAndTheirExitStatus(arguments: [String]) async throws {
        let node = try FakeNode { _ in .error("not_found", "there is no document a in db", status: 404, exit: 2) }
        defer { node.close() }
        let result = try await Command.run(arguments, data: node.directory)
        #expect(result.status == 2)
        #expect(result.output == "")
        let name = arguments[0] == "db" ? "db create" : arguments[0]
        #expect(result.errors == "kith \(name): there is no document a in db\n")
    }

    @Test func anAnswerThatIsNoErrorOfOursIsToldPlainly() async throws {
        let node = try FakeNode { _ in HTTPResponse(status: 500, body: .bytes(Array("<html>".utf8))) }
        defer { node.close() }
        let result = try await Command.run(["get", "db", "a"], data: node.directory)
        #expect(result.status == 1 && result.errors.split(separator: "\n").count == 1)
    }

    @Test func aStreamThatEndsWithAnErrorFails() async throws {
        let node = try FakeNode { _ in
            .json("{\"_id\":\"a\"}\n{\"_error\":{\"error\":\"failed\",\"message\":\"it broke\",\"exit\":1}}")
        }
        defer { node.close() }
        let result = try await Command.run(["export", "db"], data: node.directory)
        #expect(result.status == 1)
        #expect(result.output == "{\"_id\":\"a\"}\n")
        #expect(result.errors == "kith export: it broke\n")
    }

    @Test func aStreamThatIsCutOffFails() async throws {
        let node = try FakeNode { _ in
            HTTPResponse(
                status: 200,
                body: .stream { writer in
                    try await writer.write(Array("{\"seq\":1}\n".utf8))
                    throw HTTPError.gone
                })
        }
        defer { node.close() }
        let result = try await Command.run(["changes", "db"], data: node.directory)
        #expect(result.status == 1 && result.output == "{\"seq\":1}\n")
        #expect(result.errors.hasPrefix("kith changes: the connection ended early"))
    }

    @Test func anImportSendsTheFileAndListsWhatWasNotTaken() async throws {
        let node = try FakeNode { _ in
            .json(
                """
                {"event":"failure","position":2,"id":"b","message":"a name begins with _"}
                {"event":"done","read":3,"written":1200,"unchanged":1,"failed":1}
                """)
        }
        defer { node.close() }
        let file = node.directory + "/data.json"
        try Command.write("{}\n{}\n", to: file)
        defer { unlink(file) }
        let result = try await Command.run(
            ["import", "db", file, "--id", "alpha_3", "--initial", "--dry-run"], data: node.directory)
        #expect(node.requests == ["POST /v1/databases/db/import?id=alpha_3&initial=true&dry_run=true {}\n{}\n"])
        #expect(result.status == 1)
        #expect(result.output == "")
        let expected = """
            document 2 (b): a name begins with _
            would import 1,200 documents, 1 were there already, 1 were not taken in

            """
        #expect(result.errors == expected)
        let json = try await Command.run(["import", "db", "-", "--json"], data: node.directory, input: "{}")
        #expect(json.output == "{\"failed\":1,\"read\":3,\"unchanged\":1,\"written\":1200}\n")
    }

    @Test func anImportThatWasNotFinishedFails() async throws {
        let node = try FakeNode { _ in .json("") }
        defer { node.close() }
        let result = try await Command.run(["import", "db", "-"], data: node.directory, input: "{}")
        #expect(result.status == 1 && result.errors.contains("ended early"))
    }

    @Test func aFileThatIsNotThereIsToldByName() async throws {
        let node = try FakeNode { _ in .json("") }
        defer { node.close() }
        let result = try await Command.run(["import", "db", "/nonexistent/file"], data: node.directory)
        #expect(result.status == 1)
        #expect(result.errors == "kith import: cannot read /nonexistent/file: No such file or directory\n")
        #expect(node.requests.isEmpty)
    }

    @Test func aPeerIsFoundByNameOrTheBeginningOfItsID() async throws {
        let node = try FakeNode { _ in
            .json(#"{"peers":[{"id":"aaaa11","name":"den"},{"id":"aaaa22","name":"attic"}]}"#)
        }
        defer { node.close() }
        let named = try await Command.run(["status", "den", "--json"], data: node.directory)
        #expect(named.output == "{\"id\":\"aaaa11\",\"name\":\"den\"}\n")
        #expect(try await Command.run(["status", "aaaa2"], data: node.directory).status == 0)
        #expect(try await Command.run(["status", "cellar"], data: node.directory).status == 2)
        #expect(try await Command.run(["status", "aaaa"], data: node.directory).status == 1)
    }

    @Test func aReaderThatLeavesEndsTheCommandQuietly() async throws {
        let line = String(repeating: "x", count: 1_000)
        let node = try FakeNode { _ in
            HTTPResponse(
                status: 200,
                body: .stream { writer in
                    for _ in 0..<2_000 { try await writer.write(Array("{\"a\":\"\(line)\"}\n".utf8)) }
                })
        }
        defer { node.close() }
        // What the command says on standard error would follow what head printed.
        let script = "{ '\(Command.path)' export db --data '\(node.directory)' | head -c 10; } 2>&1"
        let stream = try #require(popen(script, "r"))
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var text = ""
        while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 {
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
        #expect(pclose(stream) == 0)
        #expect(text == "{\"a\":\"xxxx")
    }

    @Test func stopWaitsUntilTheNodeHasLeft() async throws {
        let node = try FakeNode { line in line.hasPrefix("POST") ? HTTPResponse(status: 202) : .json("{}") }
        let directory = node.directory
        async let stopped = Command.run(["stop"], data: directory)
        while node.requests.count < 3 { try await Task.sleep(for: .milliseconds(5)) }
        node.close()
        #expect(try await stopped.status == 0)
    }
}
