import Foundation
import Testing

struct ReadmeTests {
    /// The top of the package.
    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func `README shows what the package of a stranger builds`() throws {
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        let code = try String(
            contentsOf: root.appending(path: "Tests/Stranger/Sources/Stranger/Readme.swift"), encoding: .utf8)
        #expect(readme.contains("```swift\n\(code)```"))
    }
}
