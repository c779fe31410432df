import Foundation
import Testing

/// The pages that begin the reference (`make docs`).
struct ReferenceTests {
    private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test(arguments: ["Kith", "KithQueryBuilder"])
    func `every public type is in a group of its module's page`(module: String) throws {
        let page = try String(
            contentsOf: root.appending(path: "Sources/Kith/Kith.docc/\(module).md"), encoding: .utf8)
        let grouped = Set(page.matches(of: /(?m)^- ``(\w+)``$/).map { String($0.1) })
        let folder = root.appending(path: "Sources/\(module)")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var types: [String] = []
        for case let file as URL in try #require(files) where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            let found = text.matches(of: /(?m)^public (?:final )?(?:struct|class|enum|protocol|typealias|actor) (\w+)/)
            types += found.map { String($0.1) }
        }
        #expect(types.count > 20)
        for type in types.sorted() { #expect(grouped.contains(type), "\(type) is in no group of \(module).md") }
    }
}
