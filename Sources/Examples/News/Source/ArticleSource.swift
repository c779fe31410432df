import Foundation
import Kith

/// Where articles come from.
package protocol ArticleSource: Sendable {
    /// A page of articles, the newest on the first one, whose number is 1.
    /// - Throws: `ArticleSourceError`; `CancellationError`.
    func page(_ number: Int) async throws -> ArticlePage
}

/// Why a page did not come.
package enum ArticleSourceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Nobody answers, or the answer has not come in time.
    case unreachable(String)
    /// The answer ended before the page did.
    case interrupted(String)
    /// An answer with another status than 200.
    case status(Int)
    /// The pages are elsewhere. They are not followed: who the source is, is the user's choice.
    case moved(to: String)
    /// More bytes than a page has.
    case tooLarge
    /// What came is no page; a sentence says why.
    case noPage(String)

    /// Whether the source was not reached.
    var isOffline: Bool {
        switch self {
        case .unreachable, .interrupted: true
        case .status, .moved, .tooLarge, .noPage: false
        }
    }

    /// One sentence.
    package var description: String {
        switch self {
        case .unreachable(let reason): "the source was not reached: \(reason)"
        case .interrupted(let reason): "the page ended in the middle: \(reason)"
        case .status(let status): "the source answered with the status \(status)"
        case .moved(let address): "the source has moved to \(address): name that address instead"
        case .tooLarge: "the source sent more than the \(NewsLimits.pageBytes) bytes that a page may have"
        case .noPage(let reason): "the source sent what is no page: \(reason)"
        }
    }
}

/// A page, as far as it can be understood.
package struct ArticlePage: Hashable, Sendable {
    /// In the order of the source, each id once.
    package var articles: [Article]
    /// Why others of the page were left out; a sentence each.
    package var refusals: [String]
    /// Whether there is a page behind it.
    package var hasMore: Bool

    package init(articles: [Article], refusals: [String] = [], hasMore: Bool = false) {
        self.articles = articles
        self.refusals = refusals
        self.hasMore = hasMore
    }

    /// Reads `{"articles": [...], "more": true}`. An article that is none is left out, and the others are taken; what is no page
    /// is refused as a whole.
    /// - Throws: `ArticleSourceError`: `tooLarge`, `noPage`.
    package init(json: Data) throws(ArticleSourceError) {
        guard json.count <= NewsLimits.pageBytes else { throw .tooLarge }
        guard let text = String(data: json, encoding: .utf8) else { throw .noPage("it is no text in UTF-8") }
        let page: JSONValue
        do throws(KithError) { page = try JSONValue(json: text) } catch { throw .noPage(error.message) }
        guard let elements = page["articles"]?.array else { throw .noPage("it has no list of articles") }
        guard elements.count <= NewsLimits.pageArticles else {
            throw .noPage("it has \(elements.count) articles, and may have \(NewsLimits.pageArticles)")
        }
        guard let hasMore = (page["more"] ?? false).bool else { throw .noPage("/more is neither true nor false") }
        self.init(articles: [], hasMore: hasMore)

        var ids: Set<String> = []
        for (index, element) in elements.enumerated() {
            do throws(KithError) {
                guard element.kind == .object else {
                    throw KithError(.decoding, "", "articles[\(index)] is no object")
                }
                let article = try Document(id: "articles[\(index)]", element).decode(Article.self)
                if ids.insert(article.id).inserted {
                    articles.append(article)
                } else {
                    refusals.append("articles[\(index)] has the id of an earlier one")
                }
            } catch { refusals.append(error.message) }
        }
    }
}
