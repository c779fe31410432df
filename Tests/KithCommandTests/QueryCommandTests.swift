import KithDocument
import KithHTTPCore
import KithTestSupport
import Testing

@testable import kith

/// `kith query` and `kith index`: what is asked, and how answers look.
@Suite(.timeLimit(.minutes(2))) struct QueryCommandTests {
    private static let answer = #"""
        {"columns":["title","n"]}
        {"row":{"n":1.50,"title":"Milk"}}
        {"row":{"n":12,"title":"Bread\nand butter","tags":["a"]}}
        """#

    private func run(_ arguments: [String], answer: String = answer, input: String = "") async throws -> (
        ProgramResult, [String]
    ) {
        let node = try FakeNode { _ in .json(answer) }
        defer { node.close() }
        return (try await Command.run(arguments, data: node.directory, input: input), node.requests)
    }

    @Test func rowsAreLinesAsTheyCame() async throws {
        let (result, requests) = try await run([
            "query", "db", "SELECT 1", "--param", "a=[1]", "--param", #"$b="x""#, "--param", "1=null",
        ])
        #expect(result.status == 0 && result.errors == "")
        #expect(
            result.output == #"{"n":1.50,"title":"Milk"}"# + "\n"
                + #"{"n":12,"title":"Bread\nand butter","tags":["a"]}"# + "\n")
        #expect(
            requests == [
                #"POST /v1/databases/db/query {"parameters":{"1":null,"a":[1],"b":"x"},"query":"SELECT 1"}"#
            ])
    }

    @Test func theQueryMayComeFromStandardInput() async throws {
        let (_, requests) = try await run(["query", "db", "-"], input: "SELECT\n2")
        #expect(requests == [#"POST /v1/databases/db/query {"parameters":{},"query":"SELECT\n2"}"#])
    }

    @Test func allRowsAreOneArrayForPrograms() async throws {
        let (result, _) = try await run(["query", "db", "x", "--json"])
        #expect(try JSONValue(parsing: result.output).array?.count == 2)
        let (empty, _) = try await run(["query", "db", "x", "--json"], answer: #"{"columns":[]}"#)
        #expect(empty.output == "[]\n")
    }

    @Test func columnsStandInTheOrderOfSelectAndNumbersAtTheRight() async throws {
        let (result, _) = try await run(["query", "db", "x", "--table"])
        let expected = """
            title               n  tags
            Milk              1.5
            Bread and butter   12  ["a"]

            """
        #expect(result.output == expected)
        let (raw, _) = try await run(
            ["query", "db", "x", "--table"], answer: "{\"columns\":null}\n{\"row\":\"a\"}\n{\"row\":null}")
        #expect(raw.output == "value\na\nnull\n")
        let (empty, _) = try await run(["query", "db", "x", "--table"], answer: #"{"columns":["a"]}"#)
        #expect(empty.output == "a\n")
    }

    /// Blocks are aligned each for itself, with the titles once.
    @Test func aLongTableIsPrintedInBlocks() async throws {
        let rows = (0..<2_500).map { "{\"row\":{\"a\":\($0)}}" }.joined(separator: "\n")
        let (result, _) = try await run(["query", "db", "x", "--table"], answer: "{\"columns\":[\"a\"]}\n\(rows)")
        let lines = result.output.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } }
        #expect(lines.count == 2_501 && lines[0] == "a")
        #expect(lines.dropFirst().elementsEqual((0..<2_500).map { "\($0)" }, by: ==))
    }

    @Test func anExplanationIsLinesOrAnObject() async throws {
        let answer = #"{"sql":"SELECT 1","plan":["SCAN"],"indexes":[],"suggestion":["a","b"],"notes":["slow"]}"#
        let (result, requests) = try await run(["query", "db", "x", "--explain"], answer: answer)
        let expected = """
            SQL: SELECT 1
            plan: SCAN
            index: none is used
            an index on (a, b) could help
            note: slow

            """
        #expect(result.output == expected)
        #expect(requests == [#"POST /v1/databases/db/explain {"parameters":{},"query":"x"}"#])
        let (json, _) = try await run(["query", "db", "x", "--explain", "--json"], answer: answer)
        #expect(json.output == answer + "\n")
    }

    @Test(arguments: [
        ["query", "db"], ["query", "db", "x", "--json", "--table"], ["query", "db", "x", "--param", "a"],
        ["query", "db", "x", "--param", "=1"], ["query", "db", "x", "--param", "a=todo"],
        ["query", "db", "x", "--param", "a=1", "--param", "a=2"], ["query", "db", "x", "--explain", "--table"],
        ["index"], ["index", "create", "db"], ["index", "create", "db", "i"],
        ["index", "create", "db", "i", "--text"], ["index", "create", "db", "i", "--array", "a", "--text"],
        ["index", "create", "db", "i", "a", "--language", "en"], ["index", "create", "db", "i", "a", "--diacritics"],
        ["index", "create", "db", "i", "a", "--array", "b"], ["index", "create", "db", "i", "a", "--path", "b"],
        ["index", "drop", "db"], ["index", "list"],
    ]) func wrongUsageIsToldBeforeANodeIsAsked(arguments: [String]) async throws {
        let (result, requests) = try await run(arguments)
        #expect(result.status == 64 && result.output == "" && requests.isEmpty, "\(result.errors)")
        #expect(result.errors.split(separator: "\n").count == 1)
    }

    @Test func aTextWithoutQuotesIsExplained() async throws {
        let (result, _) = try await run(["query", "db", "x", "--param", "type=todo"])
        #expect(result.errors.contains(#"a text stands in quotes: 'type="...""#), "\(result.errors)")
    }

    @Test(arguments: [
        (
            ["a", "LOWER(b)", "--where", "c = 1"],
            #"{"expressions":["a","LOWER(b)"],"kind":"values","where":"c = 1"}"#
        ),
        (["--array", "items", "--path", "price"], #"{"array":"items","kind":"elements","path":"price"}"#),
        (["title", "text", "--text"], #"{"fields":["title","text"],"kind":"text"}"#),
        (
            ["text", "--text", "--language", "en", "--diacritics"],
            #"{"diacritics":"kept","fields":["text"],"kind":"text","language":"en"}"#
        ),
    ]) func anIndexIsMadeAsItIsDefined(arguments: [String], body: String) async throws {
        let (result, requests) = try await run(
            ["index", "create", "db", "i"] + arguments,
            answer:
                "{\"event\":\"progress\",\"done\":1,\"total\":2}\n{\"event\":\"done\",\"database\":\"db\",\"index\":\"i\"}"
        )
        #expect(result.status == 0 && result.output == "" && result.errors == "")
        #expect(requests == ["PUT /v1/databases/db/indexes/i \(body)"])
        let (cut, _) = try await run(["index", "create", "db", "i", "a"], answer: "")
        #expect(cut.status == 1 && cut.errors.contains("do it again"))
    }

    @Test func indexesAreListedWithWhatTheyAreOf() async throws {
        let answer = #"""
            {"indexes":[{"name":"open","kind":"values","expressions":["due"],"where":"done = FALSE","bytes":12288,
            "created_at":"2026-11-30T10:00:00Z","last_used_at":null},
            {"name":"prices","kind":"elements","array":"items","path":"price.net","bytes":null,
            "created_at":"2026-11-30T10:00:00Z","last_used_at":"2026-11-30T11:00:00Z"}]}
            """#
        let (result, requests) = try await run(["index", "list", "db"], answer: answer)
        let expected = """
            index   of                             size  last used             made
            open    due where done = FALSE        12 kB  never                 2026-11-30T10:00:00Z
            prices  elements of items: price.net      -  2026-11-30T11:00:00Z  2026-11-30T10:00:00Z

            """
        #expect(result.output == expected && requests == ["GET /v1/databases/db/indexes"], "\(result.output)")
        let (none, _) = try await run(["index", "list", "db"], answer: #"{"indexes":[]}"#)
        #expect(none.status == 0 && none.output == "" && none.errors == "db has no indexes\n")
        let (_, dropped) = try await run(["index", "drop", "db", "by-title"], answer: "")
        #expect(dropped == ["DELETE /v1/databases/db/indexes/by-title"])
    }
}
