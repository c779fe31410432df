import Dispatch
import Glibc
import KithDocument
import KithTestSupport
import Testing

@testable import KithTransport

@Suite struct ThroughputTests {
    @Test func `two nodes of one group exchange 50 MB both ways`() async throws {
        let group = try TestGroup()
        let serverRecorder = Recorder(keepsBytes: false)
        let server = try TestServer(try .member(group.first), recorder: serverRecorder)
        let clientRecorder = Recorder(keepsBytes: false)
        let client = try Connection.dial(server.endpoint, try .member(try group.member())) { connection, event in
            clientRecorder.handle(connection, event)
        }
        _ = try #require(await clientRecorder.wait { $0.peer != nil })
        _ = try #require(await eventually { !server.connections.isEmpty })

        let total = 50 << 20
        let start = DispatchTime.now()
        for connection in [client, server.connections[0]] {
            // In chunks of every size that matters, given all at once.
            var left = total
            var size = 1
            while left > 0 {
                let count = min(left, size)
                connection.send([UInt8](repeating: UInt8(truncatingIfNeeded: count), count: count))
                left -= count
                size = size >= 3 << 20 ? 1 : size * 3 + 1
            }
            connection.finish()
        }
        #expect(await clientRecorder.ending(seconds: 60) == .complete)
        #expect(await serverRecorder.ending(seconds: 60) == .complete)
        #expect(clientRecorder.now.count == total)
        #expect(serverRecorder.now.count == total)
        let seconds = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9
        print("exchanged 2 x \(total >> 20) MiB in \(seconds) s")
        #expect(client.sentBytes > UInt64(total) && client.receivedBytes > UInt64(total))
    }

    /// A measurement more than a test: one way, bounded memory.
    @Test func `one connection carries a stream with bounded memory`() async throws {
        let group = try TestGroup()
        let server = try TestServer(
            try .member(group.first), recorder: Recorder(keepsBytes: false, react: Self.finishToo))
        let total = 400 << 20
        let chunk = [UInt8](repeating: 7, count: 64 * 1024)
        let pump = Pump(total: total, chunk: chunk)
        let recorder = Recorder(keepsBytes: false) { connection, event in
            switch event {
            case .opened, .drained: pump.fill(connection)
            case .finished: connection.finish()
            default: break
            }
        }
        let start = DispatchTime.now()
        _ = try Connection.dial(server.endpoint, try .member(try group.member())) { recorder.handle($0, $1) }
        #expect(await recorder.ending(seconds: 120) == .complete)
        let seconds = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9
        #expect(server.recorder.now.count == total)
        #expect(pump.highest.value <= 1 << 20)
        print("one way: \(Int(Double(total) / seconds / 1e6)) MB/s, at most \(pump.highest.value) bytes waiting")
    }

    @Sendable private static func finishToo(_ connection: Connection, _ event: Connection.Event) {
        if case .finished = event { connection.finish() }
    }

    /// Sends until more than half a megabyte waits, and goes on when that has drained.
    final class Pump: Sendable {
        let sent = Shared(0)
        let highest = Shared(0)
        let total: Int
        let chunk: [UInt8]

        init(total: Int, chunk: [UInt8]) {
            self.total = total
            self.chunk = chunk
        }

        func fill(_ connection: Connection) {
            while sent.value < total {
                let waiting = connection.send(chunk)
                sent.change { $0 += chunk.count }
                highest.change { $0 = max($0, waiting) }
                if waiting > 512 * 1024 { return }
            }
            connection.finish()
        }
    }
}
