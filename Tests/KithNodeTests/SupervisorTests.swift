import Dispatch
import Glibc
import KithStore
import KithSystem
import KithTestSupport
import Testing

@testable import KithNode

/// What a service manager hears of a node.
@Suite(.timeLimit(.minutes(2))) struct SupervisorTests {
    private let folder = TemporaryDirectory()

    private func notifier(_ name: String, watchdogMicroseconds: Int? = nil, pid: String? = nil) -> ServiceNotifier {
        ServiceNotifier { variable in
            switch variable {
            case "NOTIFY_SOCKET": name
            case "WATCHDOG_USEC": watchdogMicroseconds.map(String.init)
            case "WATCHDOG_PID": pid
            default: nil
            }
        }
    }

    private func makeNode() throws -> Node {
        let directory = try NodeDirectory(option: folder.path + "/node")
        _ = try NodeSetup.initialise(directory, groupName: "g", nodeName: "ada", rootFile: nil)
        var configuration = NodeConfiguration(directory: directory, log: Log(level: .error))
        configuration.listen = "127.0.0.1:0"
        configuration.usesDiscovery = false
        return try Node(configuration)
    }

    private func stop(_ node: Node) async {
        await withCheckedContinuation { continuation in node.stop { continuation.resume() } }
    }

    @Test func messagesGoToAPathAndToAnAbstractName() async throws {
        for name in ["\(folder.path)/notify", "@kith-test-\(getpid())-\(folder.path.suffix(6))"] {
            let socket = NotifySocket(name)
            let notifier = notifier(name)
            #expect(notifier.isHeard && notifier.watchdogMilliseconds == nil)
            notifier.send("READY=1", "STATUS=well")
            #expect(await socket.hears("READY=1"))
            #expect(socket.messages == ["READY=1\nSTATUS=well"])
        }
    }

    @Test(arguments: ["", "relative", "@", "vsock:2:1", "/" + String(repeating: "n", count: 200)])
    func otherNamesAreNobody(name: String) {
        let notifier = notifier(name, watchdogMicroseconds: 1_000_000)
        #expect(!notifier.isHeard && notifier.watchdogMilliseconds == nil)
        notifier.send("READY=1")
    }

    @Test func aManagerThatHasGoneIsNoMatter() {
        let notifier = notifier("\(folder.path)/nobody")
        notifier.send("READY=1")
        #expect(notifier.isHeard)
    }

    @Test func theWatchdogIsOfThisProcessAlone() {
        #expect(notifier("/n", watchdogMicroseconds: 60_000_000).watchdogMilliseconds == 60_000)
        #expect(notifier("/n", watchdogMicroseconds: 5_000_000, pid: "\(getpid())").watchdogMilliseconds == 5_000)
        #expect(notifier("/n", watchdogMicroseconds: 5_000_000, pid: "1").watchdogMilliseconds == nil)
        #expect(notifier("/n", watchdogMicroseconds: 0).watchdogMilliseconds == nil)
    }

    @Test func theWatchdogFallsSilentWhileTheNodesQueueOrAStoreHangs() async throws {
        let socket = NotifySocket("\(folder.path)/notify")
        let node = try makeNode()
        let supervisor = Supervisor(notifier(socket.name, watchdogMicroseconds: 60_000), statusMilliseconds: 50)
        node.supervisor = supervisor
        try node.start()
        let (database, _) = try node.catalog.create(try DatabaseName("notes"))
        supervisor.ready(node)
        #expect(await socket.hears("READY=1"))
        #expect(await socket.hears("WATCHDOG=1", times: 4))

        /// Whether, while something hangs, at most those come that were under way.
        func fallsSilent(_ gate: DispatchSemaphore, _ hang: () -> Int) async -> Bool {
            let held = hang()
            var last = -1
            // Ten periods without one.
            let isSilent = await eventually(within: 20) {
                let before = socket.count(of: "WATCHDOG=1")
                try? await Task.sleep(for: .milliseconds(600))
                last = socket.count(of: "WATCHDOG=1")
                return last == before
            }
            for _ in 0..<held { gate.signal() }
            return await socket.hears("WATCHDOG=1", times: last + 3) && isSilent
        }
        let gate = DispatchSemaphore(value: 0)
        let queueFell = await fallsSilent(gate) {
            node.queue.async { gate.wait() }
            return 1
        }
        #expect(queueFell, "it was heard of while the node's queue hung")
        let storeFell = await fallsSilent(gate) {
            for _ in 0..<NodeLimits.readersPerDatabase {
                database.read { _ throws(StoreError) in
                    _ = gate.wait(timeout: .now() + 60)
                } completion: { _ in
                }
            }
            return NodeLimits.readersPerDatabase
        }
        #expect(storeFell, "it was heard of while the store hung")
        await stop(node)
        #expect(socket.messages.last == "STOPPING=1\nSTATUS=stopping")
    }

    @Test func theStatusIsToldWhenItChanges() async throws {
        let socket = NotifySocket("\(folder.path)/notify")
        let node = try makeNode()
        let supervisor = Supervisor(notifier(socket.name), statusMilliseconds: 20)
        node.supervisor = supervisor
        try node.start()
        supervisor.ready(node)
        #expect(await socket.hears("READY=1"))
        let first = try #require(socket.messages.first)
        #expect(first.hasPrefix("READY=1\nSTATUS=") && first.utf8.count < 300)
        _ = try await NodeService(node).pause(peer: nil, milliseconds: nil)
        #expect(await eventually(within: 20) { socket.messages.last?.contains("PAUSED") == true })
        let count = socket.messages.count
        await stop(node)
        // Only what changes is told.
        #expect(socket.messages.count == count + 1)
        #expect(socket.count(of: "WATCHDOG=1") == 0)
    }

    @Test func whileANodeOpensTheManagerIsAskedForPatience() async {
        let socket = NotifySocket("\(folder.path)/notify")
        let supervisor = Supervisor(notifier(socket.name), openingStepMilliseconds: 20)
        supervisor.open()
        #expect(await socket.hears("EXTEND_TIMEOUT_USEC=60000", times: 2))
        supervisor.stopping()
        let count = socket.messages.count
        #expect(socket.messages.last?.hasPrefix("STOPPING=1") == true)
        supervisor.stopping()
        #expect(socket.messages.count == count)
    }

    @Test func aReloadIsToldWithItsTime() async throws {
        let socket = NotifySocket("\(folder.path)/notify")
        let supervisor = Supervisor(notifier(socket.name))
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        supervisor.reloading()
        supervisor.reloaded()
        #expect(await socket.hears("READY=1"))
        let lines = socket.messages[0].split(separator: "\n")
        #expect(lines.first == "RELOADING=1" && socket.messages[1] == "READY=1")
        let told = try #require(lines.last?.split(separator: "=").last.flatMap { Int64($0) })
        #expect(lines.last?.hasPrefix("MONOTONIC_USEC=") == true)
        #expect(told >= Int64(time.tv_sec) * 1_000_000 && told < (Int64(time.tv_sec) + 60) * 1_000_000)
    }
}
