import ExampleNews
import Foundation
import Kith
import KithTestSupport
import KithTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct NewsCacheTests {
    private let database: Database
    private let cache: NewsCache
    private let now = TestClock().now

    init() async throws {
        database = try Database.inMemory(NewsCache.name)
        cache = try await NewsCache(database)
    }

    private func take(_ articles: [Article], number: Int = 1) async throws {
        #expect(try await cache.take(ArticlePage(articles: articles), number: number, at: now) == [])
    }

    @Test func `articles are inserted or changed, and what is the same is not written`() async throws {
        try await take([.test(2), .test(1)])
        let sequence = try database.summary().sequence
        try await take([.test(2), .test(1)])
        #expect(try database.summary().sequence == sequence)
        var changed = Article.test(1, title: "Mended")
        changed.images = nil
        try await take([.test(3), .test(2), changed])
        #expect(try await cache.newest.fetch() == [.test(3), .test(2), changed])
        #expect(try database.summary().sequence == sequence + 2)
        // It goes when it would have gone.
        #expect(try await database.document("a1")?.expiresAt == changed.expiresAt)
    }

    @Test func `the newest come first, by an index`() async throws {
        let lines = try await cache.newest.explain()
        #expect(lines.contains("index: articles-newest") && !lines.contains { $0.contains("TEMP B-TREE") }, "\(lines)")
    }

    @Test func `only the first page makes the news fresh`() async throws {
        try await take([.test(1)], number: 2)
        #expect(try await cache.refreshedAt() == nil)
        try await take([.test(1)])
        #expect(try await cache.refreshedAt() == now)
    }

    @Test func `what was deleted stays deleted, and what has expired is not taken`() async throws {
        try await take([.test(1)])
        try await database.delete("a1")
        var old = Article.test(0)
        old.publishedAt = now - 30 * 86_400
        try await take([.test(1), old])
        #expect(try await cache.newest.fetch() == [])
        #expect(try await database.document("a0") == nil)
    }

    @Test func `an article goes from the list at its time`() async throws {
        // Expiry goes by the machine's clock. One has half a second left of its thirty days, the other a day.
        var (soon, later) = (Article.test(1), Article.test(2))
        soon.publishedAt = Date() - 30 * 86_400 + 0.5
        later.publishedAt = soon.publishedAt + 86_400
        var lists = try cache.newest.live().makeAsyncIterator()
        #expect(try await lists.next()?.rows == [])
        let refused = try await cache.take(ArticlePage(articles: [later, soon]), number: 1, at: Date())
        #expect(refused == [])
        var ids = try await lists.next()?.rows.map(\.id)
        // On a slow machine it may have gone before the first look.
        if ids == ["a2", "a1"] { ids = try await lists.next()?.rows.map(\.id) }
        #expect(ids == ["a2"])
        // The source still has it: it stays hidden.
        _ = try await cache.take(ArticlePage(articles: [later, soon]), number: 1, at: Date() - 60)
        #expect(try await cache.newest.fetch().map(\.id) == ["a2"])
    }

    @Test func `a document that is no article is not overwritten, and the rest of the page is taken`() async throws {
        try await database.save(Document(id: "a1", ["type": "article", "title": 7]))
        let refused = try await cache.take(ArticlePage(articles: [.test(1), .test(2)]), number: 1, at: now)
        #expect(refused.count == 1 && refused[0].contains("a1") && refused[0].contains("/title"), "\(refused)")
        #expect(try await database.document("a1")?.int("title") == 7)
        #expect(try await database.document("a2") != nil)
    }

    @Test func `the same article fetched on two nodes is one revision, and an edit of it reaches both`() async throws {
        try await TestGroup.with(nodes: 2) { group in
            let here = try await group[0].database(NewsCache.name)
            #expect(await group.isInSync(NewsCache.name))
            let there = try await group[1].database(NewsCache.name)
            let (one, other) = (try await NewsCache(here), try await NewsCache(there))
            try await group.part()
            let page = ArticlePage(articles: [.test(1), .test(2)])
            _ = try await one.take(page, number: 1, at: now)
            _ = try await other.take(page, number: 1, at: now + 60)
            let revision = try #require(try await here.document("a1")?.revision)
            #expect(try await there.document("a1")?.revision == revision)
            try await group.meet()
            #expect(await group.isInSync(NewsCache.name))
            #expect(try await here.document("a1")?.revision == revision)
            #expect(try here.summary().conflicts == 0)

            // Both find it changed; and a third was fetched here alone.
            try await group.part()
            let mended = Article.test(1, title: "Mended")
            _ = try await one.take(ArticlePage(articles: [.test(3), mended]), number: 1, at: now)
            _ = try await other.take(ArticlePage(articles: [mended]), number: 1, at: now)
            try await group.meet()
            #expect(await group.isInSync(NewsCache.name))
            for cache in [one, other] {
                #expect(try await cache.newest.fetch() == [.test(3), .test(2), mended])
            }
            #expect(try here.summary().conflicts == 0)
        }
    }
}
