import Glibc
import KithDocument
import KithHTTPCore
import Synchronization

/// Asks nodes for their status all the time and keeps what they said of each other: for every test that hurts nodes.
///
/// `status --json` may never say `in_sync` of a pair whose digests differ for longer than a second, whatever happens. A test
/// makes one of these before it begins, hurts its nodes, and at the end expects that nobody lied:
///
///     let truth = TruthPoller([("alpha", "/path/of/kith.sock"), ("beta", ...)])
///     ... pull cables, stop processes, write ...
///     let said = truth.end()
///     #expect(said.lies.isEmpty, "\(said)")
///     let after = said.seconds(from: cutAt, until: "alpha", says: "unknown", of: "beta")
///
/// Each node is asked about ten times a second by a thread of its own, which waits as long as the node does: what a
/// stopped or dead node said last is taken for what it still has. The digests of two nodes are not read in the same moment, so
/// a difference counts as a lie only when the digest that the speaker had was not the other's at any time within the second
/// before, and the speaker's digest stayed as it was meanwhile: tests write less often than once a second to each node
/// while they want to be judged.
package final class TruthPoller: Sendable {
    /// What one node said at one time.
    package struct Sample: Sendable {
        /// Seconds on the poller's clock: before it was asked, and when it had answered.
        package let asked: Double
        package let answered: Double
        /// By database.
        package let digests: [String: String]
        /// By the peer's name.
        package let states: [String: String]
        package let connected: Set<String>
        /// The codes of its health.
        package let checks: [String]
    }

    /// A pair that was called in sync while it was not.
    package struct Lie: Sendable, CustomStringConvertible {
        package let speaker: String
        package let of: String
        package let database: String
        package let from: Double
        package let seconds: Double
        package var description: String {
            "\(speaker) called \(of) in sync in \(database) for \(seconds) s, from \(from) s on, and the digests differed"
        }
    }

    /// All that was said.
    package struct Record: Sendable, CustomStringConvertible {
        package let lies: [Lie]
        /// By node, in the order of time.
        package let samples: [String: [Sample]]
        package let timeline: [String]

        package var description: String { (lies.map(\.description) + timeline).joined(separator: "\n") }

        /// How long after a moment a node first called a peer by a state; nil when it never did.
        package func seconds(from moment: Double, until speaker: String, says state: String, of peer: String) -> Double?
        {
            samples[speaker]?.first { $0.asked >= moment && $0.states[peer] == state }.map { $0.answered - moment }
        }
    }

    private struct State {
        var samples: [String: [Sample]] = [:]
        var isOver = false
        var running = 0
    }

    private let names: [String]
    private let state = Mutex(State())
    private let watch = Stopwatch()

    /// Begins to ask.
    /// - Parameter nodes: their names, and the paths of their control sockets, which need not be there yet.
    package init(_ nodes: [(name: String, socket: String)]) {
        names = nodes.map(\.name)
        for node in nodes { begin(node.name, node.socket) }
    }

    /// Seconds since it was made.
    package var now: Double { watch.seconds }

    private func begin(_ name: String, _ socket: String) {
        state.withLock { $0.running += 1 }
        Job.start {
            while self.state.withLock({ !$0.isOver }) {
                let asked = self.now
                if let status = Self.status(socket) {
                    let sample = Self.sample(status, asked: asked, answered: self.now)
                    self.state.withLock { state in
                        if !state.isOver { state.samples[name, default: []].append(sample) }
                    }
                }
                usleep(100_000)
            }
            self.state.withLock { $0.running -= 1 }
        }
    }

    private static func status(_ socket: String) -> JSONValue? {
        let request = HTTPClientRequest(method: "GET", target: "/v1/status")
        guard let answer = try? HTTPClient(.unixSocket(socket)).send(request), answer.head.status == 200 else {
            return nil
        }
        return try? JSONValue(parsing: answer.body)
    }

    private static func sample(_ status: JSONValue, asked: Double, answered: Double) -> Sample {
        var digests: [String: String] = [:]
        for database in status["databases"]?.array ?? [] {
            guard let name = database["name"]?.string, let digest = database["digest"]?.string else { continue }
            digests[name] = digest
        }
        var states: [String: String] = [:]
        var connected: Set<String> = []
        for peer in status["peers"]?.array ?? [] {
            guard let name = peer["name"]?.string else { continue }
            states[name] = peer["state"]?.string
            if peer["connected"]?.bool == true { connected.insert(name) }
        }
        let checks = status["health"]?["checks"]?.array?.compactMap { $0["code"]?.string } ?? []
        return Sample(
            asked: asked, answered: answered, digests: digests, states: states, connected: connected, checks: checks)
    }

    /// What was said so far.
    package var record: Record {
        let samples = state.withLock { $0.samples }
        var lies: [Lie] = []
        for speaker in names {
            for other in names where other != speaker {
                lies += Self.lies(of: speaker, about: other, samples[speaker] ?? [], samples[other] ?? [])
            }
        }
        return Record(lies: lies, samples: samples, timeline: Self.timeline(samples))
    }

    /// Stops asking. A thread that waits for a node that is stopped ends when that node goes on or ends.
    package func end() -> Record {
        state.withLock { $0.isOver = true }
        let record = record
        let deadline = Deadline(seconds: 2)
        while state.withLock({ $0.running > 0 }), deadline.remaining > 0 { usleep(10_000) }
        return record
    }

    private static func lies(of speaker: String, about other: String, _ said: [Sample], _ had: [Sample]) -> [Lie] {
        var lies: [Lie] = []
        let databases = Set(said.flatMap(\.digests.keys)).sorted()
        for database in databases {
            var since: (at: Double, digest: String)?
            for sample in said {
                guard let digest = sample.digests[database], sample.states[other] == "in_sync",
                    isWrong(digest, database, at: sample.asked, had)
                else {
                    since = nil
                    continue
                }
                guard let begun = since, begun.digest == digest else {
                    since = (sample.answered, digest)
                    continue
                }
                let seconds = sample.asked - begun.at
                guard seconds > 1 else { continue }
                if let last = lies.last, last.from == begun.at { lies.removeLast() }
                lies.append(Lie(speaker: speaker, of: other, database: database, from: begun.at, seconds: seconds))
            }
        }
        return lies
    }

    /// Whether a node did not have a digest at any time in the second before; what it said last holds until it says another.
    private static func isWrong(_ digest: String, _ database: String, at time: Double, _ had: [Sample]) -> Bool {
        guard let last = had.lastIndex(where: { $0.answered <= time }) else { return false }
        for sample in had[...last].reversed() {
            guard let other = sample.digests[database] else { return false }
            if other == digest { return false }
            if sample.answered < time - 1 { return true }
        }
        return true
    }

    /// What changed in what the nodes said, for people who read why a test failed.
    private static func timeline(_ samples: [String: [Sample]]) -> [String] {
        var lines: [(Double, String)] = []
        for name in samples.keys.sorted() {
            var last: [String: String] = [:]
            for sample in samples[name] ?? [] {
                for peer in sample.states.keys.sorted() {
                    let shown = "\(sample.states[peer] ?? "?")\(sample.connected.contains(peer) ? ", connected" : "")"
                    if last[peer] != shown { lines.append((sample.answered, "\(name) of \(peer): \(shown)")) }
                    last[peer] = shown
                }
            }
        }
        return lines.sorted { $0.0 < $1.0 }.map { "\(Double(Int($0.0 * 100)) / 100) s  \($0.1)" }
    }
}
