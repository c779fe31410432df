import Glibc
import KithDocument
import KithHTTPCore
import KithNode
import KithTestSupport
import Synchronization
import Testing

/// The control socket of a real server.
@Suite(.timeLimit(.minutes(1))) struct ControlServerTests {
    private func withServer(_ body: (ControlMemoryService, ControlServer, HTTPClient) throws -> Void) throws {
        let directory = TemporaryDirectory()
        let service = ControlMemoryService()
        let server = try ControlServer(service, directory: NodeDirectory(option: directory.path))
        defer { server.stop() }
        try body(service, server, HTTPClient(.unixSocket(server.socket)))
    }

    @Test func aDocumentGoesInAndComesOut() throws {
        try withServer { service, _, client in
            let target = HTTPTarget.encode(["v1", "databases", "db", "documents", "a/b + ü"])
            let body = Array(#"{"x":1}"#.utf8)
            let put = try client.send(HTTPClientRequest(method: "PUT", target: target, body: .bytes(body)))
            #expect(put.head.status == 201)
            let get = try client.send(HTTPClientRequest(method: "GET", target: target))
            #expect(get.body == body + [10])
            #expect(service.calls == ["put a/b + ü -", "get a/b + ü - false"])
        }
    }

    @Test func theStatusIsPushedWhenItChanges() throws {
        try withServer { service, _, client in
            var names: [String] = []
            let request = HTTPClientRequest(method: "GET", target: "/v1/status?watch=true")
            _ = try client.lines(request) { _, line in
                names.append((try? JSONValue(parsing: line))?["node"]?["name"]?.string ?? "?")
                var next = ControlMemoryService.shownStatus
                next.node.name = "den \(names.count)"
                let update = next
                service.state.withLock { state in for continuation in state.updates { continuation.yield(update) } }
                return names.count < 4
            }
            #expect(names == ["den", "den 1", "den 2", "den 3"])
        }
    }

    @Test func anUnknownDatabaseIsToldBeforeTheFileIsSent() throws {
        try withServer { _, _, client in
            var sent = 0
            let body = HTTPClientRequest.Body.stream(length: nil) { buffer in
                sent += buffer.count
                return sent > 100_000_000 ? 0 : buffer.count
            }
            let request = HTTPClientRequest(method: "POST", target: "/v1/databases/none/import", body: body)
            let answer = try client.send(request)
            #expect(answer.head.status == 404)
            #expect(sent < 10_000_000, "\(sent) bytes were sent for nothing")
        }
    }

    @Test func aMalformedPathIsAnErrorLikeOthers() throws {
        try withServer { _, _, client in
            let answer = try client.send(HTTPClientRequest(method: "GET", target: "/v1/%zz"))
            #expect(answer.head.status == 400)
            #expect(try JSONValue(parsing: answer.body)["error"]?.string == "usage")
        }
    }

    @Test func theSocketGoesWithTheServer() throws {
        var path = ""
        try withServer { _, server, _ in path = server.socket }
        #expect(access(path, F_OK) != 0)
    }
}
