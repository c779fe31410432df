import Glibc
import KithDocument
import KithTestSupport
import Testing

/// A node as a service manager and an administrator have it: configured by a file, told by signals, stopped.
@Suite(.timeLimit(.minutes(5))) struct ServiceTests {
    private func write(_ text: String, to path: String) throws { try Files.write(Array(text.utf8), to: path) }

    /// Starts a node with these variables beside that of its directory and waits for its line `ready`.
    /// - Returns: the process, and the address at which it listens.
    private func start(_ node: TestNode, _ arguments: [String], _ environment: [String], in folder: String)
        async throws -> (ChildProgram, String)
    {
        let process = try ChildProgram(
            ["start"] + arguments, in: folder, environment: ["KITH_DATA=\(node.directory)"] + environment)
        let isReady = try await eventually(within: 30) {
            process.output.contains(UInt8(ascii: "\n")) || process.status != nil
        }
        let words = String(decoding: process.output, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        try #require(isReady && words.first == "ready", "\(String(decoding: process.errors, as: UTF8.self))")
        return (process, String(words[1]))
    }

    private func lines(of process: ChildProgram) -> [Substring] {
        String(decoding: process.errors, as: UTF8.self).split(separator: "\n")
    }

    @Test func theFileTheVariablesAndTheOptionsConfigureTheNode() async throws {
        try await Lab.open(nodes: 1) { lab in
            let ada = lab.node("ada")
            try await ada.found("testers")
            let file = "\(lab.folder)/kith.conf"
            try write("# den\nlisten = 127.0.0.1:0\ndiscovery = off\nlog = error\nnothing = 1\n", to: file)
            let environment = ["KITH_CONFIG=\(file)", "KITH_LOG=warning mesh=debug"]
            let shown = try await ChildProgram(
                ["config", "--json", "--peer", "127.0.0.1:9"], in: lab.folder,
                environment: ["KITH_DATA=\(ada.directory)"] + environment
            ).finish(within: 20)
            #expect(shown.status == 0 && shown.errorText == "\(file):5: unknown key nothing\n")
            let settings = try JSONValue(parsing: shown.output)["settings"]?.array ?? []
            let told = settings.filter { $0["origin"]?.string != "default" }.map { row in
                [row["key"], row["value"], row["origin"], row["place"]].map { $0?.string ?? "-" }.joined(separator: " ")
            }
            #expect(
                told == [
                    "data \(ada.directory) variable KITH_DATA", "listen 127.0.0.1:0 file \(file):2",
                    "peer 127.0.0.1:9 option --peer", "discovery off file \(file):3", "log warning variable KITH_LOG",
                    "log mesh=debug variable KITH_LOG",
                ])
            let (process, address) = try await start(ada, [], environment, in: lab.folder)
            #expect(address.hasPrefix("127.0.0.1:"))
            #expect(lines(of: process).first == "kith: warning: \(file):5: unknown key nothing")
            // The log is at warning, so it has nothing of the start.
            #expect(lines(of: process).count == 1)
            #expect(try await ada.status()["discovery"]?["state"]?.string == "off")
            process.signal(SIGTERM)
            #expect(try await process.finish(within: 20).status == 0)
        }
    }

    @Test func aWrongConfigurationStartsNothingAndIsNamed() async throws {
        try await Lab.open(nodes: 1) { lab in
            let ada = lab.node("ada")
            try await ada.found("testers")
            let file = "\(lab.folder)/kith.conf"
            try write("listen = 127.0.0.1:0\ndiscovery = maybe\nnothing = 1\n", to: file)
            func start(_ options: String...) async throws -> ChildProgram.Finished {
                try await ada.run(["start", "--config", file] + options)
            }
            let wrong = try await start()
            #expect(wrong.status == 64 && wrong.output.isEmpty)
            #expect(wrong.errorText == "kith start: \(file):2: discovery: maybe is neither on nor off\n")
            try write("nothing = 1\n", to: file)
            let strict = try await start("--strict", "--check")
            #expect(strict.status == 64 && strict.errorText == "kith start: \(file):1: unknown key nothing\n")
            let check = try await start("--check")
            #expect(check.status == 0 && check.line == "ok: a node can start in \(ada.directory)")
            let named = try await ada.run(["config", "--check", file])
            #expect(named.status == 1 && named.errorText == "\(file):1: unknown key nothing\n")
            let missing = try await ada.run(["start", "--config", "\(lab.folder)/none.conf"])
            #expect(missing.status == 64 && missing.errorText.contains("/none.conf: can't be read: No such file"))
            // Commands go on while the file is wrong, unless it hides the directory.
            try write("listen = nowhere nowhere\ndata = \(ada.directory)\n", to: file)
            let command = try await ChildProgram(["status"], in: lab.folder, environment: ["KITH_CONFIG=\(file)"])
                .finish(within: 20)
            #expect(command.status == 69 && command.errorText.contains(ada.directory))
            let nobody = try await lab.node("nobody").run(["start", "--check"])
            #expect(nobody.status == 1)
        }
    }

    @Test func aHangupReadsTheConfigurationAnew() async throws {
        try await Lab.open(nodes: 2) { lab in
            let (ada, ben) = (lab.node("ada"), lab.node("ben"))
            try await ada.found("testers")
            try await ada.start()
            try await ben.join(by: ada)
            // Where the inviter was is remembered, and would be dialled anyway.
            unlink(ben.directory + "/peers")
            let file = "\(lab.folder)/kith.conf"
            let start = "listen = 127.0.0.1:0\ndiscovery = off\n"
            try write(start, to: file)
            let (process, _) = try await self.start(ben, ["--config", file], [], in: lab.folder)

            try write(start + "log = debug\npeer = \(try #require(ada.address))\n", to: file)
            process.signal(SIGHUP)
            try await ben.kith("wait", "--peers", "1", within: 40)
            let told = lines(of: process).first { $0.contains("read the configuration again") }
            #expect(
                told?.hasSuffix("node: read the configuration again: changed now: peer, log") == true,
                "\(lines(of: process))")

            try write(start + "log = loud\n", to: file)
            process.signal(SIGHUP)
            #expect(try await eventually(within: 20) { try await ben.codes().contains("CONFIG_INVALID") })
            let check = try #require(
                try await ben.status()["health"]?["checks"]?.array?.first { $0["code"]?.string == "CONFIG_INVALID" })
            #expect(check["level"]?.string == "warning")
            #expect(check["summary"]?.string?.contains("\(file):3: log: loud") == true)
            let failed = try await ben.run(["reload"])
            #expect(failed.status == 1 && failed.errorText.hasPrefix("kith reload: \(file):3: log: loud"))
            #expect(
                lines(of: process).contains {
                    $0.contains("error node: the configuration is not taken over: \(file):3")
                })
            // The old one holds: the peer stays, and the log is at debug.
            #expect(try await ben.peer(ada)["connected"]?.bool == true)

            try write("listen = 127.0.0.1:9\ndiscovery = off\nnothing = 1\n", to: file)
            let reload = try await ben.run(["reload"])
            #expect(reload.status == 0)
            #expect(
                reload.errorText
                    == "warning: \(file):3: unknown key nothing\nchanged now: peer, log; changed after a restart: listen\n"
            )
            #expect(try await !ben.codes().contains("CONFIG_INVALID"))
            // It still needs that restart.
            #expect(try await ben.run(["reload"]).errorText.hasSuffix("changed after a restart: listen\n"))
            process.signal(SIGTERM)
            #expect(try await process.finish(within: 20).status == 0)
        }
    }

    @Test func discoveryIsSwitchedOnAndOffByAReload() async throws {
        try await Lab.open(nodes: 1) { lab in
            let ada = lab.node("ada")
            try await ada.found("testers")
            let file = "\(lab.folder)/kith.conf"
            try write("listen = 127.0.0.1:0\ndiscovery = off\n", to: file)
            let (process, _) = try await start(ada, ["--config", file], [], in: lab.folder)
            func state() async throws -> String? { try await ada.status()["discovery"]?["state"]?.string }
            for (word, isOff) in [("on", false), ("off", true), ("on", false)] {
                try write("listen = 127.0.0.1:0\ndiscovery = \(word)\n", to: file)
                #expect(try await ada.run(["reload"]).errorText == "changed now: discovery\n")
                #expect(try await eventually(within: 20) { try await (state() == "off") == isOff })
            }
            process.signal(SIGTERM)
            #expect(try await process.finish(within: 20).status == 0)
        }
    }

    @Test func theServiceManagerHearsOfTheNodesLife() async throws {
        try await Lab.open(nodes: 1) { lab in
            let ada = lab.node("ada")
            try await ada.found("testers")
            let socket = NotifySocket("\(lab.folder)/notify")
            let (process, _) = try await start(
                ada, ["--no-discovery", "--listen", "127.0.0.1:0"],
                ["NOTIFY_SOCKET=\(socket.name)", "WATCHDOG_USEC=400000"], in: lab.folder)
            #expect(await socket.hears("READY=1"))
            // What it told then holds: the control socket answers.
            #expect(try await ada.run(["check"]).status == 0)
            #expect(await socket.hears("WATCHDOG=1", times: 2))
            process.signal(SIGHUP)
            #expect(await socket.hears("RELOADING=1"))
            #expect(await socket.hears("READY=1", times: 2))
            let reload = socket.messages.first { $0.hasPrefix("RELOADING=1\n") }
            #expect(reload?.contains("\nMONOTONIC_USEC=") == true)
            process.signal(SIGTERM)
            #expect(try await process.finish(within: 20).status == 0)
            #expect(socket.messages.last?.hasPrefix("STOPPING=1") == true)
            #expect(socket.count(of: "STOPPING=1") == 1)
        }
    }

    @Test func aNodeThatCanNotStartIsNeverReady() async throws {
        try await Lab.open(nodes: 1) { lab in
            let ada = lab.node("ada")
            try await ada.found("testers")
            try await ada.start()
            let socket = NotifySocket("\(lab.folder)/notify")
            let second = try await ChildProgram(
                ["start", "--no-discovery"], in: lab.folder,
                environment: ["KITH_DATA=\(ada.directory)", "NOTIFY_SOCKET=\(socket.name)"]
            ).finish(within: 20)
            let holder = try #require(ada.processID)
            #expect(second.status == 1 && second.errorText.contains("\(holder)"))
            #expect(socket.count(of: "READY=1") == 0)
        }
    }

    @Test func aClosedTerminalDoesNotEndANode() async throws {
        try await Lab.open(nodes: 1) { lab in
            let ada = lab.node("ada")
            try await ada.found("testers")
            // A session of its own, as that of a terminal, with the node in the background of its shell.
            let script = "echo $$; '\(ChildProgram.kith)' start --no-discovery --listen 127.0.0.1:0 & wait"
            let session = try ChildProgram(
                ["sh", "-c", script], of: "/usr/bin/setsid", in: lab.folder, environment: ["KITH_DATA=\(ada.directory)"]
            )
            let isReady = try await eventually(within: 30) {
                String(decoding: session.output, as: UTF8.self).contains("ready ")
            }
            try #require(isReady)
            let pid = try #require(try await ada.status()["node"]?["pid"]?.integer)
            let leader = try #require(
                String(decoding: session.output, as: UTF8.self).split(separator: "\n").first.flatMap { pid_t($0) })
            #expect(kill(-leader, SIGHUP) == 0)
            let isTold = try await eventually(within: 20) {
                String(decoding: session.errors, as: UTF8.self).contains("read the configuration again")
            }
            #expect(isTold)
            // Its shell ends, if it has not.
            session.signal(SIGKILL)
            #expect(try await session.finish(within: 20).status != 0)
            #expect(try await ada.status()["node"]?["pid"]?.integer == pid)
            #expect(try await ada.run(["check"]).status == 0)
            try await ada.kith("stop")
            #expect(try await ada.run(["check"]).status == 3)
        }
    }

    @Test func anAddressOfAnotherGroupIsNamedWithItsReason() async throws {
        try await Lab.open(nodes: 2) { lab in
            let (ada, ben) = (lab.node("ada"), lab.node("ben"))
            try await ada.found("testers")
            try await ben.found("others")
            try await ada.start()
            try await ben.start(peers: [ada])
            #expect(try await eventually(within: 30) { try await ben.codes() == ["STATIC_PEER_FAILED"] })
            let check = try await ben.status()["health"]?["checks"]?[0]
            let address = try #require(ada.address)
            let start = "no node of this group was ever reached at \(address): "
            #expect(check?["summary"]?.string?.hasPrefix(start) == true, "\(String(describing: check))")
            // The other side has counted who was not let in.
            #expect(try await ada.status()["node"]?["strangers"]?.natural ?? 0 > 0)
            #expect(try await ada.codes() == [])
        }
    }

    @Test func peersHearAtOnceOfANodeThatIsTold() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let (ada, ben) = (nodes[0], nodes[1])
            try await ben.stop()
            let isKnown = try await eventually(within: 40) { try await ada.peer(ben)["state"]?.string == "unknown" }
            #expect(isKnown)
            // In the status the failed dials that follow soon take the place of the reason; the log keeps it.
            let ends = ada.log.split(separator: "\n").filter { $0.contains("a link ended") }
            #expect(ends.last?.contains("the peer says: the node stops") == true, "\(ends)")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "needs root")) func rootActsAsTheOwnerOfADirectory() async throws {
        try await Lab.open(nodes: 1) { lab in
            chmod(lab.folder, 0o755)
            let ada = lab.node("ada")
            mkdir(ada.directory, 0o700)
            let owner: uid_t = 54_321
            chown(ada.directory, owner, owner)
            try await ada.found("testers")
            try await ada.start()
            try await ada.kith("db", "create", "notes")
            try await ada.kith("put", "notes", "one", "{}")
            // Every thread of it, the first too.
            let pid = try #require(ada.processID)
            for thread in TemporaryDirectory.names(in: "/proc/\(pid)/task") {
                let status = String(decoding: Files.read("/proc/\(pid)/task/\(thread)/status"), as: UTF8.self)
                let line = status.split(separator: "\n").first { $0.hasPrefix("Uid:") }
                #expect(line == nil || line == "Uid:\t\(owner)\t\(owner)\t\(owner)\t\(owner)")
            }
            func owners() -> Set<uid_t> {
                let names = [".", "databases"].flatMap { folder in
                    TemporaryDirectory.names(in: "\(ada.directory)/\(folder)").map {
                        "\(ada.directory)/\(folder)/\($0)"
                    }
                }
                return Set(
                    names.map { path in
                        var status = stat()
                        return lstat(path, &status) == 0 ? status.st_uid : 0
                    })
            }
            #expect(owners() == [owner])
            try await ada.stop()
            #expect(owners() == [owner])
            // What the owner may not write, root does not write for it.
            let away = lab.node("ben")
            mkdir(away.directory, 0o700)
            chown(away.directory, owner, owner)
            let root = try await away.run(["init", "--root-out", "\(lab.folder)/root.pem"])
            #expect(root.status == 1 && root.errorText.contains("root.pem"))
        }
    }

    @Test func aSecondSignalEndsTheProcessAtOnce() async throws {
        try await Lab.open(nodes: 1) { lab in
            let ada = lab.node("ada")
            try await ada.found("testers")
            try await ada.start()
            let process = try #require(ada.processID)
            // Held, so that both are there when it goes on.
            kill(process, SIGSTOP)
            kill(process, SIGTERM)
            kill(process, SIGINT)
            kill(process, SIGCONT)
            #expect(await ada.ended() == 1)
            // Nothing is lost by it.
            try await ada.start()
            #expect(try await ada.run(["check"]).status == 0)
        }
    }
}

extension TestNode {
    /// The codes of what is wrong with it.
    func codes() async throws -> [String] {
        try await status()["health"]?["checks"]?.array?.compactMap { $0["code"]?.string } ?? []
    }
}
