import Foundation

/// How good what is shown is. Whatever it is, the articles that were cached are there.
package enum NewsState: Hashable, Sendable {
    /// There are no articles: nothing was fetched yet, or the source has none.
    case empty
    /// As the source had it then, less than an hour ago.
    case fresh(since: Date)
    /// As the source had it then, longer ago; nil where other nodes have brought what is there.
    case stale(since: Date?)
    /// The source was not reached the last time.
    case offline(since: Date?)
    /// The source has answered what is no news, or the cache failed; `NewsModel.failure` says how.
    case faulty(since: Date?)

    /// - Parameters:
    ///   - refreshedAt: when the first page was fetched the last time.
    ///   - failure: why the last fetching failed.
    package init(hasArticles: Bool, refreshedAt: Date?, failure: (any Error)?, now: Date) {
        if let failure {
            let isOffline = (failure as? ArticleSourceError)?.isOffline ?? false
            self = isOffline ? .offline(since: refreshedAt) : .faulty(since: refreshedAt)
        } else if !hasArticles {
            self = .empty
        } else if let refreshedAt, refreshedAt <= now, now < refreshedAt + NewsLimits.refreshSeconds {
            self = .fresh(since: refreshedAt)
        } else {
            self = .stale(since: refreshedAt)
        }
    }
}
