import Dispatch
import Glibc
import KithDocument
import KithNetwork
import KithTestSupport
import Testing

@testable import KithTransport

@Suite struct ListenerTests {
    let group: TestGroup

    init() throws { group = try TestGroup() }

    private func listener(
        on endpoint: Endpoint = Endpoint(host: "127.0.0.1", port: 0), orNextPort: Bool = false,
        handshakeMilliseconds: Int = 120_000, pendingPerAddress: Int = 16, graceMilliseconds: Int = 120_000
    ) throws -> Listener {
        var timeouts = Connection.Timeouts()
        timeouts.handshakeMilliseconds = handshakeMilliseconds
        return try Listener(
            endpoint, orNextPort: orNextPort, context: try .member(group.first), timeouts: timeouts,
            pendingPerAddress: pendingPerAddress, graceMilliseconds: graceMilliseconds
        ) { _, _ in nil }
    }

    @Test func `a taken port is an error, or the next free one is used`() throws {
        let first = try listener()
        #expect(throws: TransportError.system("listening on \(first.address)", EADDRINUSE)) {
            try listener(on: .numeric(first.address))
        }
        let next = try listener(on: .numeric(first.address), orNextPort: true)
        #expect(next.port > first.port)
    }

    @Test func `a name is nothing to listen on`() throws {
        #expect(throws: TransportError.self) { try listener(on: Endpoint(host: "localhost", port: 0)) }
    }

    @Test func `a peer that says nothing is closed in time`() async throws {
        let listener = try listener(handshakeMilliseconds: 50)
        let silent = try RawSocket(to: listener.address)
        let partial = try RawSocket(to: listener.address)
        partial.send([0x16, 0x03, 0x01])
        #expect(await eventually { listener.counters.strangers == 2 })
        #expect(silent.receive() == [])
        #expect(partial.receive() == [])
        silent.close()
        partial.close()
        #expect(await eventually { listener.pendingHandshakes == 0 })
    }

    @Test func `handshakes under way are bounded for one address`() async throws {
        let listener = try listener(pendingPerAddress: 3)
        let sockets = try (0..<3).map { _ in try RawSocket(to: listener.address) }
        #expect(await eventually { listener.pendingHandshakes == 3 })
        let over = try RawSocket(to: listener.address)
        #expect(over.receive() == [])
        #expect(listener.counters.turnedAway == 1)
        sockets[0].close()
        #expect(await eventually { listener.pendingHandshakes == 2 })
        let after = try RawSocket(to: listener.address)
        #expect(await eventually { listener.pendingHandshakes == 3 })
        withExtendedLifetime((sockets, after)) {}
    }

    @Test func `who says nothing makes room for the next, the oldest first`() async throws {
        let server = try TestServer(try .member(group.first), graceMilliseconds: 0)
        let idle = try (0..<40).map { _ in try RawSocket(to: server.listener.address) }
        #expect(await eventually { server.listener.counters.accepted == 40 })
        let client = try Connection.dial(server.endpoint, try .member(try group.member())) { _, _ in }
        #expect(await eventually { !server.connections.isEmpty })
        // The oldest are closed, the latest still have their time.
        #expect(idle[0].receive() == [])
        #expect(server.listener.pendingHandshakes <= TransportLimits.pendingHandshakesPerAddress + 1)
        client.close()
        withExtendedLifetime(idle) {}
    }

    @Test func `an address that no interface has is told plainly`() throws {
        #expect(
            throws: TransportError.address(
                "no interface of this machine has the address 192.0.2.77 now; it must be there before the node starts")
        ) {
            try listener(on: Endpoint(host: "192.0.2.77", port: 0))
        }
    }

    @Test func `one port is listened on once, also by another family`() throws {
        let first = try listener(on: Endpoint(host: "::", port: 0))
        for host in ["127.0.0.1", "::1", "::", "0.0.0.0"] {
            #expect(throws: TransportError.self, "\(host)") {
                try listener(on: Endpoint(host: host, port: first.port))
            }
        }
        withExtendedLifetime(first) {}
    }

    @Test func `a stranger that stays after its refusal keeps its place until it is closed`() async throws {
        let listener = try listener(pendingPerAddress: 1)
        let stranger = try RawSocket(to: listener.address)
        stranger.send([UInt8](repeating: 0x41, count: 100))
        #expect(await eventually { listener.counters.strangers == 1 })
        #expect(await eventually { listener.pendingHandshakes == 0 })
        withExtendedLifetime(stranger) {}
    }

    @Test func `handshakes under way are bounded in all`() async throws {
        let listener = try listener(pendingPerAddress: 1_000)
        let sockets = try (0..<TransportLimits.pendingHandshakes + 6).map { _ in try RawSocket(to: listener.address) }
        #expect(await eventually { listener.counters.turnedAway == 6 })
        #expect(listener.pendingHandshakes == TransportLimits.pendingHandshakes)
        withExtendedLifetime(sockets) {}
    }

    @Test func `both families reach one listener, and addresses read as they are`() async throws {
        let server = try TestServer(try .member(group.first))
        for host in ["127.0.0.1", "::1"] {
            guard (try? RawSocket(to: NetworkAddress(host: host, port: server.listener.port)!)) != nil else { continue }
            let before = server.connections.count
            let client = try Connection.dial(
                Endpoint(host: host, port: server.listener.port), try .member(try group.member())
            ) { _, _ in }
            #expect(await eventually { server.connections.count == before + 1 })
            let remote = server.connections[before].remote
            #expect(remote.hasPrefix(host == "::1" ? "[::1]:" : "127.0.0.1:"), "\(remote)")
            client.close()
        }
    }

    @Test func `a stopped listener frees its port and leaves its connections`() async throws {
        let server = try TestServer(try .member(group.first))
        let client = try Connection.dial(server.endpoint, try .member(try group.member())) { _, _ in }
        #expect(await eventually { !server.connections.isEmpty })
        let port = server.listener.port
        server.listener.stop()
        #expect(await eventually { (try? listener(on: Endpoint(host: "::", port: port))) != nil })
        client.send([1])
        #expect(await server.recorder.wait { $0.bytes == [1] } != nil)
        client.close()
    }

    @Test func `out of descriptors, the listener waits and does not spin`() async {
        // In a process of its own, for the limit holds for all of it.
        await #expect(processExitsWith: .success) {
            let group = try TestGroup()
            let listener = try Listener(
                Endpoint(host: "127.0.0.1", port: 0), orNextPort: false, context: try .member(group.first)
            ) { _, _ in nil }
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            var none = rlimit(rlim_cur: rlim_t(client + 1), rlim_max: limit.rlim_max)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &none)
            let connected = listener.address.withSystemAddress { connect(client, $0, $1) }
            #expect(connected == 0)
            #expect(await eventually { listener.counters.outOfResources >= 2 })
            #expect(listener.counters.outOfResources < 20)
            #expect(listener.counters.accepted == 0)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            #expect(await eventually { listener.counters.accepted == 1 })
        }
    }
}
