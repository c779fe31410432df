import Foundation

/// An article, as the source sends it and as the cache keeps it: there it is a document of the type `article` whose id is the source's.
package struct Article: Codable, Identifiable, Hashable, Sendable {
    /// Who wrote it.
    package struct Author: Codable, Hashable, Sendable {
        package var name: String
        package var avatar: URL?

        package init(name: String, avatar: URL? = nil) {
            self.name = name
            self.avatar = avatar
        }
    }

    /// The source's id: the same on all nodes.
    package var id: String
    package var title: String
    package var summary: String?
    package var author: Author
    package var images: [URL]?
    package var publishedAt: Date

    package init(
        id: String, title: String, summary: String? = nil, author: Author, images: [URL]? = nil, publishedAt: Date
    ) {
        self.id = id
        self.title = title
        self.summary = summary
        self.author = author
        self.images = images
        self.publishedAt = publishedAt
    }

    /// When the cache gives it up. It follows from the article alone: a time that hung on the fetching would be another on each node, and
    /// the article another document with it.
    package var expiresAt: Date { publishedAt + NewsLimits.lifetimeSeconds }
}
