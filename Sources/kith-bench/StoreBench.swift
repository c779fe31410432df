import CSQLite
import KithDocument
import KithStore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Writing and reading documents, beside raw SQLite doing the same rows and indexes with one prepared statement on the
/// same disk with the same settings.
struct StoreBench {
    let directory: String
    let documents: Int
    let batch: Int
    let rounds: Int

    /// The texts as an application gives them, of about 200 bytes.
    private let ids: [DocumentID]
    private let texts: [[UInt8]]
    /// The order of reading, the same for both.
    private let order: [Int]

    init(directory: String, documents: Int = 100_000, batch: Int = 1_000, rounds: Int = 5) {
        self.directory = directory
        self.documents = documents
        self.batch = batch
        self.rounds = rounds
        var numbers = Numbers(state: 7)
        ids = (0..<documents).map { _ in DocumentID(unchecked: "item:\(Hex.encode(numbers.next()))") }
        texts = (0..<documents).map { number in
            Array(
                """
                {"name":"Document number \(number)","kind":"sample","price":\(numbers.next() % 10_000),"tags":["one","two",\
                "three"],"owner":{"id":\(numbers.next() % 1000),"mail":"owner\(number)@example.org"},"note":"some words to fill"}
                """.utf8)
        }
        order = (0..<documents).map { _ in Int(numbers.next() % UInt64(documents)) }
    }

    /// Documents a second, a pair for each round: Kith's and the raw one's.
    func run() throws -> (writing: [(kith: Double, raw: Double)], reading: [(kith: Double, raw: Double)]) {
        var writing: [(kith: Double, raw: Double)] = []
        var reading: [(kith: Double, raw: Double)] = []
        for _ in 0..<rounds {
            let (store, kithWrites) = try writeWithKith()
            let rows = try Raw.rows(of: store.file.path)
            let (raw, rawWrites) = try writeRaw(rows)
            writing.append((kithWrites, rawWrites))
            let kithReads = try readWithKith(store)
            reading.append((kithReads, try readRaw(raw)))
        }
        return (writing, reading)
    }

    private func rate(_ work: () throws -> Void) rethrows -> Double {
        let start = Self.seconds()
        try work()
        return Double(documents) / (Self.seconds() - start)
    }

    static func seconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    // Kith.

    private func writeWithKith() throws -> (Store, Double) {
        let file = DatabaseFile(try DatabaseName("bench"), in: directory)
        try Store.remove(file)
        var numbers = Numbers(state: 1)
        let environment = StoreEnvironment(now: { 1_700_000_000_000 }, random: { numbers.next() })
        let store = try Store(file, environment: environment)
        let rate = try rate {
            for start in stride(from: 0, to: documents, by: batch) {
                try store.write { (transaction) throws(StoreError) in
                    for index in start..<min(start + batch, documents) {
                        guard let body = try? CanonicalJSON.object(from: texts[index]) else { continue }
                        _ = try transaction.put(ids[index], body)
                    }
                }
            }
        }
        return (store, rate)
    }

    private func readWithKith(_ store: Store) throws -> Double {
        let reader = try store.makeReader()
        var bytes = 0
        return try rate {
            for index in order { bytes += try reader.get(ids[index])?.body.count ?? 0 }
            precondition(bytes > 0)
        }
    }

    // Raw SQLite.

    private func writeRaw(_ rows: [Raw.Row]) throws -> (Raw, Double) {
        let raw = Raw(path: directory + "/raw.sqlite3")
        return (raw, rate { raw.write(rows, batch: batch) })
    }

    private func readRaw(_ raw: Raw) throws -> Double {
        var bytes = 0
        return rate {
            bytes = raw.read(order.map { ids[$0] })
            precondition(bytes > 0)
        }
    }
}

/// Numbers that are the same in each run (SplitMix64).
struct Numbers {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
