import ExampleNews
import Foundation
import Testing

struct ArticlePageTests {
    private static let article = """
        {"id":"a1","title":"Rain","author":{"name":"Ada"},"images":["https://example.org/1.png"],"publishedAt":"2026-11-30T07:15:00Z"}
        """

    private func page(_ json: String) throws(ArticleSourceError) -> ArticlePage {
        try ArticlePage(json: Data(json.utf8))
    }

    private func refusal(_ json: String) -> ArticleSourceError? {
        do throws(ArticleSourceError) { _ = try page(json) } catch { return error }
        return nil
    }

    @Test func `a page has articles, and says whether there are more`() throws {
        let page = try page("{\"articles\":[\(Self.article)],\"more\":true,\"later\":\"unknown\"}")
        let article = Article(
            id: "a1", title: "Rain", author: Article.Author(name: "Ada"),
            images: [URL(string: "https://example.org/1.png")!],
            publishedAt: Date(timeIntervalSince1970: 1_796_022_900))
        #expect(page == ArticlePage(articles: [article], hasMore: true))
        #expect(try self.page("{\"articles\":[]}") == ArticlePage(articles: []))
    }

    @Test func `a page that ends anywhere before its end is none`() throws {
        let json = "{\"articles\":[\(Self.article)],\"more\":true}"
        for count in 0..<json.utf8.count {
            let error = refusal(String(json.utf8.prefix(count)) ?? "")
            guard case .noPage(let reason) = error else {
                Issue.record("\(count) bytes are a page")
                return
            }
            #expect(reason.contains("line 1"), "\(reason)")
        }
    }

    @Test(arguments: [
        ("<html>", "line 1"), ("[]", "no list of articles"), ("{}", "no list of articles"),
        ("{\"articles\":{}}", "no list of articles"), ("{\"articles\":[],\"more\":1}", "neither true nor false"),
        ("{\"articles\":[],\"articles\":[]}", "a key occurs twice"),
        ("{\"articles\":[\(Array(repeating: "1", count: 201).joined(separator: ","))]}", "may have 200"),
    ])
    func `what is no page says why`(json: String, reason: String) throws {
        guard case .noPage(let said) = refusal(json) else {
            Issue.record("\(json) is a page")
            return
        }
        #expect(said.contains(reason), "\(said)")
    }

    @Test func `bytes that are no text, and too many, are no page`() throws {
        #expect(throws: ArticleSourceError.noPage("it is no text in UTF-8")) {
            try ArticlePage(json: Data([0xff, 0x7b]))
        }
        let large = "{\"articles\":[],\"x\":\"\(String(repeating: "a", count: 1 << 20))\"}"
        #expect(refusal(large) == .tooLarge)
    }

    @Test(arguments: [
        (#"{"id":"a2","title":1,"author":{"name":"Bo"},"publishedAt":"2026-11-30T07:15:00Z"}"#, "/title"),
        (#"{"id":"a2","title":"x","author":"Bo","publishedAt":"2026-11-30T07:15:00Z"}"#, "/author"),
        (#"{"id":"a2","title":"x","author":{"name":"Bo"},"publishedAt":"yesterday"}"#, "/publishedAt"),
        (#"{"id":"a2","title":"x","author":{"name":"Bo"}}"#, "/publishedAt"),
        (#"{"title":"x","author":{"name":"Bo"},"publishedAt":"2026-11-30T07:15:00Z"}"#, "/id"),
        ("7", "no object"), (article, "the id of an earlier one"),
    ])
    func `an article that is none is left out and named, and the others are there`(json: String, named: String) throws {
        let page = try page("{\"articles\":[\(Self.article),\(json)]}")
        #expect(page.articles.map(\.id) == ["a1"])
        #expect(page.refusals.count == 1)
        #expect(page.refusals[0].contains("articles[1]") && page.refusals[0].contains(named), "\(page.refusals)")
    }
}
