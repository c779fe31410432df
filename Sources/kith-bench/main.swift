// Measures Kith beside raw SQLite doing the same work in the same run: `kith-bench [DIRECTORY]`, on the disk that the
// directory is on.

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// One row of the table: the medians of both sides over the rounds, and Kith's part of raw.
func show(_ name: String, _ rounds: [(kith: Double, raw: Double)], goal: Double) {
    func median(_ numbers: [Double]) -> Double { numbers.sorted()[numbers.count / 2] }
    func padded(_ number: Double) -> String {
        let text = String(Int(number))
        return String(repeating: " ", count: max(0, 12 - text.count)) + text
    }
    let (kith, raw) = (median(rounds.map(\.kith)), median(rounds.map(\.raw)))
    let ratio = (kith / raw * 100).rounded() / 100
    let title = name + String(repeating: " ", count: max(1, 28 - name.count))
    print("\(title)\(padded(kith))\(padded(raw))    \(ratio) of raw (goal \(goal)) \(ratio >= goal ? "ok" : "MISSED")")
}

let parent = CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : "/tmp"
var template = Array((parent + "/kith-bench-XXXXXX").utf8CString)
guard let made = mkdtemp(&template) else {
    print("can't make a directory in \(parent)")
    exit(1)
}
let directory = String(cString: made)
defer {
    for name in ["bench.sqlite3", "raw.sqlite3"] {
        for suffix in ["", "-wal", "-shm"] { unlink(directory + "/" + name + suffix) }
    }
    unlink(directory + "/bench.lock")
    rmdir(directory)
}
print("documents a second                  kith         raw")
let results = try StoreBench(directory: directory).run()
show("write, 1,000 a transaction", results.writing, goal: 0.5)
show("read by id", results.reading, goal: 0.5)
