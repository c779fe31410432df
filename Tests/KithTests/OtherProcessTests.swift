import Foundation
import Kith
import KithTestSupport
import KithTesting
import Testing

/// A node in a program, seen by other processes.
@Suite(.timeLimit(.minutes(5))) struct OtherProcessTests {
    private let directory = TemporaryDirectory()
    private var folder: URL { URL(fileURLWithPath: directory.path + "/kith") }

    /// Runs the command that is built beside the tests, to its end.
    private func kith(_ arguments: [String]) async throws -> ProgramResult {
        try await Program.run([Program.built("kith")] + arguments)
    }

    private func kith(_ arguments: String...) async throws -> ProgramResult { try await kith(arguments) }

    @Test func `the command works on the folder of a node in a program`() async throws {
        try LocalNode.makeGroup("home", in: folder, as: "den")
        let node = try LocalNode(in: folder, options: .loopback)
        try await node.start()
        let notes = try await node.database("notes")
        try await notes.save(Document(id: "a", ["text": "hi"]))
        let status = try await kith("status", "--data", folder.path)
        #expect(status.status == 0 && status.output.contains("den") && status.output.contains("notes"), "\(status)")
        let json = try await kith("status", "--json", "--data", folder.path)
        #expect(json.output.contains("\"pid\":\(ProcessInfo.processInfo.processIdentifier),"), "\(json.output)")
        let rows = try await kith("query", "notes", "SELECT RAW text FROM _", "--data", folder.path)
        #expect(rows.output == "\"hi\"\n", "\(rows)")
        #expect(try await kith("put", "notes", "b", "{}", "--data", folder.path).status == 0)
        #expect(try await notes.document("b") != nil)
        #expect(try await node.supportReport().contains("== status\n"))

        // It stops as the command says, and the program sees it.
        let states = Task { await node.statusUpdates().reduce(into: []) { $0.append($1.state) } }
        let stopped = try await kith("stop", "--data", folder.path)
        #expect(stopped.status == 0, "\(stopped)")
        #expect(await states.value.last == .stopped)
        await #expect(throws: KithError.self) { try await node.supportReport() }
    }

    @Test func `another process is told who has the folder`() async throws {
        let process = "\(ProcessInfo.processInfo.processIdentifier)"
        try LocalNode.makeGroup("home", in: folder, as: "den")
        let node = try LocalNode(in: folder, options: .loopback)
        try await node.start()
        let second = try await kith("start", "--data", folder.path, "--no-discovery", "--listen", "127.0.0.1:0")
        #expect(second.status == 1 && second.errors.contains(process), "\(second)")
        await node.stop()

        // A database that a program has without a node: nobody works on its file beside it, and all are told who has it.
        let alone = try Database("notes", in: folder)
        for command in [["verify", "notes"], ["query", "notes", "SELECT * FROM _"], ["index", "list", "notes"]] {
            let refused = try await kith(command + ["--data", folder.path])
            #expect(refused.status == 1 && refused.errors.contains(process), "\(command): \(refused)")
        }
        alone.close()
        #expect(try await kith("verify", "notes", "--data", folder.path).status == 0)
    }
}
