import Glibc
import KithDocument
import KithHTTPCore
import Synchronization

/// Asks nodes for their status all the time and keeps what they said of each other: for every test that hurts nodes.
///
/// `status --json` may never say `in_sync` of a pair whose digests differ for longer than a second, whatever happens. The
/// groups of the tests on a LAN and of those end to end have one of these from their beginning and judge it at their end;
/// another test makes its own before it begins, hurts its nodes, and at the end expects that nobody lied:
///
///     let truth = TruthPoller([("alpha", "/path/of/kith.sock"), ("beta", ...)])
///     ... pull cables, stop processes, write ...
///     let said = truth.end()
///     #expect(said.lies.isEmpty, "\(said)")
///     let after = said.seconds(from: cutAt, until: "alpha", says: "unknown", of: "beta")
///
/// Each node is asked about six times a second by a thread of its own, which waits as long as the node does: what a
/// stopped or dead node said last is taken for what it still has. A node is who it says it is, so a directory that was copied,
/// or that is another node after a reset, is judged as what it was at that time. The digests of two nodes are not read in the
/// same moment, so a difference counts as a lie only when the other had the digest that the speaker had at no time within the
/// second before, nor had taken it when it answered next, and the speaker's digest stayed as it was meanwhile. Documents
/// that were purged or refused at one end are apart, as in the status.
package final class TruthPoller: Sendable {
    /// What one node said at one time.
    package struct Sample: Sendable {
        /// Seconds on the poller's clock: before it was asked, and when it had answered.
        package let asked: Double
        package let answered: Double
        /// Who it said it is, while it is in a group.
        package let node: String
        /// By database.
        package let digests: [String: String]
        /// By the peer's name.
        package let states: [String: String]
        /// The ids of those it called in sync.
        package let inSync: Set<String>
        /// By peer's id, the databases in which something is left out at one end when digests are compared.
        package let apart: [String: Set<String>]
        package let connected: Set<String>
        /// The codes of its health.
        package let checks: [String]

        package init(
            asked: Double, answered: Double, node: String, digests: [String: String], states: [String: String] = [:],
            inSync: Set<String>, apart: [String: Set<String>] = [:], connected: Set<String> = [],
            checks: [String] = []
        ) {
            self.asked = asked
            self.answered = answered
            self.node = node
            self.digests = digests
            self.states = states
            self.inSync = inSync
            self.apart = apart
            self.connected = connected
            self.checks = checks
        }
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

        /// Judges what was said.
        /// - Parameter samples: by the name of who was asked, in the order of time.
        package init(_ samples: [String: [Sample]]) {
            self.samples = samples
            lies = TruthPoller.lies(in: samples)
            timeline = TruthPoller.timeline(samples)
        }

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

    /// How far apart the questions to a node are: a lie of a second is seen, and a group costs little.
    private static let pauseMicroseconds: UInt32 = 150_000
    /// For so long a digest that the other shows next is taken for one that it had before it showed it.
    private static let answerSeconds = 2.0

    private let state = Mutex(State())
    private let watch = Stopwatch()

    /// Begins to ask.
    /// - Parameter nodes: their names, and the paths of their control sockets, which need not be there yet.
    package init(_ nodes: [(name: String, socket: String)]) {
        for node in nodes { add(node.name, node.socket) }
    }

    /// Asks one more, under a name that no other has.
    /// - Parameter socket: the path of its control socket, which need not be there yet.
    package func add(_ name: String, _ socket: String) {
        state.withLock { $0.samples[name] = [] }
        begin(name, socket)
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
                usleep(Self.pauseMicroseconds)
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
        var inSync: Set<String> = []
        var apart: [String: Set<String>] = [:]
        var connected: Set<String> = []
        for peer in status["peers"]?.array ?? [] {
            guard let name = peer["name"]?.string else { continue }
            states[name] = peer["state"]?.string
            if let id = peer["id"]?.string {
                if peer["state"]?.string == "in_sync" { inSync.insert(id) }
                apart[id] = Self.apart(peer)
            }
            if peer["connected"]?.bool == true { connected.insert(name) }
        }
        let checks = status["health"]?["checks"]?.array?.compactMap { $0["code"]?.string } ?? []
        return Sample(
            asked: asked, answered: answered, node: status["node"]?["id"]?.string ?? "", digests: digests,
            states: states, inSync: inSync, apart: apart, connected: connected, checks: checks)
    }

    private static func apart(_ peer: JSONValue) -> Set<String> {
        let databases = (peer["databases"]?.array ?? []).filter { database in
            ["refused", "left_out_here", "left_out_by_peer"].contains { (database[$0]?.natural ?? 0) > 0 }
        }
        return Set(databases.compactMap { $0["name"]?.string })
    }

    /// What was said so far.
    package var record: Record { Record(state.withLock { $0.samples }) }

    /// Stops asking, without waiting. A thread that waits for a node that is stopped ends when that node goes on or ends.
    package func stop() { state.withLock { $0.isOver = true } }

    /// Stops asking, and waits until nobody is asked any more, for two seconds at most.
    package func end() -> Record {
        stop()
        let record = record
        let deadline = Deadline(seconds: 2)
        while state.withLock({ $0.running > 0 }), deadline.remaining > 0 { usleep(10_000) }
        return record
    }

    private static func lies(in samples: [String: [Sample]]) -> [Lie] {
        let names = Dictionary(
            samples.keys.sorted().flatMap { name in Set((samples[name] ?? []).map(\.node)).map { ($0, name) } },
            uniquingKeysWith: { first, _ in first })
        let byNode = Dictionary(grouping: samples.values.joined(), by: \.node).mapValues { said in
            said.sorted { $0.answered < $1.answered }
        }
        var lies: [Lie] = []
        for speaker in samples.keys.sorted() {
            let said = samples[speaker] ?? []
            for other in said.reduce(into: Set<String>(), { $0.formUnion($1.inSync) }).sorted() {
                guard let had = byNode[other], let name = names[other] else { continue }
                lies += Self.lies(of: speaker, about: other, name, said, had)
            }
        }
        return lies
    }

    private static func lies(
        of speaker: String, about other: String, _ name: String, _ said: [Sample], _ had: [Sample]
    ) -> [Lie] {
        var lies: [Lie] = []
        for database in Set(said.flatMap(\.digests.keys)).sorted() {
            var since: (at: Double, digest: String)?
            var last = 0.0
            for sample in said {
                // Between two of its lives it has said nothing.
                if sample.asked - last > 1 { since = nil }
                last = sample.answered
                guard let digest = sample.digests[database], sample.inSync.contains(other), sample.node != other,
                    sample.apart[other]?.contains(database) != true, isWrong(digest, database, at: sample.asked, had)
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
                lies.append(Lie(speaker: speaker, of: name, database: database, from: begun.at, seconds: seconds))
            }
        }
        return lies
    }

    /// Whether a node did not have a digest at any time in the second before; what it said last holds until it says another.
    /// - Parameter had: what it said, in the order of its answers.
    private static func isWrong(_ digest: String, _ database: String, at time: Double, _ had: [Sample]) -> Bool {
        let next = firstIndex(after: time, had)
        if next < had.count, had[next].answered <= time + answerSeconds, had[next].digests[database] == digest {
            return false
        }
        for sample in had[..<next].reversed() {
            guard let other = sample.digests[database] else { return false }
            if other == digest { return false }
            if sample.answered < time - 1 { return true }
        }
        return next > 0
    }

    private static func firstIndex(after time: Double, _ samples: [Sample]) -> Int {
        var (low, high) = (0, samples.count)
        while low < high {
            let middle = (low + high) / 2
            if samples[middle].answered <= time { low = middle + 1 } else { high = middle }
        }
        return low
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
