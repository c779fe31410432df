import KithDocument
import KithStore

/// Writing and reading documents in this process, beside raw SQLite doing the same rows and indexes with one prepared
/// statement on the same disk with the same settings.
struct StoreBench {
    let directory: String
    let samples: Samples
    let reads: Bool
    private let now: () -> Double
    private let batch = 1_000
    private var count: Int { samples.ids.count }

    private(set) var writing: [(kith: Double, raw: Double)] = []
    private(set) var reading: [(kith: Double, raw: Double)] = []

    init(directory: String, samples: Samples, reads: Bool, byProcessorTime: Bool) {
        now = { byProcessorTime ? Stopwatch.processorSeconds() : Stopwatch.seconds() }
        self.directory = directory
        self.samples = samples
        self.reads = reads
    }

    /// Documents a second of both sides, one after the other.
    mutating func run() throws {
        let (store, kithWrites) = try writeWithKith()
        let rows = try Raw.rows(of: store.file.path)
        let raw = Raw(path: directory + "/raw.sqlite3")
        let rawWrites = Stopwatch.rate(of: count, by: now) { raw.write(rows, batch: batch) }
        writing.append((kithWrites, rawWrites))
        guard reads else { return }
        let kithReads = try readWithKith(store)
        reading.append((kithReads, readRaw(raw)))
    }

    private func writeWithKith() throws -> (Store, Double) {
        let file = DatabaseFile(try DatabaseName("bench"), in: directory)
        try Store.remove(file)
        var numbers = Numbers(state: 1)
        let environment = StoreEnvironment(now: { 1_700_000_000_000 }, random: { numbers.next() })
        let store = try Store(file, environment: environment)
        let rate = try Stopwatch.rate(of: count, by: now) {
            for start in stride(from: 0, to: count, by: batch) {
                try store.write { (transaction) throws(StoreError) in
                    for index in start..<min(start + batch, count) {
                        guard let body = try? CanonicalJSON.object(from: samples.texts[index]) else { continue }
                        _ = try transaction.put(samples.ids[index], body)
                    }
                }
            }
        }
        return (store, rate)
    }

    private func readWithKith(_ store: Store) throws -> Double {
        let reader = try store.makeReader()
        var bytes = 0
        return try Stopwatch.rate(of: count, by: now) {
            for index in samples.order { bytes += try reader.get(samples.ids[index])?.body.count ?? 0 }
            precondition(bytes > 0)
        }
    }

    private func readRaw(_ raw: Raw) -> Double {
        var bytes = 0
        return Stopwatch.rate(of: count, by: now) {
            bytes = raw.read(samples.order.map { samples.ids[$0] })
            precondition(bytes > 0)
        }
    }
}
