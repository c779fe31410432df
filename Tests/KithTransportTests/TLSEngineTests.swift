import KithDocument
import KithTestSupport
import Testing

@testable import KithTransport

@Suite struct TLSEngineTests {
    let group: TestGroup
    let client: TLSEngine
    let server: TLSEngine

    init() throws {
        group = try TestGroup()
        client = try TLSEngine(try .member(try group.member()), .client)
        server = try TLSEngine(try .member(group.first), .server)
    }

    /// Moves ciphertext in pieces of this size; the receiver works after each.
    private func move(from: TLSEngine, to: TLSEngine, pieces: Int, work: (TLSEngine) throws -> Void) throws {
        while from.outputCount > 0 {
            var piece: [UInt8] = []
            from.takeOutput { (output: UnsafeRawBufferPointer) in
                piece = Array(output.prefix(pieces))
                return piece.count
            }
            piece.withUnsafeBytes { to.feed($0) }
            try work(to)
        }
    }

    private func handshake(pieces: Int) throws {
        while true {
            let complete = (try client.handshake(), try server.handshake())
            if complete == (true, true), client.outputCount == 0, server.outputCount == 0 { return }
            try move(from: client, to: server, pieces: pieces) { _ = try $0.handshake() }
            try move(from: server, to: client, pieces: pieces) { _ = try $0.handshake() }
        }
    }

    private func write(_ bytes: [UInt8], to engine: TLSEngine) throws {
        _ = try bytes.withUnsafeBytes { bytes in try Result { try engine.write(bytes) }.get() }
    }

    private func read(_ engine: TLSEngine, into received: inout [UInt8]) throws -> TLSEngine.ReadResult {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_000, alignment: 8)
        defer { buffer.deallocate() }
        while true {
            let result = try engine.read(into: buffer)
            guard case .bytes(let count) = result else { return result }
            received += buffer[..<count]
        }
    }

    @Test(arguments: [1, 7, 1_000, 1 << 20])
    func `a stream fed in pieces of any size comes out whole`(pieces: Int) throws {
        try handshake(pieces: pieces)
        #expect(client.peer == .member(group.first.peer))
        #expect(client.linkProtocol == .link && server.linkProtocol == .link)
        var random = SeededGenerator(seed: 31)
        var expected: [UInt8] = []
        var received: [UInt8] = []
        for count in [1, 100, 16_384, 16_385, 40_000] {
            let bytes = (0..<count).map { _ in UInt8(random.below(256)) }
            expected += bytes
            try write(bytes, to: client)
            try move(from: client, to: server, pieces: pieces) { _ = try read($0, into: &received) }
        }
        #expect(received == expected)
        client.finish()
        var last = TLSEngine.ReadResult.needsInput
        try move(from: client, to: server, pieces: pieces) { last = try read($0, into: &received) }
        #expect(last == .finished)
        // The other direction goes on.
        var answer: [UInt8] = []
        try write([4, 5, 6], to: server)
        try move(from: server, to: client, pieces: pieces) { _ = try read($0, into: &answer) }
        #expect(answer == [4, 5, 6])
    }

    @Test func `both sides export one key, and other connections another`() throws {
        try handshake(pieces: 1 << 20)
        let key = try client.exportKey(label: "EXPORTER-test")
        #expect(try server.exportKey(label: "EXPORTER-test") == key)
        #expect(try server.exportKey(label: "EXPORTER-other") != key)
        let other = try TLSEngineTests()
        try other.handshake(pieces: 1 << 20)
        #expect(try other.client.exportKey(label: "EXPORTER-test") != key)
    }

    @Test func `after the handshake the server says nothing by itself`() throws {
        try handshake(pieces: 1 << 20)
        // A session ticket would wait here.
        #expect(server.outputCount == 0)
        #expect(client.cipherSuite.hasPrefix("TLS_"))
    }

    @Test func `a changed byte anywhere is an error, and what came before it is delivered`() throws {
        try handshake(pieces: 1 << 20)
        try write([UInt8](repeating: 1, count: 20_000), to: client)
        var ciphertext: [UInt8] = []
        client.takeOutput { (output: UnsafeRawBufferPointer) in
            ciphertext = Array(output)
            return output.count
        }
        ciphertext[ciphertext.count - 1] ^= 1
        ciphertext.withUnsafeBytes { server.feed($0) }
        var received: [UInt8] = []
        #expect(throws: TransportError.self) { try read(server, into: &received) }
        #expect(received.count == 16_384, "the first record was whole")
        #expect(throws: TransportError.self) { try read(server, into: &received) }
    }

    @Test func `noise instead of a handshake is an error and never a trap`() throws {
        var random = SeededGenerator(seed: 32)
        let context = try TLSContext.member(group.first)
        let hello: [UInt8] = {
            _ = try? client.handshake()
            var bytes: [UInt8] = []
            client.takeOutput { (output: UnsafeRawBufferPointer) in
                bytes = Array(output)
                return output.count
            }
            return bytes
        }()
        for _ in 0..<500 {
            let engine = try TLSEngine(context, .server)
            var bytes = hello
            for _ in 0...random.below(4) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
            bytes.removeLast(random.below(bytes.count))
            bytes.withUnsafeBytes { engine.feed($0) }
            #expect((try? engine.handshake()) != true, "seed 32")
        }
    }
}
