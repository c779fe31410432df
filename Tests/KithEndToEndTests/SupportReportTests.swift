import Glibc
import KithDocument
import KithTestSupport
import Testing

/// What a person who helps is given, and what is never in it.
@Suite(.timeLimit(.minutes(10))) struct SupportReportTests {
    /// In bodies, ids, names of fields, queries and indexes.
    private static let canary = "zebra"

    /// Errors of many kinds, at the level that tells most: none of what a document has, nor its id, is in a log or a report.
    @Test func nothingOfADocumentIsInALogOrAReport() async throws {
        try await Lab.open(nodes: 2) { lab in
            let (ada, ben) = (lab.node("ada"), lab.node("ben"))
            try await ada.found("testers")
            try await ada.start(options: ["--log", "trace"])
            let code = try await ada.kith("invite")
            try await ben.kith("join", code, "--name", "ben", "--peer", try #require(ada.address))
            try await ben.start(peers: [ada], options: ["--log", "trace"])
            let nodes = [ada, ben]
            try await nodes.makeDatabase("notes")
            try await Self.makeMistakes(on: ada)
            try await nodes.settle("notes")
            try await Self.makeConflicts(ada, ben)
            try await Self.forge(on: ben, ada)
            // What a check of the file finds, too.
            #expect(try await ben.run(["verify", "notes"]).status == 1)
            _ = try await ben.reaches("DATABASE_DAMAGED", level: "critical")
            for node in nodes { kill(try #require(node.processID), SIGUSR1) }
            let told = try await eventually(within: 60) { ben.log.contains("status of a peer") }
            #expect(told)

            let key = String(decoding: Files.read(ada.directory + "/identity.pem"), as: UTF8.self)
            let secrets = key.split(separator: "\n").filter { $0.utf8.count > 40 }.map(String.init) + [code]
            for node in nodes {
                let file = "\(lab.folder)/\(node.name).txt"
                let written = try await node.run(["diagnose", file], within: 120)
                #expect(written.status == 0 && written.line == file, "\(written.errorText)")
                var status = stat()
                #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
                let report = String(decoding: Files.read(file), as: UTF8.self)
                for section in ["versions of the node", "status", "databases", "log, the last lines", "doctor"] {
                    #expect(report.contains("== \(section)\n"), "\(section): \(report.prefix(2_000))")
                }
                for (name, text) in [("the log", node.log), ("the report", report)] {
                    let lines = text.split(separator: "\n").filter { $0.lowercased().contains(Self.canary) }
                    #expect(lines.isEmpty, "\(name) of \(node.name): \(lines.prefix(3))")
                    for secret in secrets { #expect(!text.contains(secret), "\(name) of \(node.name)") }
                }
            }
            // What is covered can be worked with: the index is seen, and how queries were run.
            let report = String(decoding: Files.read("\(lab.folder)/ada.txt"), as: UTF8.self)
            #expect(report.contains(#""expressions":["f1","LOWER(f2.f3)"]"#), "\(report)")
            #expect(report.contains(#""where":"f4 = '?'""#) && report.contains("USING INDEX index_1"))
            #expect(ada.log.contains("refused a document") && ada.log.contains("document=#"))
            #expect(report.contains("refused a document"))
        }
    }

    private static func makeMistakes(on ada: TestNode) async throws {
        try await ada.kith(
            "put", "notes", "\(canary)-id", #"{"\#(canary)Key":"\#(canary)-value","n":{"\#(canary)":1}}"#)
        try await ada.kith(
            "index", "create", "notes", "by-key", "\(canary)Key", "LOWER(n.\(canary))", "--where",
            "\(canary)Kind = '\(canary)'")
        let mistakes = [
            ["put", "notes", "\(canary)-bad", #"{"\#(canary)": nonsense}"#],
            ["put", "notes", "\(canary)-bad", #"{"_\#(canary)":1}"#],
            ["put", "notes", "\(canary)-bad", #"{"\#(canary)":1,"\#(canary)":2}"#],
            ["put", "notes", "_\(canary)", "{}"],
            ["put", "notes", "\(canary)-id", "{}", "--rev", "9-00000000000000000000000000000000"],
            ["get", "notes", "\(canary)-none"], ["delete", "notes", "\(canary)-none"],
            ["history", "notes", "\(canary)-none"],
            ["query", "notes", "SELECT \(canary.uppercased())(a) FROM _"],
            ["query", "notes", "SELECT * FROM _ WHERE \(canary) = $\(canary)"],
            ["query", "notes", "SELECT REGEXP_LIKE(\(canary)Key, '(\(canary)') FROM _"],
            ["index", "create", "notes", "wrong", "\(canary) +"], ["index", "drop", "notes", canary],
            ["policy", "notes", #"{"default":"latest","paths":{"/\#(canary)":"none"}}"#],
            ["resolve", "notes", "\(canary)-id", "--keep", "9-00000000000000000000000000000000"],
        ]
        for mistake in mistakes {
            #expect(try await ada.run(mistake).status != 0, "\(mistake)")
        }
        _ = try await ada.run(
            ["import", "notes", "-"], input: Array("{\"_id\":\"\(canary)-x\",\"v\":1}\n{\"\(canary)\"".utf8))
        let rows = "SELECT * FROM _ WHERE \(canary)Kind = '\(canary)' AND \(canary)Key = '\(canary)'"
        try await ada.kith("query", "notes", rows)
        try await ada.kith("policy", "notes", #"{"default":"latest","paths":{"/\#(canary)Tags":"union"}}"#)
    }

    private static func makeConflicts(_ ada: TestNode, _ ben: TestNode) async throws {
        try await ada.kith("policy", "notes", #"{"default":"manual"}"#)
        try await [ada, ben].settle("notes")
        try await [ada, ben].pauseAll()
        try await ada.kith("put", "notes", "\(canary)-id", #"{"\#(canary)":"ada"}"#)
        try await ben.kith("put", "notes", "\(canary)-id", #"{"\#(canary)":"ben"}"#)
        try await [ada, ben].resumeAll()
        try await [ada, ben].settle("notes")
        _ = try await ada.reaches("CONFLICTS")
    }

    /// A document that ben's disk has changed, and that ada refuses.
    private static func forge(on ben: TestNode, _ ada: TestNode) async throws {
        try await ada.kith("pause")
        try await ben.kith("put", "notes", "\(canary)-forged", #"{"\#(canary)":"what was written"}"#)
        try await ben.stop()
        await ben.willLose("notes")
        try UpkeepTests.replace("what was written", "what was forged!", in: ben.file("notes"))
        try await ben.start(peers: [ada, ben], options: ["--log", "trace"])
        try await ada.kith("resume")
        _ = try await ada.reaches("DOCUMENTS_REFUSED")
        // The command names it, by its tag in the log and by its id.
        let refused = try await ada.kith("refused", "notes")
        #expect(refused.hasPrefix("#") && refused.contains("  \(canary)-forged  "), "\(refused)")
        let json = try await ada.json("refused", "notes", "--json")
        #expect(json.array?.count == 1 && json[0]?["id"]?.string == "\(canary)-forged", "\(json)")
        let tag = String(refused.prefix { $0 != " " })
        #expect(ada.log.contains("document=\(tag)"), "\(tag) is not in the log")
    }

    @Test func withoutANodeItHasWhatCanBeReadAllTheSame() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = try await lab.group(1)[0]
            try await node.kith("db", "create", "notes")
            try await node.kith("put", "notes", "a", #"{"secret":"zebra"}"#)
            try await node.kith("index", "create", "notes", "by-secret", "secret")
            try await node.stop()
            let printed = try await node.run(["diagnose", "-"], within: 120)
            #expect(printed.status == 0, "\(printed.errorText)")
            let text = printed.outputText
            #expect(text.contains("kith is not running") && text.contains("== doctor\n"), "\(text)")
            #expect(text.contains(#""name":"by-secret""#) && !text.contains("zebra") && !text.contains(#""secret""#))
            #expect(text.contains("databases/notes.sqlite3") && text.contains(#""key":"listen""#))

            let file = lab.folder + "/report"
            try await node.kith("diagnose", file, within: 120)
            let again = try await node.run(["diagnose", file], within: 120)
            #expect(again.status == 1 && again.errorText.contains("--force"), "\(again.errorText)")
            let nowhere = try await node.run(["diagnose", lab.folder + "/none/report"], within: 120)
            #expect(nowhere.status == 1 && nowhere.errorText.contains("cannot write"), "\(nowhere.errorText)")
            #expect(!Files.names(in: lab.folder).contains { $0.contains(".part-") })
        }
    }
}
