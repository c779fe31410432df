import Glibc
import KithHTTPCore
import KithTestSupport
import Testing

@testable import kith

/// What may follow the words of a command line.
@Suite(.timeLimit(.minutes(2))) struct CompletionTests {
    private func words(_ line: String...) -> [String] {
        Completer().candidates(line).compactMap { candidate in
            if case .word(let word, _) = candidate { word } else { nil }
        }
    }

    @Test func commandsComeFirst() {
        #expect(words("").contains("put") && words("").contains("db") && words("").contains("help"))
        #expect(words("").count { $0 == "db" } == 1)
        #expect(words("sto") == ["stop"])
        #expect(words("db", "").sorted() == ["create", "delete", "list"])
        #expect(words("db", "cr") == ["create"])
        #expect(words("help", "exit") == ["exit-status"])
        #expect(words("nothing", "") == [] && words("db", "nothing", "") == [])
    }

    @Test func optionsAreThoseOfTheCommandThatWereNotGiven() {
        let open = words("status", "--")
        #expect(open.contains("--json") && open.contains("--watch") && open.contains("--data") && !open.contains("-x"))
        #expect(words("status", "-").contains("-x"))
        #expect(!words("status", "--json", "--").contains("--json"))
        #expect(words("start", "--peer", "a", "--pe") == ["--peer"])
        #expect(words("status", "--", "-") == [])
    }

    @Test func valuesAreThoseOfTheOption() {
        #expect(words("invite", "--role", "") == ["admin", "writer", "reader"])
        #expect(words("invite", "--role=w") == ["--role=writer"])
        #expect(words("start", "--discovery", "") == ["on", "off"])
        #expect(words("start", "--log", "me") == ["mesh="])
        #expect(words("log", "mesh=d") == ["mesh=debug"] && words("start", "--log=mesh=w") == ["--log=mesh=warning"])
        #expect(words("log", "").contains("error") && words("log", "").contains("store="))
        #expect(words("mute", "CONF") == ["CONFLICTS"] || words("mute", "CONF") == ["CONFLICTS", "CONFIG_INVALID"])
        #expect(words("unmute", "SINGLE") == ["SINGLE_ADMIN"] && words("join", "") == [])
        #expect(words("help", "STORAGE_FU") == ["STORAGE_FULL"] && words("help", "storage-fu") == ["storage-full"])
        #expect(words("role", "den", "") == ["writer", "reader"])
        #expect(words("completion", "") == ["bash", "zsh", "fish"])
        #expect(words("man", "kith.") == ["kith.conf"])
    }

    @Test func filesDatabasesAndPeersAreAskedFor() {
        func one(_ line: String...) -> [Completer.Candidate] { Completer().candidates(line) }
        #expect(one("import", "notes", "") == [.file])
        #expect(one("status", "--data", "") == [.folder])
        #expect(one("status", "--config=x") == [.file])
        #expect(one("put", "") == [.database(prefix: "")])
        #expect(one("wait", "--in-sync=no") == [.database(prefix: "--in-sync=")])
        #expect(one("put", "notes", "") == [])
        #expect(one("pause", "--for", "1h", "a") == [.peer(prefix: "")])
        #expect(one("verify", "") == [.database(prefix: "")] && one("backup", "no") == [.database(prefix: "")])
        #expect(one("revoke", "") == [.peer(prefix: "")] && one("config", "--check", "") == [.file])
        #expect(one("log", "info", "deb") == [.word("debug", "all areas")])
    }

    /// Every placeholder that stands for a word of a kind is one the completer knows, or has no words.
    @Test func everyCommandAndOptionCanBeCompleted() {
        for command in CommandTable.commands {
            let line = command.name.split(separator: " ").map(String.init)
            _ = Completer().candidates(line + [""])
            #expect(!words(of: line + ["--"]).isEmpty, "\(command.name)")
            for option in command.options where option.value != nil && !option.name.isEmpty {
                _ = Completer().candidates(line + ["--\(option.name)", ""])
            }
        }
    }

    private func words(of line: [String]) -> [String] {
        Completer().candidates(line).compactMap { if case .word(let word, _) = $0 { word } else { nil } }
    }

    @Test func theRunningNodeNamesItsDatabasesAndPeers() async throws {
        let node = try FakeNode { line in
            line.contains("databases")
                ? .json(#"{"databases":[{"name":"notes"},{"name":"news"},{"name":"lists"}]}"#)
                : .json(#"{"peers":[{"id":"a","name":"den"},{"id":"b","name":"two words"},{"id":"c","name":null}]}"#)
        }
        defer { node.close() }
        // A machine with much to do may take longer than a person would wait: then there are no words, and one asks again.
        func ask(_ words: [String], data: String) async throws -> String {
            var output = ""
            _ = try await eventually {
                let result = try await Command.run(["completion", "words", "--"] + words, data: data)
                #expect(result.status == 0 && result.errors == "")
                output = result.output
                return output != ""
            }
            return output
        }
        #expect(try await ask(["put", "n"], data: node.directory) == "notes\tdatabase\nnews\tdatabase\n")
        #expect(try await ask(["wait", "--in-sync=l"], data: node.directory) == "--in-sync=lists\tdatabase\n")
        #expect(try await ask(["pause", "--data", node.directory, ""], data: "/nothing") == "den\tpeer\n")
    }

    @Test func withoutANodeOrWithOneThatHangsThereAreNoWordsAndNoWait() async throws {
        let nobody = try await Command.run(["completion", "words", "--", "put", ""], data: "/nothing")
        #expect(nobody.output == "" && nobody.errors == "" && nobody.status == 0)
        let isOver = Shared(false)
        let hung = try FakeNode { _ in
            while !isOver.value { usleep(10_000) }
            return .json("{}")
        }
        let answer = try await Command.run(["completion", "words", "--", "put", ""], data: hung.directory)
        #expect(answer.output == "" && answer.status == 0)
        #expect(answer.seconds < 20, "\(answer.seconds)")
        isOver.change { $0 = true }
        hung.close()
    }

    private func shell(_ arguments: [String], _ environment: [String] = []) async throws -> ProgramResult {
        try await Program.run(arguments, environment: environment)
    }

    private func expectRead(_ name: String, by path: String) async throws {
        let script = try await Command.run(["completion", name], data: "/nothing")
        #expect(script.status == 0 && script.errors == "")
        let folder = TemporaryDirectory()
        try Command.write(script.output, to: folder.path + "/script")
        let result = try await shell([path, "-n", folder.path + "/script"])
        #expect(result.status == 0 && result.text == "", "\(result.text)")
    }

    @Test func bashTakesItsScript() async throws { try await expectRead("bash", by: "/bin/bash") }

    @Test(.enabled(if: Program.isThere("zsh"), "zsh is not installed")) func zshTakesItsScriptAndCompletesByIt()
        async throws
    {
        try await expectRead("zsh", by: "/usr/bin/zsh")
        // Where the line stands, and what is offered, are those of zsh's own completion; a program has no line.
        let ask = #"""
            compdef() { :; }
            _files() { echo files; }
            _describe() { print -l -- "${(P@)4}"; }
            source <(kith completion zsh)
            try() { words=("$@"); CURRENT=$#words; _kith; }
            try kith sto
            try kith invite --role=r
            try kith import notes ''
            """#
        let result = try await shell(["/usr/bin/zsh", "-f", "-c", ask], ["KITH_DATA=/nothing", path])
        #expect(
            result.text == "stop:end the running node\n--role=reader:\nfiles\n", "\(result.text)")
    }

    @Test(.enabled(if: Program.isThere("fish"), "fish is not installed")) func fishTakesItsScriptAndCompletesByIt()
        async throws
    {
        try await expectRead("fish", by: "/usr/bin/fish")
        let ask = #"""
            kith completion fish | source
            complete -C "kith sto"
            complete -C "kith invite --role=r"
            complete -C "kith mute STORAGE_F"
            """#
        let folder = TemporaryDirectory()
        let result = try await shell(
            ["/usr/bin/fish", "--no-config", "-c", ask], ["KITH_DATA=/nothing", "HOME=\(folder.path)", path])
        #expect(
            result.text
                == "stop\tend the running node\n--role=reader\nSTORAGE_FAILED\thealth check\nSTORAGE_FULL\thealth check\n",
            "\(result.text)")
    }

    /// Where a shell finds the command.
    private var path: String { "PATH=\(Command.path[..<Command.path.lastIndex(of: "/")!]):/usr/bin:/bin" }

    @Test func bashCompletesWordsAsTheyAreTyped() async throws {
        let node = try FakeNode { _ in .json(#"{"databases":[{"name":"notes"}]}"#) }
        defer { node.close() }
        let ask = #"""
            source <(kith completion bash)
            compopt() { :; }
            try() { COMP_LINE=$1 COMP_POINT=${#1}; _kith; echo "${COMPREPLY[*]}"; }
            try "kith sto"
            try "kith invite --role=r"
            for _ in {1..50}; do [ "$(try "kith put n")" ] && break; done
            try "kith put n"
            try "kith put notes "
            try "kith help exit-s"
            """#
        let result = try await shell(
            ["/bin/bash", "-c", ask], ["KITH_DATA=\(node.directory)", path])
        // The node may be too slow for the last word that it is asked for.
        #expect(
            ["stop\nreader\n\n\nexit-status\n", "stop\nreader\nnotes\n\nexit-status\n"].contains(result.text),
            "\(result.text)")
    }

    @Test func anUnknownShellOrPageIsWrongUsage() async throws {
        for arguments in [["completion", "tcsh"], ["completion", "bash", "zsh"], ["man", "nothing"]] {
            let result = try await Command.run(arguments, data: "/nothing")
            #expect(result.status == 64 && result.output == "", "\(arguments)")
        }
    }
}
