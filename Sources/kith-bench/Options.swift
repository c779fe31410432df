/// What is measured and how much of it.
struct Options {
    /// The rows that can be measured, in the order in which they are shown.
    enum RowName: String, CaseIterable { case write, read, query, live, replicate, delay }

    var documents = 100_000
    var runs = 5
    var rows = RowName.allCases
    /// Whether writing, reading, queries and live results are measured by processor time.
    var countsProcessorTime = false
    /// On the disk that is measured.
    var directory = "/tmp"

    /// The socket of a node lies in its directory, and the address of a socket holds 103 bytes.
    private static let directoryBytes = 60
    private static let documentRange = 1...10_000_000
    private static let runRange = 1...1000

    static let usage = """
        usage: kith-bench [--documents N] [--runs N] [--rows ROW,ROW] [--cpu] [DIRECTORY]

        Measures Kith beside the same work done by raw SQLite, and a raw socket, in the same run.
          --documents N  documents of about 200 bytes (100000)
          --runs N       interleaved runs, of which the medians are shown (5)
          --rows ROWS    of: write, read, query, live, replicate, delay (all)
          --cpu          write, read, query and live by processor time, for a machine that has other work too
          DIRECTORY      on the disk that is measured (/tmp)
        """

    init(_ arguments: [String]) throws(BenchError) {
        var rest = arguments[...]
        func value(of name: String) throws(BenchError) -> String {
            guard let value = rest.popFirst() else { throw BenchError("\(name) needs a value") }
            return value
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--documents": documents = try Self.number(try value(of: argument), Self.documentRange, argument)
            case "--runs": runs = try Self.number(try value(of: argument), Self.runRange, argument)
            case "--rows": rows = try Self.rows(try value(of: argument))
            case "--cpu": countsProcessorTime = true
            case _ where argument.hasPrefix("-"): throw BenchError("there is no option \(argument)")
            default: directory = argument
            }
        }
        guard directory.utf8.count <= Self.directoryBytes else {
            throw BenchError("the path of the directory may have \(Self.directoryBytes) bytes: use a shorter one")
        }
    }

    private static func number(_ text: String, _ range: ClosedRange<Int>, _ name: String) throws(BenchError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw BenchError("\(name) takes a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    private static func rows(_ text: String) throws(BenchError) -> [RowName] {
        var rows: [RowName] = []
        for name in text.split(separator: ",") {
            guard let row = RowName(rawValue: String(name)) else {
                let names = RowName.allCases.map(\.rawValue).joined(separator: ", ")
                throw BenchError("there is no row \(name); there are \(names)")
            }
            rows.append(row)
        }
        return RowName.allCases.filter(rows.contains)
    }
}
