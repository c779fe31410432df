import Glibc
import KithTestSupport
import Testing

/// Texts that are kept as files beside the tests. To accept new ones after reading them: `KITH_ACCEPT_GOLDEN=1`.
enum Golden {
    static func expect(_ lines: [String], _ name: String, at location: SourceLocation = #_sourceLocation) throws {
        try expect(lines, atPath: "\(folder)/Golden/\(name).txt", at: location)
    }

    /// The same for a file that is kept elsewhere, such as a page of the documents.
    static func expect(_ lines: [String], atPath path: String, at location: SourceLocation = #_sourceLocation) throws {
        let text = lines.map { $0 + "\n" }.joined()
        if getenv("KITH_ACCEPT_GOLDEN") != nil {
            try Command.write(text, to: path)
            return
        }
        let golden = try self.text(ofFile: path)
        if text == golden { return }
        let pairs = zip(
            text.split(separator: "\n", omittingEmptySubsequences: false),
            golden.split(separator: "\n", omittingEmptySubsequences: false))
        let first = pairs.first { $0 != $1 }
        Issue.record(
            "\(path) differs from its file; first: \(first.map { "\($0) instead of \($1)" } ?? "the length")\n\(text)",
            sourceLocation: location)
    }

    private static let folder = String(#filePath[..<#filePath.lastIndex(of: "/")!])

    static func text(ofFile path: String) throws -> String {
        try #require(TestFile.text(of: path), "there is no \(path)")
    }

}
