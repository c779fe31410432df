import Foundation
import Kith
import KithTesting

/// Runs README's lines in a folder of its own, then what a program's tests would do.
@main struct Stranger {
    static func main() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "kith-stranger-\(UUID().uuidString.prefix(8))")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await run(in: folder)
        try await TestGroup.with(nodes: 2) { group in
            let den = try await group[0].database("notes")
            try await den.save(Document(id: "a", ["text": "hi"]))
            guard await group.isInSync("notes") else { throw Failure(what: "two nodes are not in sync") }
            let there = try await group[1].database("notes").document("a")?.string("text")
            guard there == "hi" else { throw Failure(what: "the second node has not what the first wrote") }
        }
        print("ok")
    }
}

struct Failure: Error { let what: String }
