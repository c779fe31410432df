import Foundation
import Kith

extension SettingKey where Value == Date? {
    /// When this machine has fetched the first page the last time.
    static var refreshedAt: Self { Self("refreshedAt", default: nil) }
}

/// The articles that were fetched, here or on another node.
package struct NewsCache: Sendable {
    /// The name of the database, the same on all nodes. Of its own, since it needs no backup.
    package static let name = "news"

    private let database: Database
    private let articles: ModelCollection<Article>

    /// - Throws: `KithError`: what the disk gives.
    package init(_ database: Database) async throws {
        self.database = database
        articles = try database.collection(of: Article.self, type: "article")
        try await database.createIndex(DatabaseIndex("articles-newest", on: "type", "publishedAt", "META().id"))
    }

    /// The articles, the newest first; those that have expired are not among them.
    package var newest: ModelQuery<Article> {
        articles.order(\.publishedAt, .descending).order(\.id, .descending)
    }

    /// When this machine has fetched the first page the last time. It is of this machine alone, and is on its disk: a program that is
    /// started anew knows how old what it shows is.
    package func refreshedAt() async throws -> Date? { try await database.setting(.refreshedAt) }

    /// Takes a page in, as one transaction: all of it is there, or, where this throws, what was there before.
    ///
    /// An article that is new is written as initial data, so nodes that have fetched the same have one revision of it. One
    /// that is there is changed where the source has changed it, and what was deleted stays deleted.
    /// - Parameters:
    ///   - page: what has expired by then is left out.
    ///   - number: the first page is what makes the news fresh.
    /// - Returns: why articles could not be taken; a sentence each.
    package func take(_ page: ArticlePage, number: Int, at time: Date) async throws -> [String] {
        try await database.write { batch in
            var refusals: [String] = []
            for article in page.articles where article.expiresAt > time {
                do throws(KithError) { try take(article, batch) } catch {
                    // An id or a document that can't be an article; the rest of the page goes on.
                    guard error.code == .invalid || error.code == .decoding else { throw error }
                    refusals.append(error.message)
                }
            }
            if number == 1 { try batch.set(.refreshedAt, to: time) }
            return refusals
        }
    }

    private func take(_ article: Article, _ batch: WriteBatch) throws(KithError) {
        if try batch.document(article.id) == nil {
            var document = try articles.document(of: article)
            document.expiresAt = article.expiresAt
            try batch.saveInitial(document)
        } else {
            try batch.save(article, in: articles)
        }
    }
}
