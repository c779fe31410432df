import Glibc
import KithHTTPCore
import KithTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(2))) struct HTTPServerTests {
    @Test func aRequestReachesTheHandlerAsItWasSent() async throws {
        let fixture = try ServerFixture { request in
            let body = (try? await request.body.collect(limit: 100)) ?? []
            let lines = [
                request.method, request.target.rawPath, request.target.segments.joined(separator: "|"),
                request.target.value(of: "q") ?? "-", request.headers["x-test"] ?? "-",
                String(decoding: body, as: UTF8.self),
            ]
            return HTTPResponse(
                status: 201, headers: ["X-Reply": "yes"], body: .bytes(Array(lines.joined(separator: "\n").utf8)))
        }
        defer { fixture.close() }
        let (head, body) = try await fixture.send(
            "PUT", "/db/a%2Fb+c?q=1+1", headers: ["X-Test": "t"], body: Array("hello".utf8))
        #expect(head.status == 201)
        #expect(head.headers["x-reply"] == "yes")
        #expect(String(decoding: body, as: UTF8.self) == "PUT\n/db/a%2Fb+c\ndb|a/b+c\n1+1\nt\nhello")
    }

    @Test func anEmptyBodyIsABody() async throws {
        let fixture = try ServerFixture { request in
            let body = (try? await request.body.collect(limit: 10)) ?? [1]
            return HTTPResponse(status: body.isEmpty ? 204 : 500)
        }
        defer { fixture.close() }
        #expect(try await fixture.send("PUT", "/", body: []).head.status == 204)
        #expect(try await fixture.send("GET", "/").head.status == 204)
    }

    @Test(arguments: [1, 4_095, 262_144, 5_000_000, 20_000_000]) func bodiesOfAnySizeComeBackEqual(size: Int)
        async throws
    {
        let fixture = try ServerFixture { request in
            do {
                return HTTPResponse(status: 200, body: .bytes(try await request.body.collect(limit: 20_000_000)))
            } catch {
                return HTTPResponse(status: 500)
            }
        }
        defer { fixture.close() }
        // Made and compared in large parts: this is not optimised, and the threads that run tests are few.
        let part = (0..<4_099).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        var bytes: [UInt8] = []
        while bytes.count < size { bytes += part.prefix(size - bytes.count) }
        let answer = try await fixture.send("POST", "/", body: bytes)
        #expect(answer.head.status == 200)
        #expect(answer.body.count == size && memcmp(answer.body, bytes, size) == 0)
    }

    @Test func aBodyOverTheLimitIsRefusedWithAnAnswer() async throws {
        let fixture = try ServerFixture { request in
            do throws(HTTPError) {
                _ = try await request.body.collect(limit: 1_000)
                return HTTPResponse(status: 200)
            } catch {
                return HTTPResponse(status: error == .tooLarge(limit: 1_000) ? 413 : 500)
            }
        }
        defer { fixture.close() }
        #expect(try await fixture.send("POST", "/", body: [UInt8](repeating: 1, count: 1_000)).head.status == 200)
        #expect(try await fixture.send("POST", "/", body: [UInt8](repeating: 1, count: 1_001)).head.status == 413)
        #expect(try await fixture.send("POST", "/", body: [UInt8](repeating: 1, count: 9_000_000)).head.status == 413)
    }

    @Test func anAnswerBeforeTheBodyIsReadReachesTheClient() async throws {
        let fixture = try ServerFixture { _ in HTTPResponse(status: 404, body: .bytes(Array("no".utf8))) }
        defer { fixture.close() }
        let answer = try await fixture.send("POST", "/", body: [UInt8](repeating: 1, count: 30_000_000))
        #expect(answer.head.status == 404)
        #expect(answer.body == Array("no".utf8))
    }

    @Test func aStreamedRequestOfUnknownLengthArrivesWhole() async throws {
        let most = Counter()
        let fixture = try ServerFixture { request in
            var total = 0
            while let part = try? await request.body.next() {
                total += part.count
                most.raise(to: part.count)
            }
            return HTTPResponse(status: 200, body: .bytes(Array(String(total).utf8)))
        }
        defer { fixture.close() }
        let client = fixture.client
        let answer = try await onThread { () throws(HTTPError) in
            var left = 40_000_000
            let body = HTTPClientRequest.Body.stream(length: nil) { buffer in
                let count = min(left, buffer.count)
                left -= count
                return count
            }
            return try client.send(HTTPClientRequest(method: "POST", target: "/", body: body)).body
        }
        #expect(answer == Array("40000000".utf8))
        #expect(most.value < 1_000_000, "a part that the handler gets is bounded")
    }

    @Test func aClientThatGivesItsBodyUpEndsTheReading() async throws {
        let gone = Counter()
        let fixture = try ServerFixture { request in
            do { while try await request.body.next() != nil {} } catch { gone.add() }
            return HTTPResponse(status: 200)
        }
        defer { fixture.close() }
        let client = fixture.client
        await #expect(throws: HTTPError.self) {
            try await onThread { () throws(HTTPError) in
                var sent = 0
                let body = HTTPClientRequest.Body.stream(length: 10_000_000) { buffer in
                    if sent > 1_000_000 { return nil }
                    sent += buffer.count
                    return buffer.count
                }
                return try client.send(HTTPClientRequest(method: "POST", target: "/", body: body)).head
            }
        }
        #expect(await eventually { gone.value == 1 })
    }

    @Test func aHundredRequestsRunAtOnce() async throws {
        let inside = Counter()
        let fixture = try ServerFixture { request in
            inside.add()
            // Answers only when all are inside: each must have got its turn while the others wait.
            while inside.value < 100 { try? await Task.sleep(for: .milliseconds(2)) }
            return HTTPResponse(status: 200, body: .bytes(Array(request.target.segments[0].utf8)))
        }
        defer { fixture.close() }
        let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                group.addTask { try await fixture.send("GET", "/n\(number)").body == Array("n\(number)".utf8) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count == 100 && answers.allSatisfy { $0 })
    }

    @Test func handlersThatBlockTheirThreadHoldUpNobody() async throws {
        let release = Counter()
        let fixture = try ServerFixture { request in
            if request.target.segments == ["slow"] { while release.value == 0 { usleep(1_000) } }
            return HTTPResponse(status: 200)
        }
        defer { fixture.close() }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { try await fixture.send("GET", "/slow").head.status } }
            for _ in 0..<20 { #expect(try await fixture.send("GET", "/quick").head.status == 200) }
            release.add()
            for try await status in group { #expect(status == 200) }
        }
    }

    @Test func aMalformedTargetIsAnsweredWithoutTheHandler() async throws {
        let fixture = try ServerFixture { _ in HTTPResponse(status: 200) }
        defer { fixture.close() }
        #expect(try await fixture.send("GET", "/%zz").head.status == 400)
        #expect(try await fixture.send("GET", "/%fe").head.status == 400)
    }

    @Test func theSocketIsForThisUserOnlyAndGoesWithTheServer() async throws {
        let fixture = try ServerFixture { _ in HTTPResponse(status: 200) }
        var status = stat()
        #expect(stat(fixture.socket, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        fixture.close()
        #expect(stat(fixture.socket, &status) != 0)
    }

    @Test func aSocketLeftBehindIsReplacedAndAnotherFileIsNot() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s"
        defer { unlink(path) }
        do { _ = try HTTPListener.unixSocket(path) }
        _ = try HTTPListener.unixSocket(path)
        unlink(path)
        close(open(path, O_CREAT | O_WRONLY, 0o600))
        #expect(throws: HTTPError.self) { _ = try HTTPListener.unixSocket(path) }
        #expect(throws: HTTPError.self) {
            _ = try HTTPListener.unixSocket(directory.path + "/" + String(repeating: "x", count: 120))
        }
    }

    @Test func aServerOnTCPTellsItsPortAndAnswersThere() async throws {
        let server = try HTTPServer(listener: .tcp(host: "127.0.0.1", port: 0), limits: .network) { _ in
            HTTPResponse(status: 200, body: .bytes([42]))
        }
        defer { server.stop() }
        let port = try #require(server.port)
        #expect(port > 0 && server.address == "127.0.0.1:\(port)")
        let body = try await onThread { () throws(HTTPError) in
            try HTTPClient(.tcp("127.0.0.1:\(port)")).send(HTTPClientRequest(method: "GET", target: "/")).body
        }
        #expect(body == [42])
        #expect(throws: HTTPError.self) { _ = try HTTPListener.tcp(host: "127.0.0.1", port: port) }
    }

    @Test func nobodyListeningIsAnErrorOfItsOwn() async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/none"
        #expect(throws: HTTPError.cannotConnect(path, reason: "No such file or directory")) {
            _ = try HTTPClient(.unixSocket(path)).send(HTTPClientRequest(method: "GET", target: "/"))
        }
        do { _ = try HTTPListener.unixSocket(path) }
        defer { unlink(path) }
        #expect(throws: HTTPError.cannotConnect(path, reason: "Connection refused")) {
            _ = try HTTPClient(.unixSocket(path)).send(HTTPClientRequest(method: "GET", target: "/"))
        }
    }
}
