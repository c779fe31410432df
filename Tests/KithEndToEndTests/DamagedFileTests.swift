import Glibc
import KithDocument
import Testing

/// Small files of a node's directory that the disk has damaged: none is thrown away, none lets anybody in, and none but the
/// file of the members stops a start.
@Suite(.timeLimit(.minutes(10))) struct DamagedFileTests {
    private static let garbage: [UInt8] = [0x4b, 0xff, 0x00, 0xfe, 0x0a, 0x80, 0x0a] + Array("no such thing\n".utf8)

    /// Changes one byte of a file.
    private func flip(_ path: String, at place: Int) throws {
        var bytes = Files.read(path)
        try #require(bytes.indices.contains(place), "\(path) has \(bytes.count) bytes")
        bytes[place] ^= 0x5a
        try Files.write(bytes, to: path)
    }

    @Test func aPipeInThePlaceOfAFileHoldsUpNobody() async throws {
        try await Lab.open(nodes: 1) { lab in
            let ada = lab.node("ada")
            try await ada.found("testers")
            mkdir("\(ada.directory)/databases", 0o700)
            for name in ["peers", "membership", "databases/notes.sqlite3"] {
                let path = "\(ada.directory)/\(name)"
                rename(path, path + ".aside")
                try #require(mkfifo(path, 0o600) == 0)
                let check = try await ada.run(["start", "--check", "--listen", "127.0.0.1:0"], within: 60)
                #expect(!(check.outputText + check.errorText).isEmpty)
                unlink(path)
                rename(path + ".aside", path)
            }
        }
    }

    @Test func damagedInvitesAreVoidAndTheNodeStarts() async throws {
        try await Lab.open(nodes: 2) { lab in
            let (ada, ben) = (lab.node("ada"), lab.node("ben"))
            try await ada.found("testers")
            try await ada.start()
            let code = try await ada.kith("invite", "--role", "admin")
            try await ada.stop()
            // The role and the times stand behind the identity of the code: none of it may be read as something else.
            let path = ada.directory + "/invites"
            let whole = Files.read(path)
            for place in [4, 15, 30, 47, 48, 60, whole.count - 1] {
                try Files.write(whole, to: path)
                try flip(path, at: place)
                let damaged = Files.read(path)
                let check = try await ada.run(["start", "--check", "--listen", "127.0.0.1:0"])
                #expect(check.status == 0 && check.errorText.contains("\(path) is damaged"), "\(check.errorText)")
                #expect(Files.read(path) == damaged, "a check changes nothing")
            }
            try await ada.start()
            let damaged = try await ada.reaches("FILE_DAMAGED")
            #expect(damaged["summary"]?.string?.contains("the file invites") == true, "\(damaged)")
            #expect(!Files.read(path + ".damaged").isEmpty)
            let late = try await ben.run(["join", code, "--peer", try #require(ada.address)])
            #expect(late.status == 1, "\(late.outputText)")
            try await ben.join(by: ada)
            // It is told until somebody has looked, over a restart too.
            try await ada.stop()
            try await ada.start()
            try await ada.reaches("FILE_DAMAGED")
            unlink(path + ".damaged")
            try await ada.leaves("FILE_DAMAGED")
        }
    }

    @Test(arguments: ["paused", "muted", "damage", "dropped", "peers", "listen", "instances"])
    func aDamagedTextFileIsSetAsideAndTheRestOfItHolds(name: String) async throws {
        try await Lab.open(nodes: 1) { lab in
            let ada = lab.node("ada")
            try await ada.found("testers")
            let path = "\(ada.directory)/\(name)"
            let good = [
                "paused": "all forever\n", "muted": "CONFLICTS 99999999999999 warning\n",
                "damage": "notes 2 bad pages\n",
                "dropped": "old\n", "peers": "kith addresses 1\n", "listen": "127.0.0.1:0\n", "instances": "1f\n",
            ]
            let bytes = Array((good[name] ?? "").utf8) + Self.garbage
            try Files.write(bytes, to: path)
            if name == "listen" {
                try await ada.start(listening: nil)
                #expect(ada.address?.hasPrefix("127.0.0.1:") == true, "what could be read holds")
            } else {
                try await ada.start()
            }
            let check = try await ada.reaches("FILE_DAMAGED")
            #expect(check["summary"]?.string?.contains("the file \(name) of") == true, "\(check)")
            #expect(Files.read(path + ".damaged") == bytes)
            #expect(!Files.read(path).contains(0xff))
            if name == "paused" { try await ada.reaches("PAUSED") }
            if name == "damage" { try await ada.reaches("DATABASE_DAMAGED", level: "critical") }
            try await ada.stop()
            unlink(path + ".damaged")
            try await ada.start()
            try await ada.leaves("FILE_DAMAGED")
        }
    }

    @Test func pausesThatMayBeLostHoldWithAll() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let (ada, ben) = (nodes[0], nodes[1])
            try await ben.stop()
            try Files.write(Self.garbage, to: ben.directory + "/paused")
            try await ben.start(peers: nodes)
            try await ben.reaches("PAUSED")
            #expect(try await ben.peer(ada)["state"]?.string == "paused")
            try await ben.kith("resume")
            try await ben.kith("wait", "--peers", "1")
        }
    }

    @Test func aDamagedKeyOfTheRootIsToldBeforeItIsNeeded() async throws {
        try await Lab.open(nodes: 1) { lab in
            let ada = lab.node("ada")
            try await ada.found("testers")
            let path = ada.directory + "/root.pem"
            let whole = Files.read(path)
            try flip(path, at: whole.count / 3)
            let check = try await ada.run(["start", "--check", "--listen", "127.0.0.1:0"])
            #expect(check.status == 0 && check.errorText.contains("root key could not be used"), "\(check.errorText)")
            try await ada.start()
            let told = try await ada.reaches("FILE_DAMAGED")
            #expect(told["summary"]?.string?.contains(path) == true, "\(told)")
            try await ada.stop()
            try Files.write(whole, to: path)
            try await ada.start()
            try await ada.leaves("FILE_DAMAGED")
            try await ada.kith("invite", "--role", "admin")
        }
    }

    @Test func aDamagedRecordOfTheMachineIsNoPass() async throws {
        try await Lab.open(nodes: 1) { lab in
            let file = "\(lab.folder)/machine-id"
            try Files.write(Array("3f1cbb72a6f64b14a0d6c1b9d5c0e8aa\n".utf8), to: file)
            let ada = lab.node("ada", environment: ["KITH_MACHINE_ID_FILE=\(file)"])
            try await ada.found("testers")
            for damage in [[], Self.garbage] {
                try Files.write(damage, to: ada.directory + "/machine")
                try await ada.start()
                try await ada.reaches("MACHINE_CHANGED", level: "critical")
                try await ada.stop()
            }
        }
    }

    @Test func aFileThatSaysWhichMachineItIsAndCanNotBeReadIsAnError() async throws {
        try await Lab.open(nodes: 1) { lab in
            let file = "\(lab.folder)/machine-id"
            let ada = lab.node("ada", environment: ["KITH_MACHINE_ID_FILE=\(file)"])
            for (content, reason) in [
                (nil, "there is no such file"), (Array("not hex\n".utf8), "32 hex digits"), ([], "32 hex digits"),
                (Array(repeating: UInt8(ascii: "0"), count: 32), "not all 0"),
            ] as [([UInt8]?, String)] {
                unlink(file)
                if let content { try Files.write(content, to: file) }
                let made = try await ada.run(["init"])
                #expect(made.status == 1 && made.errorText.contains(reason), "\(made.errorText)")
                #expect(made.errorText.contains("KITH_MACHINE_ID_FILE names \(file)"), "\(made.errorText)")
                #expect(access(ada.directory + "/identity.pem", F_OK) != 0, "nothing was made")
            }
            try Files.write(Array("3f1cbb72a6f64b14a0d6c1b9d5c0e8aa\n".utf8), to: file)
            try await ada.found("testers")
            try Files.write(Self.garbage, to: file)
            for arguments in [["start"], ["start", "--check"], ["identity", "show"], ["identity", "keep"]] {
                let result = try await ada.run(arguments)
                #expect(result.status == 1 && result.errorText.contains("KITH_MACHINE_ID_FILE"), "\(arguments)")
            }
        }
    }
}
