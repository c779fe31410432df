import ExampleNews
import Foundation
import Kith
import KithTestSupport
import KithTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
@MainActor
struct NewsModelTests {
    private let clock = TestClock()
    private let source = TestSource()
    private let database: Database
    private let cache: NewsCache
    private let model: NewsModel
    private let offline = ArticleSourceError.unreachable("no route")

    init() async throws {
        database = try Database.inMemory()
        cache = try await NewsCache(database)
        model = try await NewsModel(cache, source: source, clock: clock)
    }

    private func page(_ numbers: Range<Int>, hasMore: Bool = false) -> ArticlePage {
        ArticlePage(articles: numbers.reversed().map { .test($0) }, hasMore: hasMore)
    }

    /// Waits until the list has these.
    private func shows(_ ids: [String]) async -> Bool {
        let articles = model.articles
        return await eventually { @Sendable in await articles.rows.map(\.id) == ids }
    }

    @Test func `the states: empty, fresh, stale, offline, faulty, and fresh again`() async throws {
        #expect(model.state == .empty)
        source.set(1, .failure(offline))
        await model.refresh()
        #expect(model.state == .offline(since: nil))

        source.set(1, .success(page(0..<2)))
        await model.refresh()
        let fetched = clock.now
        #expect(await shows(["a1", "a0"]))
        #expect(model.state == .fresh(since: fetched))
        clock.advance(by: 3_599)
        #expect(model.state == .fresh(since: fetched))
        clock.advance(by: 1)
        #expect(model.state == .stale(since: fetched))

        source.set(1, .failure(offline))
        await model.refresh()
        #expect(model.state == .offline(since: fetched))
        source.set(1, .failure(ArticleSourceError.noPage("it is none")))
        await model.refresh()
        #expect(model.state == .faulty(since: fetched))
        #expect(model.articles.rows.map(\.id) == ["a1", "a0"])

        source.set(1, .success(page(1..<3)))
        await model.refresh()
        #expect(await shows(["a2", "a1", "a0"]))
        #expect(model.state == .fresh(since: clock.now) && model.failure == nil)
    }

    @Test func `a source that has nothing leaves it empty, without a failure`() async throws {
        await model.refresh()
        #expect(model.state == .empty && model.failure == nil && !model.hasMore)
    }

    @Test func `who is started anew knows how old the news is, and shows it at once`() async throws {
        source.set(1, .success(page(0..<1)))
        await model.refresh()
        let fetched = clock.now
        clock.advance(by: 7_200)
        let next = try await NewsModel(cache, source: source, clock: clock)
        let articles = next.articles
        #expect(await eventually { @Sendable in await articles.isLoaded })
        #expect(articles.rows.map(\.id) == ["a0"] && next.state == .stale(since: fetched))
        #expect(source.requests == [1])
    }

    @Test func `the next pages come until there is none, and a refresh begins anew`() async throws {
        source.set(1, .success(page(4..<6, hasMore: true)))
        source.set(2, .success(page(2..<5, hasMore: true)))
        source.set(3, .success(page(0..<2)))
        await model.refresh()
        for _ in 0..<4 { await model.loadMore() }
        #expect(source.requests == [1, 2, 3])
        #expect(await shows(["a5", "a4", "a3", "a2", "a1", "a0"]))
        await model.refresh()
        await model.loadMore()
        #expect(source.requests == [1, 2, 3, 1, 2])
    }

    @Test func `a page that fails is asked for again`() async throws {
        source.set(1, .success(page(2..<4, hasMore: true)))
        source.set(2, .failure(offline))
        await model.refresh()
        await model.loadMore()
        #expect(model.state == .offline(since: clock.now) && model.hasMore)
        source.set(2, .success(page(0..<2)))
        await model.loadMore()
        #expect(source.requests == [1, 2, 2] && model.failure == nil)
    }

    @Test func `who refreshes while it is under way waits for that one`() async throws {
        source.set(1, .success(page(0..<1)))
        source.shut()
        let (model, source) = (model, source)
        let both = [Task { await model.refresh() }, Task { await model.refresh() }]
        #expect(await eventually { @Sendable in source.requests == [1] })
        #expect(model.isFetching)
        source.open()
        for task in both { await task.value }
        #expect(source.requests == [1] && !model.isFetching && model.state != .empty)
    }

    @Test func `the timer refreshes each hour, a minute after a failure, and ends with its task`() async throws {
        source.set(1, .success(page(0..<1)))
        let (model, clock, source) = (model, clock, source)
        let start = clock.now
        let timer = Task { await model.run() }
        #expect(await clock.isAwaited(at: start + 3_600))
        #expect(source.requests.count == 1)

        // One by hand meanwhile: the next is an hour after that.
        clock.advance(by: 1_800)
        await model.refresh()
        clock.advance(by: 1_800)
        #expect(await clock.isAwaited(at: start + 5_400))
        #expect(source.requests.count == 2)

        source.set(1, .failure(offline))
        clock.advance(by: 1_800)
        #expect(await clock.isAwaited(at: start + 5_460))
        #expect(source.requests.count == 3 && model.state == .offline(since: start + 1_800))
        source.set(1, .success(page(0..<1)))
        clock.advance(by: 60)
        #expect(await clock.isAwaited(at: start + 9_060))
        #expect(source.requests.count == 4 && model.state == .fresh(since: start + 5_460))

        timer.cancel()
        await timer.value
        #expect(clock.nextWaking == nil)
        clock.advance(by: 7_200)
        #expect(source.requests.count == 4)
    }

    @Test func `news that is fresh is not fetched by the timer's start, and a clock set back fetches it`() async throws
    {
        source.set(1, .success(page(0..<1)))
        await model.refresh()
        clock.advance(by: 600)
        let (model, clock) = (model, clock)
        var timer = Task { await model.run() }
        #expect(await clock.isAwaited(at: clock.now + 3_000))
        #expect(source.requests.count == 1)
        timer.cancel()
        await timer.value
        clock.advance(by: -86_400)
        #expect(model.state == .stale(since: clock.now + 85_800))
        timer = Task { await model.run() }
        #expect(await clock.isAwaited(at: clock.now + 3_600))
        #expect(source.requests.count == 2)
        timer.cancel()
        await timer.value
    }

    @Test func `what of a page can't be kept is said, and the rest is there`() async throws {
        var article = Article.test(1)
        article.id = "_reserved"
        source.set(1, .success(ArticlePage(articles: [article, .test(0)], refusals: ["articles[2] is no object"])))
        await model.refresh()
        #expect(await shows(["a0"]))
        #expect(model.refusals.count == 2 && model.refusals[1].contains("_reserved") && model.failure == nil)
    }

    @Test func `a cache that fails is said, and is no reason to call the source away`() async throws {
        source.set(1, .success(page(0..<1)))
        database.close()
        await model.refresh()
        #expect((model.failure as? KithError)?.code == .closed && model.state == .faulty(since: nil))
    }
}
