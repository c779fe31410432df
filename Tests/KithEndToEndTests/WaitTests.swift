import Glibc
import KithDocument
import Testing

/// What scripts ask: is it everywhere?
@Suite(.timeLimit(.minutes(10))) struct WaitTests {
    @Test func afterAWaitWhatWasWrittenHereIsReadThere() async throws {
        let rounds = getenv("KITH_LONG_TESTS") == nil ? 20 : 500
        try await Lab.open(nodes: 2) { lab in
            let nodes = try await lab.group(2)
            try await nodes.makeDatabase("notes")
            for round in 1...rounds {
                let (writer, reader) = round.isMultiple(of: 2) ? (nodes[0], nodes[1]) : (nodes[1], nodes[0])
                try await writer.kith("put", "notes", "one", #"{"round":\#(round)}"#)
                try await writer.kith("wait", "--in-sync", "notes", "--timeout", "30s")
                #expect(try await reader.kith("get", "notes", "one") == #"{"round":\#(round)}"#)
            }
        }
    }
}
