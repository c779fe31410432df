import Glibc
import KithDocument
import Testing

/// `kith start --check`, and what a start and a check of the configuration say alike.
@Suite(.timeLimit(.minutes(10))) struct StartCheckTests {
    private func check(_ node: TestNode, _ options: String...) async throws -> ChildProgram.Finished {
        try await node.run(["start", "--check", "--no-discovery"] + options)
    }

    @Test func itTellsOfTheRunningNodeAndOfAnAddressThatIsTakenOrAbsent() async throws {
        try await Lab.open(nodes: 2) { lab in
            let ada = try await lab.group(1)[0]
            let busy = try await check(ada)
            let process = try #require(ada.processID)
            #expect(busy.status == 1 && busy.errorText.contains("process id \(process)"), "\(busy.errorText)")
            let ben = lab.node("ben")
            try await ben.kith("init", "--group", "others", "--name", "ben")
            let names = Files.names(in: ben.directory)
            let taken = try await check(ben, "--listen", try #require(ada.address))
            #expect(taken.status == 1 && taken.errorText.contains("Address already in use"), "\(taken.errorText)")
            let absent = try await check(ben, "--listen", "192.0.2.77:5484")
            #expect(absent.status == 1 && absent.errorText.contains("192.0.2.77"), "\(absent.errorText)")
            #expect(try await check(ben, "--listen", "127.0.0.1:0").status == 0)
            #expect(try await check(ben).status == 0, "another port will do where none is asked for")
            #expect(Files.names(in: ben.directory) == names, "a check writes nothing")
        }
    }

    @Test func itTellsAllAtOnceAndOfDatabasesThatCouldNotBeUsed() async throws {
        try await Lab.open(nodes: 1) { lab in
            let ada = lab.node("ada")
            try await ada.found("testers")
            try await ada.start()
            try await ada.kith("db", "create", "notes")
            try await ada.stop()
            let folder = ada.directory + "/databases"
            try Files.write(
                Array("SQLite format 3\0".utf8) + [UInt8](repeating: 1, count: 4_080), to: folder + "/foreign.sqlite3")
            try Files.write([], to: folder + "/empty.sqlite3")
            let odd = try await check(ada, "--listen", "127.0.0.1:0")
            #expect(odd.status == 0, "\(odd.errorText)")
            #expect(odd.errorText.contains("warning: database foreign could not be used"), "\(odd.errorText)")
            #expect(odd.errorText.contains("warning: database empty could not be used"), "\(odd.errorText)")
            #expect(!odd.errorText.contains("database notes"), "\(odd.errorText)")
            // What was carried is missed, with its folder too.
            rename(folder + "/notes.sqlite3", lab.folder + "/notes.sqlite3")
            let gone = try await check(ada, "--listen", "127.0.0.1:0")
            #expect(gone.status == 0 && gone.errorText.contains("notes.sqlite3 is gone"), "\(gone.errorText)")
            rename(folder, lab.folder + "/databases")
            let all = try await check(ada, "--listen", "127.0.0.1:0")
            #expect(all.status == 0 && all.errorText.contains("notes.sqlite3 is gone"), "\(all.errorText)")
            #expect(access(folder, F_OK) != 0, "a check writes nothing")
            try Files.write([1], to: ada.directory + "/membership")
            let both = try await check(ada, "--listen", "192.0.2.77:5484")
            #expect(both.status == 1 && both.errorText.contains("membership is damaged"), "\(both.errorText)")
            #expect(both.errorText.contains("192.0.2.77"), "\(both.errorText)")
        }
    }

    @Test(.enabled(if: SmallDisk.skipReason == nil, "mounting needs root")) func itTellsOfADiskThatIsReadOnly()
        async throws
    {
        try await Lab.open(nodes: 1) { lab in
            let ada = lab.node("ada")
            let disk = try await SmallDisk.mount(at: ada.directory, mebibytes: 16, folder: lab.folder)
            try await ada.found("testers")
            let mount = try await ChildProgram(
                ["-o", "remount,ro", ada.directory], of: "/usr/bin/mount", in: lab.folder
            ).finish(within: 20)
            #expect(mount.status == 0, "\(mount.errorText)")
            let result = try await check(ada, "--listen", "127.0.0.1:0")
            #expect(result.status == 1 && result.errorText.contains("Read-only file system"), "\(result.errorText)")
            #expect(try await ada.run(["start", "--no-discovery", "--listen", "127.0.0.1:0"]).status == 1)
            await disk.unmount()
        }
    }

    @Test func aPlaceToListenThatIsNoAddressIsRefusedByAllAlike() async throws {
        try await Lab.open(nodes: 1) { lab in
            let ada = lab.node("ada")
            try await ada.found("testers")
            let file = "\(lab.folder)/kith.conf"
            let good = "discovery = off\nlisten = 127.0.0.1:0\n"
            try Files.write(Array(good.utf8), to: file)
            try await ada.start(listening: nil, options: ["--config", file])
            let addresses = (1...9).map { "advertise = 192.0.2.\($0):1\n" }.joined()
            for (wrong, place) in [
                ("discovery = off\nlisten = localhost:1\n", "\(file):2: listen: localhost:1"),
                (good + addresses, "\(file):11"),
            ] {
                try Files.write(Array(wrong.utf8), to: file)
                let check = try await ada.run(["config", "--config", file, "--check"])
                #expect(check.status == 1 && check.errorText.contains(place), "\(check.errorText)")
                let start = try await ada.run(["start", "--config", file])
                #expect(start.status == 64 && start.errorText.contains(place), "\(start.errorText)")
                let reload = try await ada.run(["reload"])
                #expect(reload.status == 1 && reload.errorText.contains(place), "\(reload.errorText)")
                #expect(reload.errorText.hasSuffix("the node goes on with what held before\n"), "\(reload.errorText)")
                // The way out names the file that the node was told to read.
                let health = try await ada.reaches("CONFIG_INVALID")
                #expect(health["action"]?.string?.contains("kith config --config \(file) --check") == true, "\(health)")
            }
            let json = try await ada.run(["config", "--config", file, "--check", "--json"])
            #expect(json.status == 1 && json.errorText.isEmpty)
            let told = try JSONValue(parsing: json.output)
            #expect(told["ok"]?.bool == false && told["files"]?[0]?.string == file, "\(told)")
            #expect(told["problems"]?[0]?["place"]?.string == "\(file):11", "\(told)")
            try Files.write(Array(good.utf8), to: file)
            let right = try await ada.json("config", "--check", "--json", file)
            #expect(right["ok"]?.bool == true && right["problems"]?.array?.isEmpty == true, "\(right)")
        }
    }

    @Test func aDirectoryThatOthersMayReadIsClosedOrRefused() async throws {
        try await Lab.open(nodes: 1) { lab in
            func mode(_ path: String) -> mode_t {
                var status = stat()
                return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
            }
            let ada = lab.node("ada")
            mkdir(ada.directory, 0o755)
            chmod(ada.directory, 0o755)
            try Files.write([1], to: ada.directory + "/letter")
            let refused = try await ada.run(["init"])
            #expect(refused.status == 1 && refused.errorText.contains("chmod 700"), "\(refused.errorText)")
            #expect(mode(ada.directory) == 0o755 && Files.names(in: ada.directory) == ["letter"])
            unlink(ada.directory + "/letter")
            let made = try await ada.run(["init"])
            #expect(made.status == 0, "\(made.errorText)")
            #expect(made.errorText.contains("was open to others; it is closed to them now"), "\(made.errorText)")
            #expect(mode(ada.directory) == 0o700 && mode(ada.directory + "/identity.pem") == 0o600)
            let ben = lab.node("ben")
            let fresh = try await ben.run(["init", "--json", "--name", "ben"])
            #expect(fresh.status == 0 && !fresh.errorText.contains("was open"), "\(fresh.errorText)")
            let told = try JSONValue(parsing: fresh.output)
            #expect(told["name"]?.string == "ben" && told["data"]?.string == ben.directory, "\(told)")
            #expect(mode(ben.directory) == 0o700)
        }
    }

    @Test func aFileThatIsNotKithsIsNeverDeleted() async throws {
        try await Lab.open(nodes: 1) { lab in
            let ada = lab.node("ada")
            try await ada.found("testers")
            let empty = try await ada.run(["verify"])
            #expect(empty.status == 0 && empty.errorText.contains("there are no databases in \(ada.directory)"))
            #expect(try await ada.kith("verify", "--json") == #"{"databases":[]}"#)
            let folder = ada.directory + "/databases"
            let foreign = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 1, count: 4_080)
            let text = Array("a letter that somebody kept here\n".utf8)
            try Files.write(foreign, to: folder + "/foreign.sqlite3")
            try Files.write(text, to: folder + "/letter.sqlite3")
            try await ada.start()
            for name in ["foreign", "letter"] {
                let result = try await ada.run(["db", "delete", name, "--yes"])
                #expect(result.status == 1 && result.errorText.contains("move it away yourself"), "\(result.errorText)")
            }
            #expect(
                Files.read(folder + "/foreign.sqlite3") == foreign && Files.read(folder + "/letter.sqlite3") == text)
            // One of its own that is damaged may go.
            try await ada.kith("db", "create", "notes")
            try await ada.stop()
            var bytes = Files.read(folder + "/notes.sqlite3")
            for place in 4_096..<min(bytes.count, 12_000) { bytes[place] = 0xaa }
            try Files.write(bytes, to: folder + "/notes.sqlite3")
            try await ada.start()
            try await ada.kith("db", "delete", "notes", "--yes")
            #expect(access(folder + "/notes.sqlite3", F_OK) != 0)
        }
    }

    @Test func aWordAgainstANodeThatWasNeverMetIsToldForWhatItIs() async throws {
        try await Lab.open(nodes: 1) { lab in
            let ada = lab.node("ada")
            let root = "\(lab.folder)/root.pem"
            try await ada.kith("init", "--root-out", root)
            try await ada.start()
            let unknown = String(repeating: "7a", count: 32)
            let done = try await ada.run(["revoke", unknown, "--yes"])
            #expect(done.status == 0 && done.errorText.contains("unless it is an admin"), "\(done.errorText)")
            #expect(done.errorText.contains("kith revoke \(unknown) --root FILE"), "\(done.errorText)")
            let again = try await ada.run(["revoke", unknown, "--yes", "--json"])
            let told = try JSONValue(parsing: again.output)
            #expect(told["already"]?.bool == true && told["unless_admin"]?.bool == true, "\(told)")
            // The way out works: the root's word counts whatever it is.
            let byRoot = try await ada.run(["revoke", unknown, "--yes", "--root", root])
            #expect(byRoot.status == 0 && !byRoot.errorText.contains("unless"), "\(byRoot.errorText)")
            let member = try await ada.json("members", "--json")["members"]?.array?.first {
                $0["id"]?.string == unknown
            }
            #expect(member?["revoked_by"]?.string == "root", "\(String(describing: member))")
            let last = try await ada.run(["revoke", unknown, "--yes"])
            #expect(last.errorText.contains("already") && !last.errorText.contains("unless"), "\(last.errorText)")
        }
    }
}
