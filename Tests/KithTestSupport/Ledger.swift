import Glibc
import KithDocument
import KithHTTPCore
import Synchronization

/// Remembers what nodes acknowledged, and asks afterwards whether it is all there: for every test that hurts nodes.
///
/// A write that was acknowledged is owed by the node that took it: whatever is done to processes, links, clocks and full
/// disks, its id must be readable there afterwards, and on everybody whom that node agrees with. The groups of the tests on a
/// LAN and of those end to end have one of these from their beginning; what their nodes are told to write goes into it by
/// itself, and `settle` there ends with it.
///
/// What takes a disk's content away (a directory put back, a file damaged, a copy restored, a database dropped) is announced
/// before it is done: the others are asked what they have. An id that nobody else has is owed no longer; one that another
/// node has is owed by that node, and so comes back.
///
///     ledger.wrote(["one"], in: "notes", by: "beta")
///     ledger.willLose("notes", of: "beta")
///     ... beta's file is damaged, and it is started again ...
///     try ledger.settle("notes", on: ["alpha", "beta"], within: 60)
///
/// An id that was deleted or purged is owed by nobody until it is written again. All calls but those that only note
/// something block while nodes answer.
package final class Ledger: Sendable {
    private struct State {
        /// The paths of the control sockets, by the name of the node.
        var sockets: [String: String] = [:]
        /// By database and id, the nodes that are known to have had it.
        var holders: [String: [String: Set<String>]] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// - Parameter socket: the path of the node's control socket, which need not be there yet.
    package func add(_ name: String, _ socket: String) { state.withLock { $0.sockets[name] = socket } }

    // MARK: What is owed

    /// A node has acknowledged documents.
    package func wrote(_ ids: some Sequence<String>, in database: String, by node: String) {
        state.withLock { state in
            for id in ids { state.holders[database, default: [:]][id, default: []].insert(node) }
        }
    }

    /// A document was deleted or purged because somebody wanted it.
    package func removed(_ id: String, in database: String) {
        state.withLock { state in _ = state.holders[database]?.removeValue(forKey: id) }
    }

    /// A node is about to lose a database, or may, or all of them where none is named: asks those others that run what
    /// they have of it.
    package func willLose(_ database: String?, of node: String) {
        guard let database else {
            for database in state.withLock({ $0.holders.keys.sorted() }) { willLose(database, of: node) }
            return
        }
        let (sockets, owed) = state.withLock { ($0.sockets, $0.holders[database] ?? [:]) }
        let endangered = Set(owed.filter { $0.value.contains(node) }.keys)
        if endangered.isEmpty { return }
        let had = sockets.filter { $0.key != node }.mapValues { Self.readable(database, $0) ?? [] }
        state.withLock { state in
            for id in endangered {
                var holders = state.holders[database]?[id] ?? []
                for (other, ids) in had where ids.contains(id) { holders.insert(other) }
                holders.remove(node)
                state.holders[database]?[id] = holders.isEmpty ? nil : holders
            }
        }
    }

    /// The ids of a database that must be readable on all of those nodes once they agree: those that one of them took.
    package func owed(_ database: String, by nodes: [String]) -> Set<String> {
        let owed = state.withLock { $0.holders[database] ?? [:] }
        return Set(owed.filter { !$0.value.isDisjoint(with: nodes) }.keys)
    }

    // MARK: Whether it is there

    /// Waits until nodes have one digest of a database and every id that is owed can be read on each of them.
    /// - Parameter seconds: how long that may take.
    /// - Returns: the digest.
    /// - Throws: `Failure` that says who has which digest and who lacks what, when the time is up.
    @discardableResult
    package func settle(_ database: String, on nodes: [String], within seconds: Double) throws -> String {
        let deadline = Deadline(seconds: seconds)
        while true {
            let (digest, trouble) = look(database, nodes)
            if let digest {
                let owed = owed(database, by: nodes)
                for node in nodes { wrote(owed, in: database, by: node) }
                return digest
            }
            guard deadline.remaining > 0 else {
                throw Failure("\(database) is not the same and whole after \(seconds) s: \(trouble)")
            }
            usleep(50_000)
        }
    }

    /// - Returns: the digest when all is well, and what is wrong when it is not.
    private func look(_ database: String, _ nodes: [String]) -> (digest: String?, trouble: String) {
        let sockets = state.withLock { state in nodes.map { ($0, state.sockets[$0] ?? "") } }
        let digests = sockets.map { ($0.0, Self.digest(database, $0.1)) }
        guard Set(digests.map(\.1)).count == 1, let digest = digests.first?.1 else {
            return (nil, digests.map { "\($0.0) has the digest \($0.1?.prefix(8) ?? "?")" }.joined(separator: ", "))
        }
        let owed = owed(database, by: nodes)
        if owed.isEmpty { return (digest, "") }
        var lacking: [String] = []
        for (name, socket) in sockets {
            guard let there = Self.readable(database, socket) else {
                lacking.append("\(name) can't be read")
                continue
            }
            let missing = owed.subtracting(there).sorted()
            if !missing.isEmpty {
                lacking.append("\(name) lacks \(missing.count) of \(owed.count): \(missing.prefix(10))")
            }
        }
        return (lacking.isEmpty ? digest : nil, lacking.joined(separator: ", "))
    }

    private static func digest(_ database: String, _ socket: String) -> String? {
        let request = HTTPClientRequest(method: "GET", target: "/v1/status")
        guard let answer = try? HTTPClient(.unixSocket(socket)).send(request), answer.head.status == 200,
            let status = try? JSONValue(parsing: answer.body)
        else { return nil }
        return status["databases"]?.array?.first { $0["name"]?.string == database }?["digest"]?.string
    }

    /// The ids of the documents whose bodies a node shows; nil where it does not answer or stops in the middle.
    private static func readable(_ database: String, _ socket: String) -> Set<String>? {
        let request = HTTPClientRequest(
            method: "GET", target: HTTPTarget.encode(["v1", "databases", database, "export"]))
        var ids: Set<String> = []
        var isWhole = true
        let head = try? HTTPClient(.unixSocket(socket)).lines(request) { head, line in
            // The id is the first member of each line.
            if let id = self.ids(in: line).first { ids.insert(id) } else { isWhole = false }
            return isWhole && head.status == 200
        }
        return head?.status == 200 && isWhole ? ids : nil
    }

    // MARK: What is in a text

    private static let (quote, backslash, space, colon) = (
        UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: " "), UInt8(ascii: ":")
    )

    /// The ids that stand in documents as `_id`, or under another name, in the order of the text.
    package static func ids(in text: [UInt8], field: String = "_id") -> [String] {
        let name = Array("\"\(field)\"".utf8)
        var ids: [String] = []
        var place = 0
        while let end = end(of: name, in: text, from: place) {
            place = end
            var first = place
            while first < text.count, text[first] == space || text[first] == colon { first += 1 }
            guard first < text.count, text[first] == quote else { continue }
            var last = first + 1
            while last < text.count, text[last] != quote { last += text[last] == backslash ? 2 : 1 }
            guard last < text.count else { break }
            if let id = (try? JSONValue(parsing: Array(text[first...last])))?.string { ids.append(id) }
            place = last
        }
        return ids
    }

    /// Where the next place of these bytes ends: looked for by the C library, since texts may be long and tests are not
    /// optimised.
    private static func end(of bytes: [UInt8], in text: [UInt8], from start: Int) -> Int? {
        text.withUnsafeBytes { text in
            guard let base = text.baseAddress else { return nil }
            var place = start
            while let found = memchr(base + place, Int32(bytes[0]), text.count - place) {
                place = UnsafeRawPointer(found) - base + 1
                let rest = text.count - (place - 1)
                if rest >= bytes.count, memcmp(found, bytes, bytes.count) == 0 { return place - 1 + bytes.count }
            }
            return nil
        }
    }
}
