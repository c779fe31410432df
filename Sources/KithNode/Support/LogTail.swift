/// The last lines of a log, in memory: what a report of trouble takes along.
struct LogTail {
    private var lines: [[UInt8]] = []
    /// The first that is left; those before it are dropped now and then.
    private var first = 0
    private var count = 0
    private let most: Int

    /// - Parameter most: bytes that are kept; 0 for none.
    init(_ most: Int) { self.most = most }

    var isKept: Bool { most > 0 }

    mutating func add(_ line: [UInt8]) {
        guard isKept, line.count <= most else { return }
        lines.append(line)
        count += line.count
        while count > most {
            count -= lines[first].count
            lines[first] = []
            first += 1
        }
        guard first > 1_000, first > lines.count / 2 else { return }
        lines.removeFirst(first)
        first = 0
    }

    /// All of them, the oldest first.
    var bytes: [UInt8] { lines[first...].flatMap(\.self) }
}
