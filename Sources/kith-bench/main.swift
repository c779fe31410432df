// Measures Kith beside raw SQLite doing the same work in the same run: docs/performance.md says what the rows mean.

#if canImport(Glibc)
import Glibc
import KithSystem
#else
import Darwin
#endif

/// Runs the rows in turn, so often, and shows what came of it.
func measure(_ options: Options, in directory: String) throws {
    let samples = Samples(count: options.documents)
    let rows = options.rows
    var store = StoreBench(
        directory: directory, samples: samples, reads: rows.contains(.read),
        byProcessorTime: options.countsProcessorTime)
    var queries =
        rows.contains(.query)
        ? try QueryBench(directory: directory, samples: samples, byProcessorTime: options.countsProcessorTime) : nil
    let live =
        rows.contains(.live)
        ? try LiveBench(
            directory: directory, documents: options.documents, byProcessorTime: options.countsProcessorTime) : nil
    let replication = rows.contains(.replicate) ? try ReplicationBench(directory: directory, samples: samples) : nil
    defer { replication?.stop() }
    let delay = rows.contains(.delay) ? try DelayBench(directory: directory) : nil
    defer { delay?.stop() }

    for _ in 0..<options.runs {
        if rows.contains(.write) || rows.contains(.read) { try store.run() }
        try queries?.run()
        try live?.run()
        try replication?.run()
        try delay?.run()
    }

    print("\(options.documents) documents, medians of \(options.runs) runs, on \(options.directory)")
    print(Table.heading)
    if rows.contains(.write) { print(Table.rates("write, 1,000 a transaction", store.writing, target: 0.5)) }
    if rows.contains(.read) { print(Table.rates("read by id", store.reading, target: 0.5)) }
    if let queries {
        print(Table.rates("query by an indexed field", queries.equality, target: 0.77))
        print(Table.rates("full text, best 20", queries.words, target: 0.67))
        print(Table.rates("scan, one field compared", queries.scan, target: 1))
        print(Table.rates("scan, grouped", queries.group, target: 1))
    }
    if let live {
        print(Table.times("from a save to a live result", kith: live.kith, raw: live.raw, limit: 20))
        print(Table.sizes("  memory of an idle reader", live.idleMegabytes, limit: 5))
    }
    if let replication {
        print(Table.rates("replicate to an empty node", replication.rates, target: 0.33))
        print(Table.sizes("  peak memory of the source", replication.sourceMegabytes, limit: 150))
        print(Table.sizes("  peak memory of the target", replication.targetMegabytes, limit: 150))
        print(Table.cost("  processor time of the source", replication.sourceMicroseconds))
        print(Table.cost("  processor time of the target", replication.targetMicroseconds))
    }
    if let delay { print(Table.times("from a put to its reading", kith: delay.kith, raw: delay.raw, limit: 10)) }
}

func fail(_ message: String, status: Int32) -> Never {
    let line = "kith-bench: \(message)\n"
    _ = write(STDERR_FILENO, line, line.utf8.count)
    exit(status)
}

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.contains("--help") {
    print(Options.usage)
    exit(0)
}
do {
    let options = try Options(arguments)
    var template = Array((options.directory + "/kith-bench-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else { throw BenchError("can't make a folder in \(options.directory)") }
    let directory = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    defer { LocalFileSystem.removeFolder(directory) }
    try measure(options, in: directory)
} catch let error as BenchError {
    fail(error.message, status: 1)
} catch {
    fail("\(error)", status: 1)
}
