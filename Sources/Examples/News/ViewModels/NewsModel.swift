import Foundation
import Kith
import Observation

/// What a view of the news shows, and what a person can do there: bound to the main actor, observable.
///
/// What is cached is shown at once. `refresh` is pulled by hand; `run` does it by a timer, for as long as its task lives.
@MainActor
@Observable
package final class NewsModel {
    /// The articles, the newest first, as they are in the cache at any time.
    package let articles: ObservedQuery<Article>
    /// Whether a page is being fetched.
    package private(set) var isFetching = false
    /// Why the last fetching failed; nil where it did not.
    package private(set) var failure: (any Error)?
    /// What of the last page could not be taken; a sentence each.
    package private(set) var refusals: [String] = []
    /// Whether there is a page behind those that were fetched.
    package private(set) var hasMore = true
    /// When the first page was fetched the last time.
    package private(set) var refreshedAt: Date?

    /// Whether the first page had articles, which the list has a moment later.
    private var hasFound = false
    @ObservationIgnored private let cache: NewsCache
    @ObservationIgnored private let source: any ArticleSource
    @ObservationIgnored private let clock: any NewsClock
    @ObservationIgnored private var nextPage = 1
    @ObservationIgnored private var fetching: Task<Void, Never>?

    /// - Throws: what the database gives.
    package init(_ cache: NewsCache, source: any ArticleSource, clock: any NewsClock = SystemNewsClock()) async throws {
        self.cache = cache
        self.source = source
        self.clock = clock
        articles = ObservedQuery(try cache.newest.live())
        refreshedAt = try await cache.refreshedAt()
    }

    /// How good what is shown is, by now; to be asked once the list is there (`articles.isLoaded`).
    package var state: NewsState {
        NewsState(
            hasArticles: hasFound || !articles.rows.isEmpty, refreshedAt: refreshedAt, failure: failure, now: clock.now)
    }

    /// Fetches the first page. One at a time: who asks meanwhile waits for the one that is under way.
    package func refresh() async { await fetch(1) }

    /// Fetches the page behind those that were fetched, if there is one.
    package func loadMore() async { if hasMore { await fetch(nextPage) } }

    /// Refreshes whenever the news is an hour old, and a minute after a failure; ends with its task.
    /// - Parameter refreshed: is called after each time, whatever came of it.
    package func run(_ refreshed: () -> Void = {}) async {
        while !Task.isCancelled {
            let hour = NewsLimits.refreshSeconds
            // Where a clock was set back the news would be fresh for long.
            if failure != nil || due <= clock.now || due > clock.now + hour {
                await refresh()
                refreshed()
            }
            let next = failure == nil ? due : clock.now + NewsLimits.retrySeconds
            do { try await clock.sleep(until: next) } catch { return }
        }
    }

    private var due: Date { refreshedAt.map { $0 + NewsLimits.refreshSeconds } ?? clock.now }

    private func fetch(_ number: Int) async {
        if let fetching { return await fetching.value }
        let task = Task { await take(number) }
        fetching = task
        await task.value
    }

    private func take(_ number: Int) async {
        isFetching = true
        defer { (isFetching, fetching) = (false, nil) }
        do {
            let page = try await source.page(number)
            let time = clock.now
            refusals = page.refusals + (try await cache.take(page, number: number, at: time))
            if number == 1 { (refreshedAt, hasFound) = (time, !page.articles.isEmpty) }
            (nextPage, hasMore, failure) = (number + 1, page.hasMore, nil)
        } catch { failure = error }
    }
}
