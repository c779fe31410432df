import Dispatch
import Glibc
import KithDocument
import KithNetwork
import KithTestSupport
import Testing

@testable import KithTransport

@Suite struct ConnectionTests {
    let group: TestGroup
    let member: Identity

    init() throws {
        group = try TestGroup()
        member = try group.member()
    }

    @Test func `a connection that is cut without TLS's closing message says so`() async throws {
        let server = try TestServer(try .member(group.first))
        let client = try RawClient(try .member(member), to: server.listener.port)
        try client.handshake()
        try client.write([1, 2, 3])
        #expect(await server.recorder.wait { $0.bytes == [1, 2, 3] } != nil)
        client.socket.close()
        #expect(await server.recorder.ending() == .failed(.truncated))
    }

    @Test func `what arrived before a cut is delivered`() async throws {
        let server = try TestServer(try .member(group.first))
        let client = try RawClient(try .member(member), to: server.listener.port)
        try client.handshake()
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        try client.write(bytes)
        client.socket.close()
        #expect(await server.recorder.ending() == .failed(.truncated))
        #expect(server.recorder.now.bytes == bytes)
    }

    @Test func `bytes that are no TLS end the connection and no other`() async throws {
        let server = try TestServer(try .member(group.first))
        let client = try RawClient(try .member(member), to: server.listener.port)
        try client.handshake()
        try client.write([1])
        client.socket.send([UInt8](repeating: 0x17, count: 500))
        guard case .failed(.tls)? = await server.recorder.ending() else {
            Issue.record("\(String(describing: server.recorder.now.ending))")
            return
        }
        #expect(server.recorder.now.bytes == [1])
    }

    @Test func `one side finishes and the other still sends`() async throws {
        let server = try TestServer(try .member(group.first))
        let recorder = Recorder { connection, event in
            if case .opened = event { connection.finish() }
        }
        let client = try Connection.dial(server.endpoint, try .member(member)) { recorder.handle($0, $1) }
        #expect(await server.recorder.wait { $0.finished } != nil)
        let bytes = [UInt8](repeating: 9, count: 300_000)
        server.connections[0].send(bytes)
        #expect(await recorder.wait { $0.count == bytes.count } != nil)
        #expect(recorder.now.ending == nil)
        server.connections[0].finish()
        #expect(await recorder.ending() == .complete)
        #expect(await server.recorder.ending() == .complete)
        #expect(client.send([1]) == 0, "an ended connection takes nothing")
    }

    @Test func `closing is heard by the peer as the end of what is sent`() async throws {
        let server = try TestServer(try .member(group.first))
        let recorder = Recorder()
        let client = try Connection.dial(server.endpoint, try .member(member)) { recorder.handle($0, $1) }
        #expect(await server.recorder.wait { $0.peer != nil } != nil)
        #expect(await recorder.wait { $0.peer != nil } != nil)
        client.close()
        #expect(await recorder.ending() == .closedHere)
        #expect(await server.recorder.wait { $0.finished } != nil)
    }

    @Test func `a connection that ended is freed, with its socket`() async throws {
        let server = try TestServer(try .member(group.first))
        let recorder = Recorder()
        weak var client: Connection?
        let ended = try {
            let connection = try Connection.dial(server.endpoint, try .member(member)) { recorder.handle($0, $1) }
            client = connection
            return connection.queue
        }()
        #expect(await recorder.wait { $0.peer != nil } != nil)
        #expect(await server.recorder.wait { $0.peer != nil } != nil)
        #expect(client != nil, "an open connection keeps itself alive")
        client?.close()
        #expect(await recorder.ending() == .closedHere)
        #expect(await server.recorder.wait { $0.finished } != nil)
        server.connections[0].finish()
        #expect(await server.recorder.ending() == .complete)
        #expect(await eventually { client == nil })
        withExtendedLifetime(ended) {}
    }

    @Test func `an owner that stops reading holds up the sender in bounded memory`() async throws {
        let server = try TestServer(
            try .member(group.first),
            recorder: Recorder(keepsBytes: false) { connection, event in
                if case .received = event { connection.setReading(false) }
            })
        let recorder = Recorder()
        let client = try Connection.dial(server.endpoint, try .member(member)) { recorder.handle($0, $1) }
        let total = 64 << 20
        for _ in 0..<64 { client.send([UInt8](repeating: 1, count: 1 << 20)) }
        #expect(await server.recorder.wait { $0.count > 0 } != nil)
        // The kernel's buffers on both sides fill, and no more than one delivery is taken.
        #expect(await eventually { client.bufferedBytes < total })
        let taken = server.recorder.now.count
        #expect(taken <= TransportLimits.receiveBytes * TransportLimits.readsInARow)
        #expect(client.bufferedBytes > 0)
        let connection = server.connections[0]
        connection.queue.async {
            connection.setHandler { server.recorder.note($1) }
            connection.setReading(true)
        }
        #expect(await server.recorder.wait { $0.count == total } != nil)
        #expect(await eventually { client.bufferedBytes == 0 })
        #expect(recorder.now.drained >= 1)
        client.close()
    }

    @Test func `many small messages keep their order and share records`() async throws {
        let server = try TestServer(try .member(group.first))
        let recorder = Recorder()
        let client = try Connection.dial(server.endpoint, try .member(member)) { recorder.handle($0, $1) }
        var expected: [UInt8] = []
        for index in 0..<20_000 {
            let message = [UInt8(truncatingIfNeeded: index), UInt8(truncatingIfNeeded: index >> 8), 0]
            expected += message
            client.send(message)
        }
        let count = expected.count
        #expect(await server.recorder.wait { $0.count == count } != nil)
        #expect(server.recorder.now.bytes == expected)
        #expect(client.sentBytes < UInt64(expected.count * 2))
        client.close()
    }

    @Test func `a dial to a port where nobody listens fails with the system's reason`() async throws {
        let server = try TestServer(try .member(group.first))
        let endpoint = server.endpoint
        server.listener.stop()
        let address = try #require(NetworkAddress(host: endpoint.host, port: endpoint.port))
        #expect(await eventually { (try? RawSocket(to: address)) == nil })
        let recorder = Recorder()
        _ = try Connection.dial(endpoint, try .member(member)) { recorder.handle($0, $1) }
        #expect(await recorder.ending() == .failed(.system("connecting to \(endpoint)", ECONNREFUSED)))
    }

    @Test func `a name is looked up, and its addresses are tried in turn`() async throws {
        // Only IPv4 is listened on, and localhost is often IPv6 first.
        let recorder = Recorder()
        let listener = try Listener(
            Endpoint(host: "127.0.0.1", port: 0), orNextPort: false, context: try .member(group.first)
        ) { _, _ in recorder.handle }
        let client = try Connection.dial(
            Endpoint(host: "localhost", port: listener.port), try .member(member)
        ) { connection, event in
            if case .opened = event { connection.send([5]) }
        }
        #expect(await recorder.wait { $0.bytes == [5] } != nil)
        #expect(client.remote == "127.0.0.1:\(listener.port)")
        client.close()
    }

    @Test func `a name that nobody knows fails with its name`() async throws {
        let recorder = Recorder()
        _ = try Connection.dial(
            Endpoint(host: "no-such-host.invalid", port: 1), try .member(member)
        ) { recorder.handle($0, $1) }
        guard case .failed(.address(let reason))? = await recorder.ending() else {
            // Without a name service the look-up may outlast the limit.
            #expect(recorder.now.ending == .failed(.timedOut("looking up no-such-host.invalid")))
            return
        }
        #expect(reason.contains("no-such-host.invalid"))
    }

    @Test func `a server that never answers the handshake is given up in time`() async throws {
        // A listening socket that nobody accepts from.
        let silent = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(silent) }
        let bound = NetworkAddress(host: "127.0.0.1", port: 0)!.withSystemAddress { bind(silent, $0, $1) }
        #expect(bound == 0 && listen(silent, 1) == 0)
        let address = try #require(Socket.localAddress(silent))
        var timeouts = Connection.Timeouts()
        timeouts.handshakeMilliseconds = 50
        let recorder = Recorder()
        _ = try Connection.dial(.numeric(address), try .member(member), timeouts: timeouts) { recorder.handle($0, $1) }
        #expect(await recorder.ending() == .failed(.timedOut("the handshake with \(address)")))
    }
}
