import Glibc
import KithDocument
import KithTestSupport
import Testing

/// Damaged databases with real nodes: found, mended, and filled again by peers.
@Suite(.timeLimit(.minutes(10))) struct UpkeepTests {
    @Test func aDamagedDatabaseIsMendedFromItsPeers() async throws {
        try await Lab.open(nodes: 3) { lab in
            let nodes = try await lab.group(3)
            try await nodes.makeDatabase("stock")
            try await nodes[0].kith("import", "stock", "-", input: RestartTests.documents(1_000))
            let digest = try await nodes.settle("stock")

            let victim = nodes[1]
            try await victim.stop()
            await victim.willLose()
            try Self.destroyLeaves(of: victim.file("stock"), every: 5)
            try await victim.start(peers: nodes)
            let check = try await victim.run(["verify", "stock"])
            #expect(check.status == 1)
            #expect(check.outputText.contains("stock: document item-"), "\(check.outputText)")
            let codes = try await victim.status()["health"]?["checks"]?.array?.compactMap { $0["code"]?.string } ?? []
            #expect(codes.contains("DATABASE_DAMAGED"), "\(codes)")

            let repair = try await victim.run(["repair", "stock", "--wait", "60s"], within: 120)
            #expect(repair.status == 0, "\(repair.outputText)\(repair.errorText)")
            #expect(
                repair.errorText.contains("the old file is \(victim.file("stock")).damaged-"), "\(repair.errorText)")
            #expect(try await nodes.settle("stock") == digest)
            #expect(try await victim.lines("export", "stock").count == 1_000)
            #expect(try await victim.run(["verify"]).status == 0)
            let after = try await victim.status()["health"]?["checks"]?.array?.compactMap { $0["code"]?.string } ?? []
            #expect(!after.contains("DATABASE_DAMAGED"), "\(after)")
            // And what is written on it from now on reaches the others.
            try await victim.kith("put", "stock", "later", "{}")
            try await nodes.settle("stock")
            #expect(try await nodes[2].kith("get", "stock", "later") == "{}")
        }
    }

    @Test func whatOnlyTheDamagedNodeHadIsNamedAsLost() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("stock")
            try await nodes[0].kith("import", "stock", "-", input: RestartTests.documents(50))
            try await nodes.settle("stock")
            try await nodes[0].stop()
            let victim = nodes[1]
            try await victim.kith("put", "stock", "only-here", #"{"secret":"written on one node alone"}"#)
            try await victim.stop()
            await victim.willLose()
            try Self.replace("written on one node alone", "WRITTEN on one node alone", in: victim.file("stock"))
            try await nodes[0].start(peers: nodes)
            try await victim.start(peers: nodes)
            for node in nodes { try await node.kith("wait", "--peers", "1") }

            let check = try await victim.run(["verify", "stock", "--json"])
            #expect(check.status == 1)
            let found = try JSONValue(parsing: check.output)["databases"]?[0]?["found"]?.array ?? []
            #expect(found.map { $0["document"]?.string } == ["only-here"], "\(check.outputText)")
            #expect(!check.outputText.contains("alone"), "a finding shows the document's content")
            let repair = try await victim.run(["repair", "stock", "--wait", "60s"], within: 120)
            #expect(repair.status == 1, "\(repair.errorText)")
            #expect(repair.outputText.contains("document only-here: lost"), "\(repair.outputText)\(repair.errorText)")
            #expect(try await victim.run(["verify", "stock"]).status == 0)
            #expect(try await victim.lines("export", "stock").count == 50)
            try await nodes.settle("stock")
        }
    }

    @Test func withoutANodeTheFilesAreCheckedAndMendedDirectly() async throws {
        try await Lab.open(nodes: 1) { lab in
            let node = try await lab.group(1)[0]
            try await node.kith("db", "create", "stock")
            try await node.kith("import", "stock", "-", input: RestartTests.documents(200))
            // A running node has the directory: nobody works on its files beside it.
            #expect(try await node.run(["verify"]).status == 0)
            try await node.stop()
            #expect(try await node.run(["verify"]).status == 0)
            #expect(try await node.run(["verify", "none"]).status == 2)

            await node.willLose()
            try Self.overwrite(page: 1, of: node.file("stock"))
            let check = try await node.run(["verify"])
            #expect(check.status == 1, "\(check.errorText)")
            let repair = try await node.run(["repair"])
            #expect(repair.status == 0, "\(repair.outputText)\(repair.errorText)")
            #expect(try await node.run(["verify"]).status == 0)
            try await node.start()
            #expect(try await node.lines("export", "stock").count == 200)
        }
    }

    @Test func compactingGoesOnBesideWritesAndReads() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("stock")
            try await nodes[0].kith("import", "stock", "-", input: RestartTests.documents(3_000))
            try await nodes[0].kith("import", "stock", "-", input: Self.small(3_000))
            try await nodes.settle("stock")
            let load = try nodes[0].program(["import", "more", "-"])
            #expect(try await load.finish(within: 20).status == 2)
            let writes = try nodes[0].program(["import", "stock", "-"], input: Self.small(3_500))
            let compact = try await nodes[0].run(["compact", "stock", "--json"], within: 120)
            #expect(compact.status == 0, "\(compact.errorText)")
            #expect(try await writes.finish(within: 120).status == 0)
            let result = try #require(try JSONValue(parsing: compact.output)["databases"]?[0])
            let before = try #require(result["bytes_before"]?.natural)
            let after = try #require(result["bytes_after"]?.natural)
            #expect(after < before, "\(result)")
            try await nodes[0].kith("put", "stock", "later", "{}")
            try await nodes.settle("stock")
            #expect(try await nodes[0].run(["verify"]).status == 0)
            #expect(try await nodes[0].lines("export", "stock").count == 3_501)
        }
    }

    // MARK: Damage

    /// Documents that are shorter than those of `RestartTests`.
    static func small(_ count: Int) -> [UInt8] {
        Array((1...count).map { #"{"_id":"item-\#($0)","n":\#($0)}"# + "\n" }.joined().utf8)
    }

    private static let pageBytes = 4_096

    /// Overwrites each so-manieth page that holds rows of a table, but never the last.
    static func destroyLeaves(of path: String, every step: Int) throws {
        var bytes = Files.read(path)
        var leaves = 0
        for start in stride(from: 4 * pageBytes, to: bytes.count - pageBytes, by: pageBytes) where bytes[start] == 0x0D
        {
            // The rows of documents fill their pages; the small tables do not.
            guard Int(bytes[start + 3]) << 8 | Int(bytes[start + 4]) > 3 else { continue }
            leaves += 1
            guard leaves.isMultiple(of: step) else { continue }
            for offset in start..<(start + pageBytes) { bytes[offset] = 0x5A }
        }
        try #require(leaves > step, "only \(leaves) pages hold rows")
        try Files.write(bytes, to: path)
    }

    static func overwrite(page: Int, of path: String) throws {
        var bytes = Files.read(path)
        try #require(bytes.count >= page * pageBytes)
        for offset in ((page - 1) * pageBytes)..<(page * pageBytes) { bytes[offset] = 0x5A }
        try Files.write(bytes, to: path)
    }

    static func replace(_ text: String, _ other: String, in path: String) throws {
        var bytes = Files.read(path)
        let range = try #require(bytes.firstRange(of: Array(text.utf8)), "the text is not in \(path)")
        bytes.replaceSubrange(range, with: Array(other.utf8))
        try Files.write(bytes, to: path)
    }
}

extension TestNode {
    /// Where a database of it lies.
    func file(_ database: String) -> String { "\(directory)/databases/\(database).sqlite3" }
}
