import Glibc
import KithQuery
import KithTestSupport
import Testing

/// docs/query.md has the table of functions.
@Suite struct QueryPageTests {
    private static let page = String(#filePath[..<#filePath.lastIndex(of: "/")!]) + "/../../docs/query.md"

    private var table: [String] {
        QueryFunction.Group.allCases.flatMap { group in
            ["### \(group.rawValue)", "", "| function | gives | unknowns | example |", "|---|---|---|---|"]
                + QueryFunction.all.filter { $0.group == group }.map { row($0) } + [""]
        }
    }

    private func row(_ function: QueryFunction) -> String {
        let names = ([function.name] + function.aliases).joined(separator: ", ")
        let cells = [
            "`\(names)(\(function.parameters))`", function.summary, function.unknownsText,
            "`\(function.example.text)` → `\(function.example.result)`",
        ]
        return "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }

    /// To write it anew: `KITH_ACCEPT_GOLDEN=1`.
    @Test func thePageListsAllFunctions() throws {
        let page = try #require(TestFile.text(of: Self.page)).split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
        let first = try #require(page.firstIndex(of: "### Arrays"))
        let end = try #require(page[first...].firstIndex(of: "## Regular expressions"))
        if getenv("KITH_ACCEPT_GOLDEN") != nil {
            let text = (page[..<first] + table + page[end...]).joined(separator: "\n")
            let file = try #require(fopen(Self.page, "w"))
            fputs(text, file)
            fclose(file)
            return
        }
        #expect(Array(page[first..<end]) == table)
    }
}
