import KithHTTPCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// From the beginning of a put on one node until another, connected and idle, reads the document: two commits on disk, the
/// link, and both control sockets. Beside it a round trip of as many bytes over a TCP socket on the loopback interface.
final class DelayBench {
    private let writer: BenchNode
    private let reader: BenchNode
    private let socket: SocketRoundTrip
    private let database = "bench"
    private var round = 0

    private(set) var kith: [Double] = []
    private(set) var raw: [Double] = []

    private static let puts = 40
    /// The nodes are idle in between.
    private static let pauseMicroseconds: UInt32 = 20_000

    init(directory: String) throws(BenchError) {
        writer = try BenchNode.founder(directory + "/writer")
        reader = try BenchNode.member(directory + "/reader", of: writer)
        _ = try writer.json("PUT", ["databases", database])
        try reader.start(peer: try writer.address())
        socket = try SocketRoundTrip()
        try writer.waitInSync(database)
    }

    func stop() {
        reader.stop()
        writer.stop()
    }

    func run() throws(BenchError) {
        round += 1
        for number in 0..<Self.puts {
            usleep(Self.pauseMicroseconds)
            let fill = String(repeating: "x", count: 160)
            let body = Array(#"{"round":\#(round),"put":\#(number),"fill":"\#(fill)"}"#.utf8)
            kith.append(try putToReading("delay:\(round):\(number)", body))
            raw.append(try socket.milliseconds(bytes: body.count))
        }
    }

    private func putToReading(_ id: String, _ body: [UInt8]) throws(BenchError) -> Double {
        let path = ["databases", database, "documents", id]
        let start = Stopwatch.seconds()
        let (status, answer) = try writer.call("PUT", path, body: .bytes(body))
        guard status == 201 else { throw BenchError("a put failed: \(String(decoding: answer, as: UTF8.self))") }
        while try reader.call("GET", path).status != 200 {
            guard Stopwatch.seconds() - start < 10 else { throw BenchError("a put did not arrive within 10 s") }
        }
        return (Stopwatch.seconds() - start) * 1000
    }
}
