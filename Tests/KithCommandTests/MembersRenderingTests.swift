import KithDocument
import KithNode
import Testing

@testable import kith

/// Texts on members, and on those who are turned away.
@Suite struct MembersRenderingTests {
    private static let ids = (1...5).map { number in String(repeating: "\(number)a", count: 32) }

    private static func members() throws -> JSONValue {
        func member(_ index: Int, _ name: String?, _ role: String?, by admin: Int?) -> ControlMembers.Member {
            var member = ControlMembers.Member(id: ids[index])
            member.name = name
            member.role = role
            member.admittedBy = admin.map { ids[$0] }
            return member
        }
        var ada = member(0, "ada", "admin", by: 0)
        ada.isSelf = true
        var ben = member(1, "ben", "writer", by: 0)
        ben.isRevoked = true
        ben.revokedBy = ids[2]
        var cleo = member(2, "cleo", "admin", by: 2)
        cleo.isConnected = true
        var dora = member(3, "a-reader-with-a-rather-long-name", "reader", by: 2)
        dora.isRevoked = true
        dora.revokedBy = "root"
        let unknown = member(4, nil, nil, by: nil)
        return try JSONValue(
            parsing: ControlMembers(generatedAt: 0, members: [ada, ben, cleo, dora, unknown]).json)
    }

    @Test(arguments: [60, 80]) func membersKeepToTheWidth(width: Int) throws {
        let lines = MembersRenderer(try Self.members(), width: width, colour: false).lines()
        for line in lines { #expect(Display.cells(line) <= width, "\(line)") }
        try Golden.expect(lines, "members-\(width)")
    }

    @Test func membersAreNeverCutWhenPiped() throws {
        let lines = MembersRenderer(try Self.members(), width: nil, colour: false).lines()
        #expect(
            lines.contains { $0.contains("a-reader-with-a-rather-long-name") && $0.contains("revoked by the root") })
        #expect(lines.last == "3 members known, 2 admins")
    }

    @Test func theStatusTellsWhoWasRefusedAndWhatIsAdvised() throws {
        let status = try RenderingTests.status { status in
            status.checks = [
                .init(
                    code: "SINGLE_ADMIN", level: .ok, summary: "this node is the only admin known",
                    action: "make a second one", since: nil)
            ]
            var stranger = ControlStatus.Refused()
            stranger.address = "10.0.0.66"
            stranger.reason = "it is not in this group (self-signed certificate)"
            stranger.count = 3
            stranger.lastAt = status.generatedAt - 61_000
            var peer = ControlStatus.Refused()
            peer.node = Self.ids[0]
            peer.name = "ada"
            peer.isByPeer = true
            peer.reason = "broke the protocol: feed 1 was not opened"
            peer.lastAt = status.generatedAt
            // Its reason stands at the peer already.
            var attic = ControlStatus.Refused()
            attic.node = status.peers[2].id
            attic.reason = "not shown twice"
            status.refusals = [stranger, peer, attic]
        }
        let lines = StatusRenderer(status, width: 80, colour: false).lines()
        for line in lines { #expect(Display.cells(line) <= 80, "\(line)") }
        #expect(lines[0] == "health     ok")
        #expect(!lines.contains { $0.contains("not shown twice") })
        try Golden.expect(lines, "status-refusals")
        // One line is one line: advice is no problem.
        #expect(!StatusRenderer(status, width: 80, colour: false).brief().contains { $0.contains("SINGLE_ADMIN") })
    }

    @Test func theQuestionNamesWhoIsAffected() {
        let question = MembershipCommands.question("ada (1a1a1a1a)", ["role": "admin"], affected: ["ben (2a2a2a2a)"])
        #expect(question.contains("With it end ben (2a2a2a2a)") && question.hasSuffix("[y/N] "))
        #expect(!MembershipCommands.question("ben", ["role": "writer"], affected: []).contains("With it"))
    }
}
