import Kith
import KithTestSupport
import KithTesting
import Testing

struct PolicyTests {
    private static let together: JSONValue = ["default": "latest", "together": [["/status", "/completedAt"]]]

    @Test(.timeLimit(.minutes(2)))
    func `an admin's policy reaches the other nodes, and who has it may say it again`() async throws {
        try await TestGroup.with(nodes: 2) { group in
            _ = try await group[0].database("todo")
            #expect(await group.isInSync("todo"))
            #expect(try await group[0].policy(of: "todo") == ["default": "latest"])

            let refused = await #expect(throws: KithError.self) {
                try await group[1].setPolicy(Self.together, of: "todo")
            }
            #expect(refused?.code == .forbidden && refused?.message.contains("admin") == true)

            try await group[0].setPolicy(Self.together, of: "todo")
            #expect(try await group[0].policy(of: "todo") == Self.together)
            #expect(try await eventually { try await group[1].policy(of: "todo") == Self.together })
            try await group[1].setPolicy(Self.together, of: "todo")
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `what is no policy is refused with its path, and the one before holds`() async throws {
        try await TestGroup.with(nodes: 1) { group in
            _ = try await group[0].database("todo")
            for policy in [["default": "latest", "paths": ["/count": "most"]], [:], "latest"] as [JSONValue] {
                let error = await #expect(throws: KithError.self) {
                    try await group[0].setPolicy(policy, of: "todo")
                }
                #expect(error?.code == .invalid, "\(policy)")
            }
            #expect(try await group[0].policy(of: "todo") == ["default": "latest"])
            let unknown = await #expect(throws: KithError.self) { try await group[0].policy(of: "other") }
            #expect(unknown?.code == .notFound)
        }
    }
}
