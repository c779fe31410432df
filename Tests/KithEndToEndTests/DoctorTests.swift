import KithDocument
import Testing

/// `kith doctor` beside nodes on the loopback interface: what it says of the node itself and of others on its machine.
@Suite(.timeLimit(.minutes(10))) struct DoctorTests {
    /// Asks the doctor, whatever it finds.
    private func ask(_ node: TestNode, _ options: String...) async throws -> JSONValue {
        let result = try await node.run(["doctor", "--json"] + options)
        try #require(result.status == 0 || result.status == 1, "\(result.errorText)")
        return try JSONValue(parsing: result.output)
    }

    private func check(_ name: String, _ report: JSONValue) -> JSONValue? {
        report["checks"]?.array?.first { $0["check"]?.string == name }
    }

    @Test func itNamesItsOwnAddressAnotherNodeOfTheMachineAndADirectoryThatWasCopied() async throws {
        try await Lab.open(nodes: 2) { lab in
            let file = "\(lab.folder)/machine"
            try Files.write(Array("3f1cbb72a6f64b14a0d6c1b9d5c0e8aa\n".utf8), to: file)
            let ada = lab.node("ada")
            let ben = lab.node("ben", environment: ["KITH_MACHINE_ID_FILE=\(file)"])
            try await ada.found("testers")
            try await ada.start()
            try await ben.join(by: ada)
            try await ben.start(peers: [ada])
            try await ben.kith("wait", "--peers", "1")

            let own = try #require(ben.address)
            let port = try #require(own.split(separator: ":").last)
            var report = try await ask(ben, "--peer", own, "--peer", "localhost:\(port)")
            let addresses = check("addresses", report)
            #expect(addresses?["verdict"] == "warning", "\(report)")
            #expect(addresses?["summary"]?.string?.hasPrefix("\(own), given as a peer's address") == true)
            #expect(addresses?["details"]?.array?.count == 2, "\(report)")
            #expect(check("health", report)?["verdict"] == "ok")
            let peers = check("peers", report)
            #expect(peers?["verdict"] == "ok")
            #expect(peers?["details"]?[0]?.string?.contains("on this machine") == true, "\(report)")
            // It was not dialled with its own identity, which would look like a copy of it.
            #expect(try await ben.status()["health"]?["checks"]?.array?.allSatisfy { $0["level"] == "ok" } == true)

            try await ben.stop()
            try Files.write(Array("9d0d4c33f1a94be0b8e35a7be2b80c51\n".utf8), to: file)
            try await ben.start(peers: [ada])
            report = try await ask(ben)
            #expect(
                report["cause"]?.string?.hasPrefix("this node's directory was used on another machine before") == true,
                "\(report)")
            #expect(report["checks"]?[0]?["check"] == "health")
            #expect(report["trouble"] == true)
        }
    }
}
