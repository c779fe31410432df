#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// An empty node fetches a whole database of another, over TLS on the loopback interface: two real processes. Beside it
/// raw SQLite writes the rows that come of it.
final class ReplicationBench {
    private let directory: String
    private let documents: Int
    private let source: BenchNode
    private let database = "bench"
    private var round = 0

    private(set) var rates: [(kith: Double, raw: Double)] = []
    private(set) var sourceMegabytes: [Double] = []
    private(set) var targetMegabytes: [Double] = []
    /// Microseconds of a processor a document.
    private(set) var sourceMicroseconds: [Double] = []
    private(set) var targetMicroseconds: [Double] = []

    /// Starts the source and fills its database; that counts for nothing.
    init(directory: String, samples: Samples) throws(BenchError) {
        self.directory = directory
        documents = samples.ids.count
        let file = directory + "/samples.jsonl"
        try Self.write(samples.lines, to: file)
        // The import is another process's work and memory: the source is started anew after it.
        source = try BenchNode.founder(directory + "/source")
        _ = try source.json("PUT", ["databases", database])
        try source.command(["import", database, file])
        source.stop()
        unlink(file)
        try source.start(peer: nil)
    }

    func stop() { source.stop() }

    /// One empty node, from its being ready until both nodes say that they have the same.
    func run() throws {
        let address = try source.address()
        round += 1
        let target = try BenchNode.member(directory + "/target\(round)", of: source)
        defer { target.stop() }
        try target.start(peer: address)
        let before = processorSeconds(target)
        let kith = try Stopwatch.rate(of: documents) { try source.waitInSync(database) }
        let after = processorSeconds(target)
        sourceMicroseconds.append((after.source - before.source) / Double(documents) * 1e6)
        targetMicroseconds.append((after.target - before.target) / Double(documents) * 1e6)
        let (its, mine) = (try source.state(of: database), try target.state(of: database))
        guard let its, let mine, its == mine, its.documents == documents else {
            throw BenchError("the nodes say that they are in sync, and their databases differ")
        }
        sourceMegabytes.append(source.process?.peakMegabytes() ?? .nan)
        targetMegabytes.append(target.process?.peakMegabytes() ?? .nan)
        target.stop()
        while try source.connectedPeers() > 0 { usleep(20_000) }
        rates.append((kith, try writeRaw(target)))
    }

    private func processorSeconds(_ target: BenchNode) -> (source: Double, target: Double) {
        (source.process?.processorSeconds() ?? .nan, target.process?.processorSeconds() ?? .nan)
    }

    private func writeRaw(_ target: BenchNode) throws -> Double {
        let rows = try Raw.rows(of: "\(target.directory)/databases/\(database).sqlite3")
        let raw = Raw(path: directory + "/raw.sqlite3")
        return Stopwatch.rate(of: rows.count) { raw.write(rows, batch: 1_000) }
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(BenchError) {
        guard let file = fopen(path, "w") else { throw BenchError("can't write \(path)") }
        defer { fclose(file) }
        guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw BenchError("can't write \(path)") }
    }
}
