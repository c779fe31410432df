import Glibc
import KithDocument
import Testing

/// What somebody gets from a node without being in its group.
@Suite(.timeLimit(.minutes(10))) struct StrangerTests {
    @Test func strangersGetNoByteAndAreClosedAndCounted() async throws {
        try await Lab.open(nodes: 2) { lab in
            let node = try await lab.group(1)[0]
            try await node.kith("db", "create", "secrets")
            try await node.kith("put", "secrets", "one", #"{"secret":"nobody knows"}"#)
            // Of another group: its file holds the key and the certificates that `openssl` wants.
            let foreign = lab.node("mallory")
            try await foreign.kith("init", "--group", "elsewhere", "--name", "mallory")
            let identity = "\(foreign.directory)/identity.pem"
            let selfSigned = try await Self.selfSigned(in: lab.folder)
            let shown: [(what: String, arguments: [String])] = [
                ("no certificate", []),
                ("no certificate, and the protocol's name", ["-alpn", "kith/1"]),
                ("a self-signed one", ["-cert", selfSigned.certificate, "-key", selfSigned.key, "-alpn", "kith/1"]),
                (
                    "one of another group",
                    ["-cert", identity, "-cert_chain", identity, "-key", identity, "-alpn", "kith/1"]
                ),
            ]
            for (index, stranger) in shown.enumerated() {
                let result = try await Self.client(
                    ["-quiet", "-connect", try #require(node.address)] + stranger.arguments, in: lab.folder, within: 40)
                #expect(result.output.isEmpty, "\(stranger.what): \(result.output.count) bytes")
                let strangers = try await eventually(within: 40) {
                    try await node.status()["node"]?["strangers"]?.natural == UInt64(index + 1)
                }
                #expect(strangers, "\(stranger.what) is not counted: \(result.errorText)")
            }
            #expect(try await node.status()["peers"]?.array?.isEmpty == true)
            try await [node].settleEach("secrets")
            #expect(try await node.kith("get", "secrets", "one") == #"{"secret":"nobody knows"}"#)
        }
    }

    @Test func whoSaysNothingIsClosedToo() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = try await lab.group(1)[0]
            let address = try #require(node.address)
            let descriptor = try #require(Loopback.connect(to: address))
            defer { close(descriptor) }
            let bytes: Int? = await Blocking.run {
                var look = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&look, 1, 40_000) == 1 else { return nil }
                var buffer = [UInt8](repeating: 0, count: 4_096)
                return read(descriptor, &buffer, buffer.count)
            }
            #expect(bytes == 0, "silence is answered by \(bytes.map { "\($0) bytes" } ?? "an open connection")")
            let isCounted = try await eventually(within: 40) {
                try await node.status()["node"]?["strangers"]?.natural == 1
            }
            #expect(isCounted)
        }
    }

    @Test func theCertificateShowsNoName() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = lab.node("ada-of-ward-seven")
            try await node.kith("init", "--group", "saint-elsewhere", "--name", node.name)
            try await node.start()
            // An open invite lets strangers get further.
            _ = try await node.kith("invite")
            for name in ["kith/1", "kith-join/1"] {
                let result = try await Self.client(
                    ["-showcerts", "-alpn", name, "-connect", try #require(node.address)], in: lab.folder, within: 40)
                let shown = result.outputText
                #expect(shown.contains("BEGIN CERTIFICATE"), "\(name): \(result.errorText)")
                var certificates = ""
                for (number, certificate) in Self.certificates(in: shown).enumerated() {
                    let path = "\(lab.folder)/shown-\(number).pem"
                    try Files.write(Array(certificate.utf8), to: path)
                    let text = try ChildProgram(
                        ["x509", "-noout", "-text", "-in", path], of: "/usr/bin/openssl", in: lab.folder)
                    certificates += try await text.finish(within: 40).outputText
                }
                #expect(certificates.contains("Subject:"))
                let words = Self.words(in: shown) + Self.words(in: certificates)
                let names = [node.name, "saint-elsewhere", Self.hostName].flatMap(Self.words)
                for word in Set(words).intersection(names) { Issue.record("\(name) shows \(word)") }
            }
        }
    }

    @Test func aCodeThatIsWrongUsedOrExpiredFailsWithItsReason() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let admin = nodes[0]
            let address = try #require(admin.address)
            func join(_ code: String, as name: String) async throws -> ChildProgram.Finished {
                try await lab.node(name).run(["join", code, "--name", name, "--peer", address])
            }
            func expect(_ result: ChildProgram.Finished, _ reason: String) {
                #expect(result.status == 1, "\(result.errorText)")
                #expect(result.output.isEmpty)
                #expect(result.errorText.contains(reason), "\(result.errorText)")
                BadInputTests.expectOneLine(result)
            }
            let short = try await admin.kith("invite", "--valid", "1s")
            let used = try await admin.kith("invite")
            #expect(used.split(separator: "-").allSatisfy { $0.count == 5 })
            #expect(try await join(used, as: "carl").status == 0)
            expect(try await join(used, as: "carla"), "used already")

            var letters = Array(try await admin.kith("invite"))
            letters.swapAt(0, letters[1...].firstIndex { $0 != letters[0] && $0 != "-" }!)
            expect(try await join(String(letters), as: "dan"), "mistyped")
            expect(try await join("ABCDE-FGH", as: "eve"), "characters, not 45")

            // A try before the end would use the code up.
            try await Task.sleep(for: .milliseconds(1_100))
            expect(try await join(short, as: "frank"), "expired")

            // A code that is right in form and of this group, and of another inviter.
            let other = lab.node("gina")
            try await other.kith("init", "--group", "others", "--name", "gina")
            try await other.start()
            let foreign = try await other.kith("invite")
            expect(try await join(foreign, as: "hugo"), "another group")

            // In a group already: what to do, and nothing changes.
            try await nodes[1].stop()
            let again = try await nodes[1].run(["join", try await admin.kith("invite"), "--peer", address])
            expect(again, "kith leave")
        }
    }

    @Test func aWriterCanNeitherInviteNorSetAPolicy() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("notes")
            for arguments in [["invite"], ["policy", "notes", #"{"default":"manual"}"#]] {
                let result = try await nodes[1].run(arguments)
                #expect(result.status == 1 && result.errorText.contains("only an admin"), "\(result.errorText)")
                BadInputTests.expectOneLine(result)
            }
        }
    }

    // MARK: Helpers

    private static func client(_ arguments: [String], in folder: String, within seconds: Double) async throws
        -> ChildProgram.Finished
    {
        let program = try ChildProgram(["s_client"] + arguments, of: "/usr/bin/openssl", in: folder)
        return try await program.finish(within: seconds)
    }

    private static func selfSigned(in folder: String) async throws -> (certificate: String, key: String) {
        let paths = (certificate: "\(folder)/self.pem", key: "\(folder)/self.key")
        let arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=me",
            "-days", "2",
            "-out", paths.certificate, "-keyout", paths.key,
        ]
        let made = try await ChildProgram(arguments, of: "/usr/bin/openssl", in: folder).finish(within: 20)
        try #require(made.status == 0, "\(made.errorText)")
        return paths
    }

    private static func certificates(in text: String) -> [String] {
        let end = "-----END CERTIFICATE-----"
        return text.split(separator: "-----BEGIN CERTIFICATE-----", omittingEmptySubsequences: false).dropFirst().map {
            part in
            let body = part.split(separator: end, maxSplits: 1, omittingEmptySubsequences: false)[0]
            return "-----BEGIN CERTIFICATE-----\(body)\(end)\n"
        }
    }

    /// The words of a text in lower case, but for what PEM encodes.
    private static func words(in text: String) -> [String] {
        var isInside = false
        var words: [String] = []
        for line in text.split(separator: "\n") {
            if line.hasPrefix("-----") { isInside = line.hasPrefix("-----BEGIN") }
            if !isInside { words += line.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init) }
        }
        return words
    }

    private static var hostName: String {
        var buffer = [CChar](repeating: 0, count: 256)
        gethostname(&buffer, buffer.count - 1)
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
