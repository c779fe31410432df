import ExampleNews
import Foundation
import Kith
import KithTestSupport
import KithTesting
import Testing

/// What a server can send, as the state that a person sees.
@Suite(.timeLimit(.minutes(5)))
@MainActor
final class HTTPArticleSourceTests {
    private static let page = """
        {"articles":[{"id":"a1","title":"Rain","author":{"name":"Ada"},"publishedAt":"2026-12-01T07:15:00Z"}],"more":true}
        """
    private nonisolated static let large = String(repeating: "a", count: 2 << 20)

    private let server: PageServer
    private let clock = TestClock()
    private let cache: NewsCache

    init() async throws {
        server = try PageServer()
        cache = try await NewsCache(Database.inMemory())
    }

    deinit { server.stop() }

    @Test func `pages come one after the other`() async throws {
        server.serve(1, Self.page)
        server.serve(2, Self.page.replacing("a1", with: "a2").replacing("true", with: "false"))
        let model = try await NewsModel(cache, source: HTTPArticleSource(server.address), clock: clock)
        await model.refresh()
        #expect(model.failure == nil && model.hasMore)
        await model.loadMore()
        await model.loadMore()
        #expect(model.failure == nil && !model.hasMore)
        #expect(server.requests == ["/news/page-1.json", "/news/page-2.json"])
        #expect(try await cache.newest.fetch().map(\.id) == ["a2", "a1"])
    }

    nonisolated static let answers: [(String, ArticleSourceError)] = [
        ("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", .status(503)),
        (
            "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            .moved(to: "/elsewhere")
        ),
        ("HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n", .status(304)),
        ("HTTP/1.1 200 OK\r\nContent-Length: \(2 << 20)\r\nConnection: close\r\n\r\n\(large)", .tooLarge),
        ("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\(large)", .tooLarge),
    ]

    @Test(arguments: answers.indices)
    func `an answer that is no page is said, and what was cached stays`(index: Int) async throws {
        let (answer, expected) = Self.answers[index]
        let model = try await failed(answer)
        #expect(model.failure as? ArticleSourceError == expected)
        #expect(model.state == .faulty(since: clock.now))
        #expect(server.requests == ["/news/page-1.json", "/news/page-1.json"])
    }

    @Test func `a page that ends in the middle is none, and what was cached stays`() async throws {
        let half = Self.page.prefix(60)
        let promised = "HTTP/1.1 200 OK\r\nContent-Length: \(Self.page.utf8.count)\r\nConnection: close\r\n\r\n\(half)"
        let cut = try await failed(promised)
        guard case .interrupted = cut.failure as? ArticleSourceError else {
            Issue.record("\(cut.failure!)")
            return
        }
        #expect(cut.state == .offline(since: clock.now))
        let unsaid = try await failed("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\(half)")
        guard case .noPage = unsaid.failure as? ArticleSourceError else {
            Issue.record("\(unsaid.failure!)")
            return
        }
        #expect(unsaid.state == .faulty(since: clock.now))
    }

    @Test func `where nobody answers the news is offline, and what was cached stays`() async throws {
        server.serve(1, Self.page)
        await (try await NewsModel(cache, source: HTTPArticleSource(server.address), clock: clock)).refresh()
        let closed = try PageServer(.refuses)
        defer { closed.stop() }
        let model = try await NewsModel(cache, source: HTTPArticleSource(closed.address), clock: clock)
        await model.refresh()
        guard case .unreachable = model.failure as? ArticleSourceError else {
            Issue.record("\(model.failure as Any)")
            return
        }
        #expect(model.state == .offline(since: clock.now))
        #expect(try await cache.newest.fetch().map(\.title) == ["Rain"])
    }

    @Test func `a source that never answers counts as not reached after a while`() async throws {
        let silent = try PageServer(.silent)
        defer { silent.stop() }
        let error = await #expect(throws: ArticleSourceError.self) {
            try await HTTPArticleSource(silent.address, silenceSeconds: 1).page(1)
        }
        guard case .unreachable = error else {
            Issue.record("\(error as Any)")
            return
        }
    }

    @Test func `a request ends with its task, whenever that is cancelled`() async throws {
        let silent = try PageServer(.silent)
        defer { silent.stop() }
        let source = HTTPArticleSource(silent.address)
        for pauses in 0..<40 {
            let request = Task { try await source.page(1) }
            for _ in 0..<pauses { await Task.yield() }
            request.cancel()
            await #expect(throws: CancellationError.self) { try await request.value }
        }
    }

    /// A model that was refreshed, and then got this answer.
    private func failed(_ answer: String) async throws -> NewsModel {
        server.serve(1, Self.page)
        let model = try await NewsModel(cache, source: HTTPArticleSource(server.address), clock: clock)
        await model.refresh()
        #expect(model.failure == nil)
        server.answer(1, answer)
        await model.refresh()
        #expect(try await cache.newest.fetch().map(\.title) == ["Rain"])
        #expect(try await cache.refreshedAt() == clock.now)
        return model
    }
}
