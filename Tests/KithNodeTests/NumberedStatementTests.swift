import Glibc
import KithDocument
import KithTestSupport
import KithTransport
import Testing

@testable import KithNode

/// Statements with a number, policies and roles, on a disk that takes nothing.
@Suite(.timeLimit(.minutes(5))) struct NumberedStatementTests {
    private static let manual = Array(#"{"default":"manual"}"#.utf8)

    @Test func nobodyHearsOfANumberBeforeItIsOnDisk() async throws {
        let pair = try await NodePair()
        let (one, other) = (pair.one, pair.other)
        let service = NodeService(one)
        try await service.createDatabase("notes")
        let isThere = await eventually(within: 60) { other.catalog["notes"] != nil }
        #expect(isThere)
        try await service.requireKeptMembership()

        let path = "\(one.configuration.directory.path)/\(IdentityStore.membershipName)"
        try TestFolder.make(path + ".new")
        try TestFolder.make(path + ".new/x")
        await #expect(throws: ControlError.self) { _ = try await service.setPolicy(Self.manual, of: "notes") }
        await #expect(throws: ControlError.self) { _ = try await service.setRole("reader", of: other.id.description) }
        #expect(one.membership.policies.isEmpty && one.membership.changedRoles.isEmpty)
        let old = try Membership(trust: one.identity.trust, encoded: TestFolder.read(path))
        #expect(old.policies.isEmpty && old.changedRoles.isEmpty)

        TestFolder.remove(path + ".new")
        _ = try await service.setPolicy(Self.manual, of: "notes")
        let kept = try Membership(trust: one.identity.trust, encoded: TestFolder.read(path))
        #expect(kept.policy(of: "notes")?.number == 1 && kept.policy(of: "notes")?.json == Self.manual)
        let isTold = await eventually(within: 60) { other.membership.policy(of: "notes")?.number == 1 }
        #expect(isTold)
        let change = try await service.setRole("reader", of: other.id.description)
        #expect(change.isNew)
        let read = try Membership(trust: one.identity.trust, encoded: TestFolder.read(path))
        #expect(read.changedRoles.count == 1)
        let isReader = await eventually(within: 60) { other.role == .reader }
        #expect(isReader)
        await pair.stop()
    }

    @Test func whatIsSaidAtOnceGetsNumbersOneAfterTheOther() async throws {
        let pair = try await NodePair()
        let service = NodeService(pair.one)
        try await service.createDatabase("notes")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                let policy = number.isMultiple(of: 2) ? #"{"default":"latest"}"# : #"{"default":"manual"}"#
                group.addTask { _ = try await service.setPolicy(Array(policy.utf8), of: "notes") }
            }
            try await group.waitForAll()
        }
        #expect(pair.one.membership.policy(of: "notes")?.number == 8)
        await pair.stop()
    }
}
