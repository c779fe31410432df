import Foundation
import Kith

/// The program `example-news`: what a command does, and what it prints.
package struct NewsProgram: Sendable {
    /// What can be written.
    package static let usage = """
        usage: example-news COMMAND --data FOLDER [--from ADDRESS]

          list: what is cached
          refresh [--pages COUNT]: fetches the first page of ADDRESS, or some, and lists
          watch: refreshes each hour, and lists what is new, until it is ended

        ADDRESS has the pages: ADDRESS/page-1.json, ADDRESS/page-2.json ... It is remembered.
        """

    private let print: @Sendable (String) -> Void

    /// - Parameter print: takes a line of the output.
    package init(print: @escaping @Sendable (String) -> Void) { self.print = print }

    /// Runs a command.
    /// - Parameter arguments: without the program's name.
    /// - Throws: `NewsUsageError` for what can't be run; what the database gives.
    @MainActor
    package func run(_ arguments: [String]) async throws {
        var words = arguments
        guard let folder = try Self.value(of: "--data", &words) else {
            throw NewsUsageError("--data FOLDER is missing")
        }
        let address = try Self.value(of: "--from", &words)
        let pages = try Self.value(of: "--pages", &words) ?? "1"
        guard let pages = Int(pages), pages > 0 else { throw NewsUsageError("--pages is a number above 0") }
        guard words.count == 1, let command = words.first, ["list", "refresh", "watch"].contains(command) else {
            throw NewsUsageError("one of list, refresh and watch is expected")
        }
        var options = DatabaseOptions()
        // What a power cut takes is fetched again.
        options.durability = .relaxed
        let database = try Database(NewsCache.name, in: URL(fileURLWithPath: folder), options: options)
        defer { database.close() }
        if let address { try await database.set(.source, to: address) }
        let cache = try await NewsCache(database)
        let model = try await NewsModel(cache, source: try await source(of: database, isNeeded: command != "list"))
        if command == "watch" { return try await watch(model, cache) }
        if command == "refresh" {
            await model.refresh()
            for _ in 1..<pages where model.failure == nil { await model.loadMore() }
        }
        let articles = try await cache.newest.fetch()
        for article in articles { show(article) }
        let state = NewsState(
            hasArticles: !articles.isEmpty, refreshedAt: model.refreshedAt, failure: model.failure, now: Date())
        show(state, model)
    }

    private func source(of database: Database, isNeeded: Bool) async throws -> any ArticleSource {
        let address = try await database.setting(.source)
        if address.isEmpty, !isNeeded { return NoSource() }
        guard let url = URL(string: address), url.scheme == "http" || url.scheme == "https" else {
            throw NewsUsageError("--from ADDRESS is missing, or no address of a web server")
        }
        return HTTPArticleSource(url)
    }

    @MainActor
    private func watch(_ model: NewsModel, _ cache: NewsCache) async throws {
        let timer = Task {
            await model.run { if let failure = model.failure { print("\(failure)") } }
        }
        defer { timer.cancel() }
        for try await result in try cache.newest.live() {
            for index in result.difference.inserted { show(result.rows[index]) }
        }
    }

    private func show(_ article: Article) {
        print("\(article.publishedAt.formatted(.iso8601))  \(article.title)  (\(article.author.name))")
    }

    @MainActor
    private func show(_ state: NewsState, _ model: NewsModel) {
        func since(_ time: Date?) -> String { time.map { "as of \($0.formatted(.iso8601))" } ?? "never fetched here" }
        switch state {
        case .empty: print("no articles")
        case .fresh(let time): print(since(time))
        case .stale(let time): print("\(since(time)): refresh fetches what is new")
        case .offline(let time), .faulty(let time): print("\(since(time)): \(model.failure.map { "\($0)" } ?? "")")
        }
        for refusal in model.refusals { print("left out: \(refusal)") }
    }

    private static func value(of option: String, _ words: inout [String]) throws(NewsUsageError) -> String? {
        guard let place = words.firstIndex(of: option) else { return nil }
        guard place + 1 < words.count else { throw NewsUsageError("\(option) wants a value") }
        defer { words.removeSubrange(place...place + 1) }
        return words[place + 1]
    }
}

/// What was written is nothing that the program can do.
package struct NewsUsageError: Error, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}

extension SettingKey where Value == String {
    /// Where the articles come from; empty before somebody has said it.
    fileprivate static var source: Self { Self("source", default: "") }
}

/// For who asks for nothing.
private struct NoSource: ArticleSource {
    func page(_ number: Int) async throws -> ArticlePage { ArticlePage(articles: []) }
}
