import Glibc
import KithDocument
import KithTestSupport
import Testing

/// Queries and indexes by the command: with a running node, and on its directory.
@Suite(.timeLimit(.minutes(10))) struct QueryTests {
    private static let titles = "SELECT RAW title FROM _ WHERE type = $type ORDER BY title"

    private static func documents(_ count: Int, padding: Int = 0) -> [UInt8] {
        let pad = String(repeating: "x", count: padding)
        return Array(
            (0..<count).map { number in
                #"{"_id":"d\#(number)","type":"\#(number % 10 == 0 ? "todo" : "note")","title":"t\#(number)","#
                    + #""n":\#(number),"tags":["k\#(number % 7)"],"pad":"\#(pad)"}"# + "\n"
            }.joined().utf8)
    }

    @Test func aQueryIsAnsweredByTheNodeAndWithoutIt() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = try await lab.group(1)[0]
            try await node.kith("db", "create", "stock")
            try await node.kith("import", "stock", "-", input: Self.documents(200))
            for isRunning in [true, false] {
                if !isRunning { try await node.stop() }
                let rows = try await node.lines("query", "stock", Self.titles, "--param", #"type="todo""#)
                #expect(rows.count == 20 && rows.first?.string == "t0" && rows.last?.string == "t90")
                let sum = try await node.json(
                    "query", "stock", "SELECT COUNT(*) AS n, SUM(n) AS s FROM _ WHERE n < ?", "--param", "1=10",
                    "--json")
                #expect(sum == [["n": 10, "s": 45]])
                #expect(try await node.kith("query", "stock", "SELECT RAW 1 FROM _ WHERE n = 'no'") == "")

                // What is wrong is told with its place, and nothing is printed.
                let wrong = try await node.run(["query", "stock", "SELECT LENGHT(title) FROM _"])
                #expect(wrong.status == 1 && wrong.output.isEmpty)
                #expect(
                    wrong.errorText
                        == "kith query: line 1, column 8: there is no function LENGHT; did you mean LENGTH?\n",
                    "\(wrong.errorText)")
                let lacking = try await node.run(["query", "stock", Self.titles])
                #expect(lacking.status == 1 && lacking.errorText.contains("the parameter $type has no value"))
                #expect(try await node.run(["query", "none", "SELECT * FROM _"]).status == 2)
            }
        }
    }

    @Test func indexesAreMadeUsedListedAndDroppedWithAndWithoutANode() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = try await lab.group(1)[0]
            try await node.kith("db", "create", "stock")
            try await node.kith("import", "stock", "-", input: Self.documents(2_000))
            let byTags = "SELECT RAW META().id FROM _ WHERE 'k3' IN tags"
            for isRunning in [true, false] {
                if !isRunning { try await node.stop() }
                let before = try await node.kith("query", "stock", Self.titles, "--param", #"type="todo""#)
                #expect(try await node.kith("query", "stock", Self.titles, "--explain").contains("index: none is used"))
                try await node.kith("index", "create", "stock", "by-type", "type", "title")
                try await node.kith("index", "create", "stock", "tags", "--array", "tags", "--where", "n >= 0")
                let plan = try await node.json("query", "stock", Self.titles, "--explain", "--json")
                #expect(plan["indexes"] == ["by-type"], "\(plan)")
                #expect(try await node.kith("query", "stock", Self.titles, "--param", #"type="todo""#) == before)
                #expect(try await node.lines("query", "stock", byTags + " AND n >= 0").count == 286)

                let listed = try await node.json("index", "list", "stock", "--json")["indexes"]?.array ?? []
                #expect(listed.map { $0["name"]?.string } == ["by-type", "tags"], "\(listed)")
                #expect(listed.allSatisfy { ($0["bytes"]?.natural ?? 0) > 0 })
                #expect(listed.allSatisfy { $0["last_used_at"]?.string != nil }, "\(listed)")

                // Made again it stays; another of its name is refused, and so is what is no expression.
                try await node.kith("index", "create", "stock", "by-type", "type", "title")
                #expect(try await node.run(["index", "create", "stock", "by-type", "n"]).status == 1)
                let wrong = try await node.run(["index", "create", "stock", "x", "a +"])
                #expect(wrong.status == 1 && wrong.errorText.contains("index x: line 1, column"), "\(wrong.errorText)")

                #expect(try await node.kith("verify", "stock") == "")
                for name in ["by-type", "tags"] { try await node.kith("index", "drop", "stock", name) }
                let again = try await node.run(["index", "drop", "stock", "tags"])
                #expect(again.status == 2 && again.errorText.contains("there is no index 'tags'"))
            }
        }
    }

    /// Far more rows than either side may hold, with a command that is stopped in the middle.
    @Test func aLargeResultCostsLittleMemoryAndHoldsUpNoWriter() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = try await lab.group(1)[0]
            try await node.kith("db", "create", "bulk")
            let path = "\(lab.folder)/documents"
            try Files.write(Self.documents(20_000, padding: 2_000), to: path)
            try await node.kith("import", "bulk", path, within: 300)
            let pid = try #require(node.processID)
            // The first time warms the node up.
            try await node.kith("query", "bulk", "SELECT COUNT(*) FROM _ WHERE pad != ''", within: 300)
            let before = ProcessFacts.residentBytes(pid)
            try ProcessFacts.resetPeak(pid)
            let query = try node.program(["query", "bulk", "SELECT META().id, pad FROM _"])
            query.signal(SIGSTOP)
            for number in 0..<50 { try await node.kith("put", "bulk", "more-\(number)", "{}") }
            query.signal(SIGCONT)
            let result = try await query.finish(within: 300)
            #expect(result.status == 0, "\(result.errorText)")
            #expect(result.output.count { $0 == UInt8(ascii: "\n") } >= 20_000)
            let highest = ProcessFacts.peakBytes(pid)
            print("40 MB of rows: \(before >> 20) MB before, \(highest >> 20) MB at most")
            #expect(highest - before < 16 << 20, "\(before) bytes before, \(highest) with the query")
            // Nothing is left of what waited.
            let files = Files.names(in: "\(node.directory)/databases")
            #expect(!files.contains { $0.contains("rows-") }, "\(files)")
        }
    }

    @Test func aQueryThatNobodyWantsAnyMoreEnds() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = try await lab.group(1)[0]
            try await node.kith("db", "create", "stock")
            try await node.kith("import", "stock", "-", input: Self.documents(3_000))
            let endless = "SELECT COUNT(*) FROM _ a CROSS JOIN _ b CROSS JOIN _ c WHERE a.n + b.n + c.n = -1"
            let query = try node.program(["query", "stock", endless])
            let isReading = try await eventually(within: 60) {
                let status = try await node.status()["databases"]?[0]
                return (status?["oldest_reader_ms"]?.natural ?? 0) > 0
            }
            #expect(isReading)
            query.signal(SIGKILL)
            let isOver = try await eventually(within: 60) {
                try await node.status()["databases"]?[0]?["oldest_reader_ms"] == .null
            }
            #expect(isOver)
            // A compaction waits for no query, for all readings would wait with it.
            let long = try node.program(["query", "stock", endless])
            _ = try await eventually(within: 60) {
                (try await node.status()["databases"]?[0]?["oldest_reader_ms"]?.natural ?? 0) > 0
            }
            try await node.kith("compact", "stock", within: 60)
            let given = try await long.finish(within: 60)
            #expect(given.status == 1 && given.errorText.contains("ask again"), "\(given.errorText)")
            // Nor does the node's end.
            let last = try node.program(["query", "stock", endless])
            _ = try await eventually(within: 60) {
                (try await node.status()["databases"]?[0]?["oldest_reader_ms"]?.natural ?? 0) > 0
            }
            try await node.stop()
            #expect(try await last.finish(within: 60).status == 1)
        }
    }
}
