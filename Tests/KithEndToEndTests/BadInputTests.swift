import Glibc
import KithDocument
import Testing

/// What a node says to what is wrong, and that nothing comes of it.
@Suite(.timeLimit(.minutes(10))) struct BadInputTests {
    private struct Case {
        let arguments: [String]
        var input: [UInt8] = []
        let status: Int32
        /// What the line must say.
        let words: [String]

        init(_ arguments: [String], _ status: Int32, _ words: String..., input: [UInt8] = []) {
            self.arguments = arguments
            self.status = status
            self.words = words
            self.input = input
        }
    }

    private static let unknownRevision = "1-00112233445566778899aabbccddeeff"

    private static let documents: [Case] = [
        Case(["put", "notes", "doc", "{\"a\":1,\n \"b\":}"], 1, "doc", "line 2", "column 6"),
        Case(["put", "notes", "doc", #"{"a":1,"a":2}"#], 1, "doc", "line 1", "twice"),
        Case(["put", "notes", "doc", #"{"a":{"b":1,"b":2}}"#], 1, "doc", "line 1", "twice"),
        Case(["put", "notes", "doc", #"{"_secret":1}"#], 1, "doc", "line 1", "reserved"),
        Case(["put", "notes", "doc", "[1]"], 1, "doc", "not a JSON object"),
        Case(["put", "notes", "doc", #"{"a":1e999}"#], 1, "doc", "line 1", "range of a double"),
        Case(["put", "notes", "doc"], 1, "doc", "line 1"),
        Case(["put", "notes", "", "{}"], 1, "id", "empty"),
        Case(["put", "notes", String(repeating: "x", count: 513), "{}"], 1, "512", "513"),
        Case(["put", "notes", "_local", "{}"], 1, "id", "_"),
        Case(
            ["put", "notes", "deep"], 1, "deep", "512 levels", "line 1",
            input: Array(
                (#"{"a":"# + String(repeating: "[", count: 600) + String(repeating: "]", count: 600) + "}").utf8)),
        Case(
            ["put", "notes", "great"], 1, "great", "20971520",
            input: Array(#"{"a":""#.utf8) + [UInt8](repeating: 0x78, count: 20 << 20) + Array(#""}"#.utf8)),
        Case(["put", "notes", "doc", "{}", "--rev", unknownRevision], 1, "doc", unknownRevision),
        Case(["put", "notes", "present", "{}", "--rev", unknownRevision], 1, "present", unknownRevision, "1-"),
        Case(["put", "notes", "present", "{}", "--rev", "first"], 64, "first", "revision"),
        Case(["get", "notes", "doc"], 2, "doc", "notes"),
        Case(["get", "notes", "present", "--rev", unknownRevision], 2, "present", unknownRevision),
        Case(["get", "notes", ""], 1, "id", "empty"),
        Case(["delete", "notes", "doc"], 2, "doc"),
        Case(["delete", "notes", "present", "--rev", unknownRevision], 1, "present", unknownRevision),
        Case(["purge", "notes", "doc"], 2, "doc"),
        Case(["history", "notes", "doc"], 2, "doc"),
        Case(["resolve", "notes", "doc", "--keep", unknownRevision], 2, "doc"),
        Case(["resolve", "notes", "present", "--keep", unknownRevision], 1, "present", unknownRevision),
    ]

    private static let databases: [Case] =
        [
            ["get", "nowhere", "doc"], ["put", "nowhere", "doc", "{}"], ["delete", "nowhere", "doc"],
            ["purge", "nowhere", "doc"], ["history", "nowhere", "doc"], ["changes", "nowhere"],
            ["changes", "nowhere", "--follow"], ["export", "nowhere"], ["conflicts", "nowhere"], ["policy", "nowhere"],
            ["policy", "nowhere", #"{"default":"manual"}"#], ["db", "delete", "nowhere", "--yes"],
            ["wait", "--in-sync", "nowhere", "--timeout", "200ms"], ["import", "nowhere", "-"],
            ["resolve", "nowhere", "doc", "--keep", unknownRevision],
        ].map { Case($0, 2, "nowhere", "kith db list") }
        + [
            Case(["db", "create", "Notes"], 1, "Notes", "a to z"),
            Case(["db", "create", "1st"], 1, "1st", "a to z"),
            Case(["db", "create", String(repeating: "a", count: 239)], 1, "238"),
            Case(["get", "Notes", "doc"], 1, "Notes", "a to z"),
            Case(["db", "create", "notes"], 1, "notes"),
            Case(["policy", "notes", #"{"default":"newest"}"#], 1, "latest", "manual"),
            Case(["policy", "notes", "manual"], 1, "line 1"),
            Case(["policy", "notes", #"{"default":"latest","paths":{"/count":"most"}}"#], 1, "/count", "max"),
            Case(
                ["policy", "notes", #"{"default":"latest","paths":{"count":"max"}}"#], 1, #""count""#, "begins with /"),
            Case(
                ["policy", "notes", #"{"default":"latest","paths":{"/a":"max"},"together":[["/b","/a/c"]]}"#], 1,
                #""/a/c" is under "/a""#),
            Case(
                ["policy", "notes", "-"], 1, "12288 bytes",
                input: Array(
                    #"{"default":"latest","paths":{"/\#(String(repeating: "p", count: 12_300))":"max"}}"#.utf8)),
            Case(["import", "notes", "/nonexistent/file.json"], 1, "/nonexistent/file.json", "No such file"),
            Case(
                ["import", "notes", "-"], 1, "up to document 1", "line 2, column 6", "too early",
                input: Array("[{\"a\":1},\n{\"a\":".utf8)),
        ]

    private static let node: [Case] = [
        Case(["wait", "--peers", "3", "--timeout", "200ms"], 2, "0 of 3"),
        Case(["wait", "--in-sync", "notes", "--timeout", "200ms"], 2, "0 of 1"),
        Case(["pause", "nobody"], 2, "nobody", "kith status"),
        Case(["resume", "nobody"], 2, "nobody", "kith status"),
        Case(["status", "nobody"], 2, "nobody", "kith status"),
        Case(["log", "loud"], 64, "debug"),
        Case(["invite", "--role", "emperor"], 64, "emperor", "reader"),
        Case(["invite", "--valid", "soon"], 64, "--valid"),
        Case(["invite", "--valid", "1ms"], 64, "from 1s to 7d"),
        Case(["changes", "notes", "--since", "-4"], 64, "--since"),
        Case(["put", "notes"], 64, "kith put"),
        Case(["put", "notes", "doc", "{}", "--revision", "x"], 64, "--revision", "kith put --help"),
    ]

    @Test func whatIsWrongIsToldInOneLineAndLeavesTheStoreAsItWas() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = try await lab.group(1)[0]
            try await node.kith("db", "create", "notes")
            try await node.kith("put", "notes", "present", #"{"here":true}"#)
            // What an import takes in before it meets what is wrong.
            try await node.kith("import", "notes", "-", input: Array("{\"a\":1}\n".utf8))
            let before = try await node.database("notes")
            for one in Self.documents + Self.databases + Self.node {
                let result = try await node.run(one.arguments, input: one.input)
                let shown = one.arguments.map { $0.count > 60 ? "\($0.prefix(60))…" : $0 }.joined(separator: " ")
                #expect(result.status == one.status, "kith \(shown): \(result.status) \(result.errorText)")
                #expect(result.output.isEmpty, "kith \(shown)")
                for word in one.words {
                    #expect(
                        result.errorText.contains(word), "kith \(shown) does not say '\(word)': \(result.errorText)")
                }
                Self.expectOneLine(result)
            }
            let after = try await node.database("notes")
            for name in ["digest", "sequence", "documents", "deleted", "conflicts"] {
                #expect(after[name] == before[name], "\(name)")
            }
            #expect(try await node.kith("db", "list") == "notes")
            #expect(try await node.kith("policy", "notes") == #"{"default":"latest"}"#)
        }
    }

    @Test func aNodeThatCannotStartSaysWhyAndWhatToDo() async throws {
        try await Lab.open(nodes: 2) { lab in
            let node = try await lab.group(1)[0]
            let address = try #require(node.address)
            let second = lab.node("second")
            func expect(_ result: ChildProgram.Finished, _ status: Int32, _ words: String...) {
                #expect(result.status == status, "\(result.errorText)")
                #expect(result.output.isEmpty)
                for word in words { #expect(result.errorText.contains(word), "'\(word)': \(result.errorText)") }
                Self.expectOneLine(result)
            }
            expect(try await second.run(["start", "--no-discovery"]), 1, second.directory, "kith init", "kith join")
            try await second.kith("init", "--name", "second")
            expect(try await second.run(["init"]), 1, second.directory)
            expect(
                try await second.run(["start", "--no-discovery", "--listen", address]), 1, address, "in use", "--listen"
            )
            expect(try await second.run(["start", "--no-discovery", "--listen", "somewhere:1"]), 64, "somewhere")
            expect(
                try await second.run(
                    ["start", "--no-discovery", "--listen", "127.0.0.1:0", "--peer", "127.0.0.1:port"]), 64,
                "127.0.0.1:port")
            let pid = try #require(node.processID)
            for arguments in [["start", "--no-discovery", "--listen", "127.0.0.1:0"], ["leave"], ["init"]] {
                expect(try await node.run(arguments), 1, node.directory, "\(pid)", "kith stop")
            }
            // It still runs, and nothing was taken from it.
            #expect(try await node.status()["node"]?["pid"]?.integer == Int64(pid))
        }
    }

    @Test func aDocumentAtTheLimitsIsTaken() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("notes")
            let great =
                Array(#"{"a":""#.utf8) + [UInt8](repeating: 0x78, count: (20 << 20) - 8) + Array(#""}"#.utf8)
            #expect(great.count == 20 << 20)
            try await nodes[0].kith("put", "notes", "great", input: great)
            let deep = #"{"a":"# + String(repeating: "[", count: 511) + String(repeating: "]", count: 511) + "}"
            try await nodes[0].kith("put", "notes", "deep", deep)
            let id = String(repeating: "ü", count: 256)
            try await nodes[0].kith("put", "notes", id, #"{"id":"is long"}"#)
            for odd in ["a/b", "..", "a b?c#d%2F", "\u{1F600}", "e\u{301}", "é"] {
                try await nodes[0].kith("put", "notes", odd, #"{"odd":true}"#)
            }
            try await nodes.settle("notes")
            let result = try await nodes[1].run(["get", "notes", "great"])
            #expect(result.output.dropLast() == great[...])
            #expect(try await nodes[1].kith("get", "notes", "deep") == deep)
            #expect(try await nodes[1].kith("get", "notes", id) == #"{"id":"is long"}"#)
            for odd in ["a/b", "..", "a b?c#d%2F", "\u{1F600}", "e\u{301}", "é"] {
                let meta = try await nodes[1].json("get", "notes", odd, "--meta")
                #expect(meta["_id"]?.string.map { Array($0.utf8) } == Array(odd.utf8))
            }
        }
    }

    // MARK: One line

    /// One line, whole, for people: without names of this program's types.
    static func expectOneLine(_ result: ChildProgram.Finished, sourceLocation: SourceLocation = #_sourceLocation) {
        let text = result.errorText
        #expect(text.hasSuffix("\n") && text.count(where: \.isNewline) == 1, "\(text)", sourceLocation: sourceLocation)
        #expect(!text.hasSuffix("…\n"), "\(text)", sourceLocation: sourceLocation)
        #expect(!text.contains("Optional("), "\(text)", sourceLocation: sourceLocation)
        #expect(typeNames(in: text).isEmpty, "\(typeNames(in: text)) in: \(text)", sourceLocation: sourceLocation)
    }

    /// Words that look like `StoreError`, and calls that look like `Error(`.
    private static func typeNames(in text: String) -> [String] {
        text.split { !$0.isLetter }.map(String.init).filter { word in
            guard word.count > 4, word.first?.isUppercase == true, word != "OpenSSL" else { return false }
            return zip(word, word.dropFirst()).contains { $0.isLowercase && $1.isUppercase }
        } + (text.contains("Error(") ? ["Error("] : [])
    }
}
