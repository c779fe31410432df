import Glibc
import KithDocument
import KithTestSupport
import Testing

/// Copies of databases and databases from copies, with real nodes.
@Suite(.timeLimit(.minutes(10))) struct BackupTests {
    @Test func aRestoredNodeGetsBackWhatItsPeersHave() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("stock")
            try await nodes[0].kith("import", "stock", "-", input: RestartTests.documents(200))
            try await nodes.settle("stock")
            let copy = lab.folder + "/copy"
            try await nodes[0].kith("backup", "stock", copy)
            try await nodes[0].kith("import", "stock", "-", input: UpkeepTests.small(300))
            let digest = try await nodes.settle("stock")

            let asked = try await nodes[0].run(["restore", "stock", copy])
            #expect(asked.status == 64 && asked.errorText.contains("--yes"), "\(asked.errorText)")
            let restored = try await nodes[0].run(["restore", "stock", copy, "--yes", "--json"])
            #expect(restored.status == 0, "\(restored.errorText)")
            #expect(try JSONValue(parsing: restored.output)["documents"]?.natural == 200)
            #expect(try await nodes.settle("stock") == digest)
            #expect(try await nodes[0].kith("get", "stock", "item-300") == #"{"n":300}"#)
            // And its own next writes are new to the peer, which had its checkpoint beyond them.
            try await nodes[0].kith("put", "stock", "after", "{}")
            try await nodes.settle("stock")
            #expect(try await nodes[1].kith("get", "stock", "after") == "{}")
            #expect(try await nodes[0].run(["verify"]).status == 0)
            let kept = TemporaryDirectory.names(in: nodes[0].directory + "/databases").filter {
                $0.contains("replaced")
            }
            #expect(kept.count == 1, "\(kept)")
            // What was put aside is listed, and stays when the database is dropped.
            let path = "\(nodes[0].directory)/databases/\(kept.first ?? "")"
            let listed = try await nodes[0].status()["storage"]?["kept_files"]?.array ?? []
            #expect(listed.map { $0["path"]?.string } == [path], "\(listed)")
            let deleted = try await nodes[0].run(["db", "delete", "stock", "--yes"])
            #expect(deleted.status == 0 && deleted.errorText.contains("\(path) stays"), "\(deleted.errorText)")
            #expect(access(path, F_OK) == 0)
        }
    }

    @Test func aCopyIsMadeWhileWritesGoOnAndIsWholeOrNotThere() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = try await lab.group(1)[0]
            try await node.kith("db", "create", "stock")
            try await node.kith("import", "stock", "-", input: RestartTests.documents(500))
            let copy = lab.folder + "/copy"
            let writes = try node.program(["import", "stock", "-"], input: UpkeepTests.small(5_000))
            try await node.kith("backup", "stock", copy)
            #expect(try await writes.finish(within: 120).status == 0)
            var status = stat()
            #expect(stat(copy, &status) == 0 && status.st_mode & 0o777 == 0o600)

            let again = try await node.run(["backup", "stock", copy])
            #expect(again.status == 1 && again.errorText.contains("--force"), "\(again.errorText)")
            try await node.kith("backup", "stock", copy, "--force")
            // What has a log beside it is a database, and neither a place for a copy nor a copy.
            let itself = "\(node.directory)/databases/stock.sqlite3"
            let onItself = try await node.run(["backup", "stock", itself, "--force"])
            #expect(onItself.status == 1 && onItself.errorText.contains("name another file"), "\(onItself.errorText)")
            let ofItself = try await node.run(["restore", "stock", itself, "--yes"])
            #expect(ofItself.status == 1 && ofItself.errorText.contains("kith backup"), "\(ofItself.errorText)")
            // Sound, and with all that was acknowledged before it began.
            try await node.kith("restore", "taken", copy)
            #expect(try await node.run(["verify", "taken"]).status == 0)
            #expect(try await node.lines("export", "taken").count >= 500)
            try await node.kith("db", "delete", "taken", "--yes")
            let piped = try await node.run(["backup", "stock", "-"])
            #expect(piped.output == Files.read(copy))
            #expect(try await node.run(["backup", "none", copy + "2"]).status == 2)

            for number in [SIGINT, SIGTERM, SIGKILL] {
                let target = "\(lab.folder)/cut-\(number)"
                let cut = try node.program(["backup", "stock", target])
                usleep(30_000)
                cut.signal(number)
                _ = try await cut.finish(within: 30)
                let isThere = access(target, F_OK) == 0
                if isThere { #expect(Files.read(target).count == Files.read(copy).count) }
                if number != SIGKILL {
                    #expect(!TemporaryDirectory.names(in: lab.folder).contains { $0.hasPrefix("cut-\(number).part") })
                }
            }
            #expect(try await node.run(["verify"]).status == 0)
        }
    }

    @Test func whatIsNoCopyIsRefusedAndTheDatabaseStays() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = try await lab.group(1)[0]
            try await node.kith("db", "create", "stock")
            try await node.kith("put", "stock", "a", "{}")
            let copy = lab.folder + "/copy"
            try await node.kith("backup", "stock", copy)
            let whole = Files.read(copy)
            for bytes in [Array(whole.prefix(whole.count / 2)), Array("no database".utf8), []] {
                try Files.write(bytes, to: copy)
                let refused = try await node.run(["restore", "stock", copy, "--yes"])
                #expect(
                    refused.status == 1 && refused.errorText.split(separator: "\n").count == 1, "\(refused.errorText)")
                #expect(refused.errorText.contains("from \(copy)"), "\(refused.errorText)")
                #expect(!refused.errorText.contains(".part"), "\(refused.errorText)")
                #expect(try await node.kith("get", "stock", "a") == "{}")
            }
            #expect(try await node.run(["restore", "stock", copy + "-none", "--yes"]).status == 1)
            try await node.stop()
            let refused = try await node.run(["restore", "stock", copy, "--yes"])
            #expect(refused.status == 1 && refused.errorText.contains("from \(copy)"), "\(refused.errorText)")
            #expect(!refused.errorText.contains(".part"), "\(refused.errorText)")
            // Nor is the copy that is being made named when it can't be.
            let nowhere = try await node.run(["backup", "stock", lab.folder + "/none/copy"])
            #expect(nowhere.status == 1 && nowhere.errorText.contains("/none/copy:"), "\(nowhere.errorText)")
            try Files.write(whole, to: copy)
            try await node.kith("restore", "other", copy)
            try await node.start()
            #expect(try await node.kith("get", "other", "a") == "{}")
        }
    }

    @Test func aDirectoryThatIsNoNodesGetsACopyOnceItIs() async throws {
        try await Lab.open(nodes: 2) { lab in
            let ada = try await lab.group(1)[0]
            try await ada.kith("db", "create", "stock")
            try await ada.kith("put", "stock", "a", "{}")
            let copy = lab.folder + "/copy"
            try await ada.kith("backup", "stock", copy)
            let ben = lab.node("ben")
            mkdir(ben.directory, 0o700)
            for command in [["restore", "stock", copy], ["verify"], ["repair", "stock"]] {
                let refused = try await ben.run(command)
                #expect(refused.status == 1 && refused.errorText.contains("kith join"), "\(refused.errorText)")
                BadInputTests.expectOneLine(refused)
            }
            #expect(Files.names(in: ben.directory).isEmpty)
            try await ben.join(by: ada)
            try await ben.kith("restore", "stock", copy)
            try await ben.start(peers: [ada])
            try await [ada, ben].settle("stock")
        }
    }

    /// Kills restores at one moment after the other: there is always the old database or the new one.
    @Test func aRestoreThatIsKilledLeavesTheOldOrTheNewDatabase() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = try await lab.group(1)[0]
            try await node.kith("db", "create", "stock")
            try await node.kith("import", "stock", "-", input: RestartTests.documents(2_000))
            let copy = lab.folder + "/copy"
            try await node.kith("backup", "stock", copy)
            try await node.kith("put", "stock", "since", "{}")
            try await node.stop()
            var seen: Set<UInt64> = []
            for round in 0..<10 {
                let restore = try node.program(["restore", "stock", copy, "--yes"])
                usleep(useconds_t(20_000 * round))
                restore.signal(SIGKILL)
                _ = try await restore.finish(within: 30)
                let check = try await node.run(["verify", "stock", "--json"])
                #expect(check.status == 0, "\(check.errorText)")
                seen.insert(try JSONValue(parsing: check.output)["databases"]?[0]?["documents"]?.natural ?? 0)
            }
            #expect(seen.isSubset(of: [2_000, 2_001]), "\(seen)")
            try await node.kith("restore", "stock", copy, "--yes")
            try await node.start()
            #expect(try await node.lines("export", "stock").count == 2_000)
            #expect(try await node.run(["get", "stock", "since"]).status == 2)
        }
    }

    /// The drill of docs/operations.md, typed as it stands there.
    @Test func theDrillOfTheManualWorksAsItIsWritten() async throws {
        let page = String(decoding: Files.read(Self.manual), as: UTF8.self)
        let section = try #require(page.firstRange(of: "## Backup and restore drill"))
        var commands: [String] = []
        for line in page[section.upperBound...].split(separator: "\n") {
            if line.hasPrefix("## ") { break }
            if line.hasPrefix("    ") { commands.append(String(line.dropFirst(4))) }
        }
        #expect(commands.count >= 8, "\(commands)")
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("notes")
            try await nodes[1].kith("put", "notes", "list", #"{"milk":true}"#)
            try await nodes.settle("notes")
            let folder = String(ChildProgram.kith[..<ChildProgram.kith.lastIndex(of: "/")!])
            for command in commands {
                let shell = try ChildProgram(
                    ["-c", "cd \(lab.folder) && PATH=\(folder):$PATH && \(command)"], of: "/bin/sh", in: lab.folder,
                    environment: ["KITH_DATA=\(nodes[0].directory)"])
                let result = try await shell.finish(within: 60)
                #expect(result.status == 0, "\(command): \(result.errorText)")
            }
            try await nodes.settle("notes")
            #expect(try await nodes[0].kith("get", "notes", "list") == #"{"milk":true}"#)
        }
    }

    private static let manual: String = {
        let own = #filePath
        let tests = own[..<own.firstRange(of: "/Tests/")!.lowerBound]
        return String(tests) + "/docs/operations.md"
    }()
}
