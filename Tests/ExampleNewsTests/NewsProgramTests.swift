import ExampleNews
import Foundation
import KithTestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct NewsProgramTests {
    private let directory = TemporaryDirectory()

    private func run(_ words: String...) async throws -> ProgramResult { try await run(words) }

    private func run(_ words: [String]) async throws -> ProgramResult {
        try await Program.run([Program.built("example-news")] + words + ["--data", directory.path])
    }

    @Test func `a refresh lists what came, and where the source is gone what was cached`() async throws {
        let published = Date().formatted(.iso8601)
        let empty = try await run("list")
        #expect(empty.status == 0 && empty.output == "no articles\n", "\(empty.text)")
        let server = try PageServer()
        defer { server.stop() }
        server.serve(
            1,
            """
            {"articles":[{"id":"a1","title":"Rain","author":{"name":"Ada"},"publishedAt":"\(published)"},{}]}
            """)
        let fetched = try await run("refresh", "--from", server.address.absoluteString)
        let lines = fetched.output.split(separator: "\n")
        #expect(fetched.status == 0 && lines.count == 3, "\(fetched.text)")
        #expect(lines.first == "\(published)  Rain  (Ada)")
        #expect(lines.dropFirst().first?.hasPrefix("as of ") == true)
        #expect(lines.last?.hasPrefix("left out: ") == true && lines.last?.contains("articles[1]") == true)

        let closed = try PageServer(.refuses)
        defer { closed.stop() }
        // The second time the address is remembered.
        for words in [["refresh", "--from", closed.address.absoluteString], ["refresh"]] {
            let gone = try await run(words)
            #expect(gone.status == 0 && gone.output.hasPrefix("\(published)  Rain  (Ada)\nas of "), "\(gone.text)")
            #expect(gone.output.contains("the source was not reached"), "\(gone.text)")
        }
        let cached = try await run("list")
        #expect(cached.output.hasPrefix("\(published)  Rain  (Ada)\nas of "), "\(cached.text)")
    }

    @Test func `as many pages are fetched as were asked for`() async throws {
        let server = try PageServer()
        defer { server.stop() }
        let published = Date().formatted(.iso8601)
        for number in 1...3 {
            server.serve(
                number,
                """
                {"articles":[{"id":"a\(number)","title":"T\(number)","author":{"name":"Ada"},"publishedAt":"\(published)"}],"more":true}
                """)
        }
        let fetched = try await run("refresh", "--pages", "2", "--from", server.address.absoluteString)
        #expect(
            fetched.status == 0 && fetched.output.hasPrefix("\(published)  T2  (Ada)\n\(published)  T1  (Ada)\nas of "))
        #expect(server.requests.count == 2)
    }

    @Test func `watching lists what comes at once, and says when nothing can`() async throws {
        let server = try PageServer()
        defer { server.stop() }
        let published = Date().formatted(.iso8601)
        server.serve(
            1,
            "{\"articles\":[{\"id\":\"a1\",\"title\":\"Rain\",\"author\":{\"name\":\"Ada\"},\"publishedAt\":\"\(published)\"}]}"
        )
        let closed = try PageServer(.refuses)
        defer { closed.stop() }
        for (address, line) in [
            (server.address, "\(published)  Rain  (Ada)"), (closed.address, "the source was not reached"),
        ] {
            let folder = TemporaryDirectory()
            let words = ["watch", "--from", address.absoluteString, "--data", folder.path]
            try await onThread {
                let program = try LineProcess([Program.built("example-news")] + words)
                _ = try program.wait(seconds: 60, for: "article") { $0.hasPrefix(line) }
                program.kill()
            }
        }
    }

    @Test func `what can't be done is said with the usage`() async throws {
        for (words, message) in [
            (["lost"], "one of list, refresh and watch is expected"), (["refresh"], "--from ADDRESS is missing"),
            (["refresh", "--pages", "0"], "--pages is a number above 0"),
            (["refresh", "--from", "ftp://x"], "--from ADDRESS is missing, or no address of a web server"),
        ] {
            let result = try await run(words)
            #expect(result.status == 64 && result.errors.hasPrefix("example-news: \(message)"), "\(result.text)")
            #expect(result.errors.contains("usage: example-news COMMAND"))
        }
    }
}
