import KithDocument
import Testing

/// Databases that come and go under their links.
@Suite(.timeLimit(.minutes(10))) struct DroppedDatabaseTests {
    @Test func databasesMayBeMadeAndDroppedWhileTheyAreReplicated() async throws {
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            let (ada, ben) = (nodes[0], nodes[1])
            try await nodes.makeDatabase("notes")
            let writer = Task {
                for round in 1...8 {
                    try await ada.kith("import", "notes", "-", input: Self.documents(round), within: 120)
                }
            }
            for _ in 1...8 {
                try await ben.kith("db", "delete", "notes", "--yes")
                #expect(try await ben.run(["get", "notes", "d1"]).status == 2)
                try await ben.kith("db", "create", "notes")
                try await ben.kith("put", "notes", "ben", #"{"n":1}"#)
            }
            try await writer.value
            try await nodes.settle("notes", within: 60)
            #expect(try await ben.kith("get", "notes", "d1") == #"{"round":8}"#)
            #expect(try await ada.kith("get", "notes", "ben") == #"{"n":1}"#)
            try await ben.stop()
            try await ben.start(peers: nodes)
            try await nodes.settle("notes")
            #expect(!ada.log.contains(" error ") && !ben.log.contains(" error "), "\(ben.log)")
        }
    }

    private static func documents(_ round: Int) -> [UInt8] {
        Array((1...200).map { "{\"_id\":\"d\($0)\",\"round\":\(round)}\n" }.joined().utf8)
    }
}
