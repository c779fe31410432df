import Glibc
import KithDocument
import KithTestSupport
import Testing

/// Nodes under the pressure of connections that nobody needs.
@Suite(.timeLimit(.minutes(10))) struct PressedTests {
    @Test func amongThreeHundredIdleStrangersAGoodPeerJoinsAtOnce() async throws {
        try await Lab.open(nodes: 2) { lab in
            let node = try await lab.group(1)[0]
            let address = try #require(node.address)
            let pid = try #require(node.processID)
            let before = ProcessFacts.descriptors(pid)
            try await node.kith("db", "create", "notes")
            try await node.kith("put", "notes", "before", "{}")
            let strangers = (0..<300).compactMap { _ in PlainSocket(to: address) }
            #expect(strangers.count == 300)
            // From the same address as the good peer, which is the worst case: its places are all taken.
            let code = try await node.kith("invite")
            let good = lab.node("good")
            let watch = Stopwatch()
            try await good.kith("join", code, "--name", "good", "--peer", address)
            try await good.start(peers: [node])
            try await good.kith("wait", "--peers", "1", "--timeout", "50s")
            print("among 300 idle strangers a peer joined in \(watch.seconds) s")
            #expect(watch.seconds < 40, "2 s on an idle machine")
            let during = ProcessFacts.descriptors(pid)
            #expect(during < before + 100, "\(before) descriptors before, \(during) now")
            let isClosed = try await eventually(within: 60) { strangers.allSatisfy(\.isClosed) }
            #expect(isClosed, "\(strangers.count { !$0.isClosed }) strangers are still there")
            try await [node, good].writeEach("among-strangers", in: "notes")
            try await [node, good].settle("notes")
        }
    }

    @Test func aStrangerThatSendsAByteASecondIsClosedLikeASilentOne() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = try await lab.group(1)[0]
            let address = try #require(node.address)
            let slow = try #require(PlainSocket(to: address))
            // The beginning of a hello of TLS that would be long.
            let hello: [UInt8] = [0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3] + [UInt8](repeating: 7, count: 500)
            let watch = Stopwatch()
            var sent = 0
            // After 5 s on an idle machine; the hello would take minutes.
            let isClosed = try await eventually(within: 60) {
                if Double(sent) < watch.seconds {
                    _ = slow.send([hello[min(sent, hello.count - 1)]])
                    sent += 1
                }
                return slow.isClosed
            }
            #expect(isClosed)
        }
    }

    @Test func outOfDescriptorsANodeGoesOnSaysSoAndRecovers() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("notes")
            let address = try #require(nodes[0].address)
            let pid = try #require(nodes[0].processID)
            let taken = ProcessFacts.descriptors(pid)
            // A few are left: strangers may take none of them, for each limit keeps a quarter back.
            try await ProcessFacts.setDescriptorLimit(pid, taken + 6, in: lab.folder)
            let strangers = (0..<40).compactMap { _ in PlainSocket(to: address) }
            let processor = ProcessFacts.processorSeconds(pid)
            let watch = Stopwatch()
            try await nodes[0].kith("put", "notes", "meanwhile", #"{"descriptors":"few"}"#)
            let isThere = try await eventually(within: 30) {
                try await nodes[1].run(["get", "notes", "meanwhile"]).status == 0
            }
            #expect(isThere, "the link that was there goes on")
            let checks = try await nodes[0].status()["health"]?["checks"]?.array ?? []
            #expect(checks.contains { $0["code"] == "DESCRIPTORS_LOW" }, "\(checks)")
            let isQuiet = try await eventually(within: 10) { watch.seconds > 3 }
            let used = ProcessFacts.processorSeconds(pid) - processor
            #expect(isQuiet && used < 0.5 * watch.seconds + 1, "it spins: \(used) s of \(watch.seconds) s")
            withExtendedLifetime(strangers) {}

            // None at all: not even the commands can talk to it, until there are some.
            try await ProcessFacts.setDescriptorLimit(pid, 3, in: lab.folder)
            let spinning = ProcessFacts.processorSeconds(pid)
            let none = Stopwatch()
            let waiting = (0..<5).compactMap { _ in PlainSocket(to: address) }
            // A command waits too, and nothing asks for it again and again.
            let client = try nodes[0].program(["status", "--json"])
            _ = try await eventually(within: 10) { none.seconds > 3 }
            let spun = ProcessFacts.processorSeconds(pid) - spinning
            #expect(spun < 0.5 * none.seconds + 1, "it spins: \(spun) s of \(none.seconds) s")
            try await ProcessFacts.setDescriptorLimit(pid, 1_024, in: lab.folder)
            let answer = try await client.finish(within: 30)
            #expect(answer.status == 0, "\(answer.errorText)")
            withExtendedLifetime(waiting) {}
            try await nodes[1].stop()
            try await nodes[1].start(peers: nodes)
            try await nodes.settle("notes")
        }
    }

    @Test func aNodeRaisesItsLimitOfDescriptors() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = try await lab.group(1)[0]
            let pid = try #require(node.processID)
            let limits = String(decoding: Files.read("/proc/\(pid)/limits"), as: UTF8.self)
            let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max open files") })
            let numbers = line.split(separator: " ").compactMap { Int($0) }
            try #require(numbers.count == 2, "\(line)")
            #expect(numbers[0] == min(numbers[1], 65_536))
        }
    }
}
