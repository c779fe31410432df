import KithDocument
import KithNode
import Testing

/// The operations on members, as the router takes them.
@Suite struct ControlMembershipTests {
    let router = ControlRouterTests()

    @Test(arguments: [
        ("GET", "/v1/members", "", "members"), ("POST", "/v1/revocations?node=den", "", "revoke den 0 false"),
        ("POST", "/v1/revocations?node=den&dry_run=true", "key", "revoke den 3 true"),
        ("POST", "/v1/roles?node=den&role=reader", "", "role den reader"),
    ]) func eachOperationReachesTheService(method: String, target: String, body: String, call: String) async throws {
        let answer = try await router.ask(method, target, body: body)
        #expect(answer.status == 200)
        #expect(router.service.calls == [call])
    }

    @Test(arguments: [
        ("POST", "/v1/revocations"), ("POST", "/v1/revocations?node="), ("POST", "/v1/roles?node=den"),
        ("POST", "/v1/roles?node=den&role=king"), ("POST", "/v1/roles?role=reader"),
        ("GET", "/v1/revocations?node=den"),
        ("GET", "/v1/roles?node=den&role=reader"), ("POST", "/v1/members"), ("GET", "/v1/members?x=1"),
        ("POST", "/v1/revocations?node=den&dry_run=perhaps"),
    ]) func whatIsAskedWronglyReachesNobody(method: String, target: String) async throws {
        let answer = try await router.ask(method, target)
        #expect([400, 405].contains(answer.status), "\(answer.text)")
        #expect(router.service.calls.isEmpty)
    }

    @Test func errorsOfTheServicePass() async throws {
        for (method, target) in [
            ("GET", "/v1/members"), ("POST", "/v1/revocations?node=a"), ("POST", "/v1/roles?node=a&role=writer"),
        ] {
            router.service.fail(with: ControlError(.forbidden, "only an admin"))
            let answer = try await router.ask(method, target)
            #expect(answer.status == 403 && answer.json["message"]?.string == "only an admin")
        }
    }

    @Test func whatIsNotKnownIsNull() throws {
        var member = ControlMembers.Member(id: "aa")
        member.isRevoked = true
        let members = try JSONValue(parsing: ControlMembers(generatedAt: 0, members: [member]).json)
        #expect(members["schema"]?.string == "kith.members/1")
        let shown = try #require(members["members"]?[0])
        #expect(shown["name"] == .null && shown["role"] == .null && shown["admitted_by"] == .null)
        #expect(shown["revoked"]?.bool == true && shown["revoked_by"] == .null)
    }
}
