import Glibc
import KithDocument
import KithHTTPCore
import KithTestSupport
import Testing

/// How much a node that lives on writes to its log while everything around it goes wrong again and again.
@Suite(.timeLimit(.minutes(90))) struct FaultLogTests {
    private static let isLong = getenv("KITH_LONG_TESTS") != nil
    /// For so long the faults go on.
    private static let seconds = isLong ? 3_600.0 : 40
    /// After so many rounds each kind of event was written as often as it is before it is counted only.
    private static let roundsWritten = 6
    private static let leastRounds = 8
    /// So many times in an hour the number of a kind is told, where a round writes about one line of it: after one, three,
    /// seven and fifteen minutes, and each ten from then on.
    private static let numbersAnHour = 9

    /// The node that lives on, two that do not, and what can be done to them.
    private struct Scene {
        let ada: TestNode
        let ben: TestNode
        let cleo: TestNode
        /// Who never gets in.
        let late: TestNode
        /// By which cleo reaches ada.
        let way: Forwarder
        /// Ada's, where one can be had.
        let disk: SmallDisk?
        /// An invite that was used.
        let code: String

        var nodes: [TestNode] { [ada, ben, cleo] }
    }

    @Test func anHourOfFaultsOfAllKindsWritesUnderAMegabyte() async throws {
        try await Lab.open(nodes: 3) { lab in
            let ada = lab.node("ada")
            let disk =
                SmallDisk.skipReason == nil
                ? try await SmallDisk.mount(at: ada.directory, mebibytes: 48, folder: lab.folder) : nil
            let result: Result<Void, any Error>
            do { result = .success(try await measure(try await scene(lab, ada, disk))) } catch {
                result = .failure(error)
            }
            ada.kill()
            await ada.ended()
            await disk?.unmount()
            try result.get()
        }
    }

    private func scene(_ lab: Lab, _ ada: TestNode, _ disk: SmallDisk?) async throws -> Scene {
        try await ada.found("testers")
        try await ada.start()
        let way = try Forwarder(to: try #require(ada.address))
        let (ben, cleo) = (lab.node("ben"), lab.node("cleo"))
        try await ben.join(by: ada)
        try await ben.start(peers: [ada])
        let code = try await ada.kith("invite")
        try await cleo.kith("join", code, "--name", "cleo", "--peer", way.address)
        let scene = Scene(ada: ada, ben: ben, cleo: cleo, late: lab.node("late"), way: way, disk: disk, code: code)
        try await startCleo(scene)
        try await scene.nodes.makeDatabase("notes")
        try await scene.nodes.settle("notes")
        return scene
    }

    private func startCleo(_ scene: Scene) async throws {
        try await scene.cleo.start(peers: [scene.ben], options: ["--peer", scene.way.address])
    }

    private func measure(_ scene: Scene) async throws {
        let watch = Stopwatch()
        let before = scene.ada.log.utf8.count
        var marks: [(seconds: Double, bytes: Int)] = []
        while watch.seconds < Self.seconds || marks.count < Self.leastRounds {
            try await round(marks.count + 1, scene)
            marks.append((watch.seconds, scene.ada.log.utf8.count - before))
        }
        try await scene.nodes.settle("notes", within: 120)

        let (first, last) = (marks[Self.roundsWritten - 1], marks[marks.count - 1])
        let rate = Double(last.bytes - first.bytes) / (last.seconds - first.seconds)
        // What was told of anew each time goes on so; of the rest the numbers are told.
        let hour = Self.isLong ? last.bytes : Int(rate * 3_600) + (1 + Self.numbersAnHour) * first.bytes
        print(
            "\(marks.count) rounds of faults in \(Int(last.seconds)) s: \(last.bytes) bytes of log, \(first.bytes) of them "
                + "in the first \(Self.roundsWritten) rounds; an hour: \(hour)")
        #expect(hour < 1_000_000, "\(scene.ada.log.suffix(8_000))")
        #expect(!scene.ada.log.contains("lines were left out"), "it is the rate alone that bounds it")
    }

    /// One fault of each kind.
    private func round(_ number: Int, _ scene: Scene) async throws {
        let (ada, ben, cleo) = (scene.ada, scene.ben, scene.cleo)
        let stopped = Stopwatch()
        _ = kill(try #require(cleo.processID), SIGSTOP)
        try await disturb(number, scene)
        _ = try await eventually(within: 10) { stopped.seconds > 2 }
        _ = kill(try #require(cleo.processID), SIGCONT)

        ben.kill()
        await ben.ended()
        try await ada.kith("put", "notes", "without-ben-\(number % 20)", #"{"round":\#(number)}"#)
        try await ben.start(peers: [ada])
        try await ben.kith("db", "delete", "notes", "--yes")
        try await ben.kith("db", "create", "notes")

        scene.way.cut()
        try await cleo.kith("put", "notes", "beyond-\(number % 20)", #"{"round":\#(number)}"#)
        try await ada.kith("pause", "ben")
        scene.way.mend()
        try await ada.kith("resume", "ben")

        // A day ahead, and right again in the next round.
        try await cleo.stop()
        cleo.setEnvironment(number.isMultiple(of: 2) ? [] : ClockTests.Clock.aDayAhead.environment)
        try await startCleo(scene)
        try await ada.kith("wait", "--peers", "2", "--timeout", "60s", within: 90)
    }

    /// What comes from outside, and a full disk.
    private func disturb(_ number: Int, _ scene: Scene) async throws {
        let ada = scene.ada
        let address = try #require(ada.address)
        let strangers = (0..<10).compactMap { _ in PlainSocket(to: address) }
        for (index, stranger) in strangers.enumerated() where index > 3 {
            _ = stranger.send(Array("GET / HTTP/1.1\r\nHost: kith\r\n\r\n".utf8))
        }
        let join = try await scene.late.run(["join", scene.code, "--name", "late", "--peer", address])
        #expect(join.status == 1, "\(join.errorText)")
        for arguments in [["put", "notes", "x", "{"], ["get", "none", "x"], ["pause", "nobody"]] {
            #expect(try await ada.run(arguments).status != 0, "\(arguments)")
        }
        let socket = ada.socket
        await onThread {
            for target in ["/v1/nothing", "/v1/databases/Notes/documents/x", "/%zz"] {
                _ = try? HTTPClient(.unixSocket(socket)).send(HTTPClientRequest(method: "POST", target: target))
            }
        }
        guard let disk = scene.disk else { return }
        try disk.fill()
        let large = Array("{\"x\":\"\(String(repeating: "x", count: 1 << 20))\"}".utf8)
        #expect(try await ada.run(["put", "notes", "large", "-"], input: large).status == 1)
        disk.free()
        let isFree = try await eventually(within: 60) {
            try await ada.run(["put", "notes", "after", #"{"round":\#(number)}"#]).status == 0
        }
        #expect(isFree)
        withExtendedLifetime(strangers) {}
    }
}
