import Glibc
import KithDocument
import KithHTTPCore
import KithTestSupport
import Synchronization
import Testing

/// A node that is killed while it writes, again and again.
@Suite(.timeLimit(.minutes(60))) struct KilledWriterTests {
    private static let rounds = getenv("KITH_LONG_TESTS") == nil ? 6 : 500

    /// What was acknowledged, by id.
    private final class Account: Sendable {
        let written = Mutex<[String: Int]>([:])
    }

    /// Puts documents until the node does not answer any more.
    private static func write(_ writer: Int, _ round: Int, to node: TestNode, _ account: Account) {
        let client = HTTPClient(.unixSocket(node.socket))
        var number = 0
        while true {
            let id = "w\(writer)-\(number % 40)"
            let value = round * 1_000_000 + number
            let body = Array("{\"v\":\(value),\"x\":\"\(String(repeating: "x", count: number % 700))\"}".utf8)
            let request = HTTPClientRequest(
                method: "PUT", target: "/v1/databases/notes/documents/\(id)", body: .bytes(body))
            guard let answer = try? client.send(request), answer.head.status < 300 else { return }
            account.written.withLock { $0[id] = value }
            node.ledger.wrote([id], in: "notes", by: node.name)
            number += 1
        }
    }

    @Test func everyAcknowledgedWriteIsThereAfterwards() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = try await lab.group(1)[0]
            try await node.kith("db", "create", "notes")
            let account = Account()
            var random = SystemRandomNumberGenerator()
            for round in 1...Self.rounds {
                let moment = Int.random(in: 20...400, using: &random)
                await withTaskGroup(of: Void.self) { group in
                    for writer in 0..<3 {
                        group.addTask { await Blocking.run { Self.write(writer, round, to: node, account) } }
                    }
                    group.addTask {
                        try? await Task.sleep(for: .milliseconds(moment))
                        node.kill()
                    }
                }
                await node.ended()
                try await node.start()
                let status = try await node.status()
                #expect(status["health"]?["level"]?.string == "ok", "round \(round): \(status)")
                try await [node].settleEach("notes")
                let there = try await Self.documents(of: node)
                for (id, value) in account.written.withLock({ $0 }) {
                    // A write that was not acknowledged may be there, and is a later one.
                    let found = there[id] ?? -1
                    #expect(
                        found >= value, "round \(round), killed after \(moment) ms: \(id) is \(found), not \(value)")
                }
            }
            #expect(account.written.withLock { $0.count } > 10)
        }
    }

    private static func documents(of node: TestNode) async throws -> [String: Int] {
        var documents: [String: Int] = [:]
        for line in try await node.lines("export", "notes") {
            if let id = line["_id"]?.string, let value = line["v"]?.integer { documents[id] = Int(value) }
        }
        return documents
    }
}
