import Glibc
import KithHTTPCore
import KithTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(2))) struct HTTPStreamTests {
    @Test func linesArriveWhenTheyAreWritten() async throws {
        let allowed = Counter()
        let fixture = try ServerFixture { _ in
            HTTPResponse(
                status: 200,
                body: .stream { writer in
                    for number in 0..<5 {
                        while allowed.value < number { try await Task.sleep(for: .milliseconds(1)) }
                        try await writer.write(Array("line \(number)\n".utf8))
                    }
                })
        }
        defer { fixture.close() }
        let client = fixture.client
        let lines = try await onThread { () throws(HTTPError) in
            var lines: [String] = []
            _ = try client.lines(HTTPClientRequest(method: "GET", target: "/")) { _, line in
                lines.append(String(decoding: line, as: UTF8.self))
                allowed.add()
                return true
            }
            return lines
        }
        #expect(lines == (0..<5).map { "line \($0)" })
    }

    @Test func aStreamIsWholeAndTheWriterWaitsForTheReader() async throws {
        let written = Counter()
        let read = Counter()
        let ahead = Counter()
        let part = [UInt8](repeating: 7, count: 50_000)
        let fixture = try ServerFixture { _ in
            HTTPResponse(
                status: 200,
                body: .stream { writer in
                    for _ in 0..<400 {
                        try await writer.write(part)
                        written.add(part.count)
                        ahead.raise(to: written.value - read.value)
                    }
                })
        }
        defer { fixture.close() }
        let client = fixture.client
        let total = try await onThread { () throws(HTTPError) in
            var total = 0
            _ = try client.stream(HTTPClientRequest(method: "GET", target: "/")) { _, bytes in
                // A slow reader at first.
                if total < 2_000_000 { usleep(2_000) }
                total += bytes.count
                read.add(bytes.count)
                return true
            }
            return total
        }
        #expect(total == 20_000_000)
        #expect(ahead.value < 4_000_000, "the writer was \(ahead.value) bytes ahead")
    }

    @Test func aStreamThatFailsIsCutOffSoThatTheClientCanTell() async throws {
        let fixture = try ServerFixture { _ in
            HTTPResponse(
                status: 200,
                body: .stream { writer in
                    try await writer.write(Array("part\n".utf8))
                    throw HTTPError.interrupted("on purpose")
                })
        }
        defer { fixture.close() }
        await #expect(throws: HTTPError.self) { try await fixture.send("GET", "/") }
    }

    @Test func anEmptyStreamIsAnEmptyBody() async throws {
        let fixture = try ServerFixture { _ in HTTPResponse(status: 200, body: .stream { _ in }) }
        defer { fixture.close() }
        let answer = try await fixture.send("GET", "/")
        #expect(answer.head.status == 200 && answer.body.isEmpty)
    }

    @Test func aClientThatLeavesAnIdleStreamEndsIt() async throws {
        let started = Counter()
        let ended = Counter()
        let fixture = try ServerFixture { _ in
            HTTPResponse(
                status: 200,
                body: .stream { writer in
                    try await writer.write(Array("first\n".utf8))
                    started.add()
                    // Nothing more to say: only the cancellation ends this.
                    do { try await Task.sleep(for: .seconds(600)) } catch { ended.add() }
                })
        }
        defer { fixture.close() }
        let client = fixture.client
        _ = try await onThread { () throws(HTTPError) in
            try client.lines(HTTPClientRequest(method: "GET", target: "/")) { _, _ in false }
        }
        #expect(await eventually { ended.value == 1 })
        #expect(started.value == 1)
    }

    @Test func aClientThatLeavesABusyStreamEndsIt() async throws {
        let ended = Counter()
        let fixture = try ServerFixture { _ in
            HTTPResponse(
                status: 200,
                body: .stream { writer in
                    do { while true { try await writer.write([UInt8](repeating: 10, count: 10_000)) } } catch {
                        ended.add()
                    }
                })
        }
        defer { fixture.close() }
        let client = fixture.client
        _ = try await onThread { () throws(HTTPError) in
            var total = 0
            return try client.stream(HTTPClientRequest(method: "GET", target: "/")) { _, bytes in
                total += bytes.count
                return total < 1_000_000
            }
        }
        #expect(await eventually { ended.value == 1 })
    }

    @Test func aClientThatLeavesWhileTheHandlerThinksCancelsIt() async throws {
        let started = Counter()
        let ended = Counter()
        let fixture = try ServerFixture { _ in
            started.add()
            do { try await Task.sleep(for: .seconds(600)) } catch { ended.add() }
            return HTTPResponse(status: 200)
        }
        defer { fixture.close() }
        let descriptor = try rawConnection(to: fixture.socket)
        rawWrite(descriptor, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(await eventually(within: 180) { started.value == 1 })
        close(descriptor)
        #expect(await eventually(within: 180) { ended.value == 1 })
    }

    @Test func aClientThatClosesOnlyItsSendingHalfIsAnswered() async throws {
        let fixture = try ServerFixture { _ in
            try? await Task.sleep(for: .milliseconds(700))
            return HTTPResponse(status: 200, body: .bytes(Array("here".utf8)))
        }
        defer { fixture.close() }
        let descriptor = try rawConnection(to: fixture.socket)
        defer { close(descriptor) }
        rawWrite(descriptor, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        shutdown(descriptor, Int32(SHUT_WR))
        let answer = try await onThread { () throws(HTTPError) in rawRead(descriptor) }
        #expect(answer.hasPrefix("HTTP/1.1 200"))
        #expect(answer.hasSuffix("here"))
    }

    @Test func anImportLikeExchangeTakesTheBodyInAndStreamsItsReport() async throws {
        let fixture = try ServerFixture { request in
            HTTPResponse(
                status: 200,
                body: .stream { writer in
                    var total = 0
                    while let part = try await request.body.next() {
                        total += part.count
                        try await writer.write(Array("took \(part.count)\n".utf8))
                    }
                    try await writer.write(Array("total \(total)\n".utf8))
                })
        }
        defer { fixture.close() }
        let answer = try await fixture.send("POST", "/", body: [UInt8](repeating: 3, count: 3_000_000))
        #expect(String(decoding: answer.body, as: UTF8.self).hasSuffix("\ntotal 3000000\n"))
    }

    @Test func stoppingTheServerEndsStreamsAndWaitingHandlers() async throws {
        let ended = Counter()
        let started = Counter()
        let fixture = try ServerFixture { request in
            started.add()
            if request.target.segments == ["stream"] {
                return HTTPResponse(
                    status: 200,
                    body: .stream { _ in
                        do { try await Task.sleep(for: .seconds(600)) } catch { ended.add() }
                    })
            }
            do { try await Task.sleep(for: .seconds(600)) } catch { ended.add() }
            return HTTPResponse(status: 200)
        }
        async let one = try? fixture.send("GET", "/stream")
        async let other = try? fixture.send("GET", "/wait")
        #expect(await eventually { started.value == 2 })
        fixture.close()
        _ = await (one, other)
        #expect(await eventually { ended.value == 2 })
    }

    @Test func aSilentConnectionIsClosedAfterItsTime() async throws {
        let fixture = try ServerFixture(limits: .init(requestTimeoutSeconds: 1, transferTimeoutSeconds: 0)) { _ in
            HTTPResponse(status: 200)
        }
        defer { fixture.close() }
        let descriptor = try rawConnection(to: fixture.socket)
        defer { close(descriptor) }
        rawWrite(descriptor, "GET / HT")
        let answer = try await onThread { () throws(HTTPError) in rawRead(descriptor) }
        #expect(!answer.hasPrefix("HTTP/1.1 200"))
    }

    @Test func brokenRequestsNeverTrap() async throws {
        let fixture = try ServerFixture { request in
            _ = try? await request.body.collect(limit: 1_000)
            return HTTPResponse(status: 200)
        }
        defer { fixture.close() }
        let texts = [
            "\r\n\r\n", "GET\r\n\r\n", "GET  HTTP/1.1\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "G / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc",
            "GET /" + String(repeating: "a", count: 300_000) + " HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\n" + String(repeating: "A: b\r\n", count: 60_000) + "\r\n",
        ]
        for text in texts {
            let descriptor = try rawConnection(to: fixture.socket)
            rawWrite(descriptor, text)
            close(descriptor)
        }
        #expect(try await fixture.send("GET", "/").head.status == 200)
    }
}

func rawConnection(to path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let result = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
    guard result == 0 else { throw HTTPError.interrupted("no connection") }
    return descriptor
}

func rawWrite(_ descriptor: Int32, _ text: String) {
    let bytes = Array(text.utf8)
    var sent = 0
    while sent < bytes.count {
        let count = bytes[sent...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count <= 0 { return }
        sent += count
    }
}

/// Reads until the other side closes.
func rawRead(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
        let count = read(descriptor, &buffer, buffer.count)
        if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
        bytes += buffer[..<count]
    }
}
