import Glibc
import KithDocument
import KithNode
import KithTestSupport
import Testing

@Suite struct ControlTextTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (1_796_049_296_789, "2026-11-30T14:34:56.789Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (Int64.max, "9999-12-31T23:59:59.999Z"),
        (Int64.min, "0000-01-01T00:00:00.000Z"),
    ]) func timesAreRFC3339(milliseconds: Int64, text: String) {
        #expect(Timestamp.text(ofMilliseconds: milliseconds) == text)
    }

    @Test func timesAreReadBack() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<5_000 {
            let time = Int64(random.within(-62_167_219_200_000...253_402_300_799_999))
            #expect(Timestamp.milliseconds(of: Timestamp.text(ofMilliseconds: time)) == time, "seed 3, \(time)")
        }
        #expect(Timestamp.milliseconds(of: "1970-01-01T00:00:01.5Z") == 1_500)
    }

    @Test(arguments: [
        "", "1970", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01T00:00:00+01:00", "1970-13-01T00:00:00Z",
        "1970-01-01T24:00:00Z", "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00.xZ", "1970-01-01 00:00:00Z",
    ]) func otherTextsAreNoTimes(text: String) { #expect(Timestamp.milliseconds(of: text) == nil) }

    @Test func aMessageIsOneLineAndKeepsItsEnd() {
        let path = "/" + String(repeating: "p", count: 4_000)
        let error = ControlError(.failed, "can't read \(Shown.path(path)):\nmend it; then kith reload")
        #expect(error.message == "can't read \(path): mend it; then kith reload")
        let problem = ConfigurationProblem(.form, "\(path):17", "unknown key x; did you mean y?")
        #expect(problem.text == "\(path):17: unknown key x; did you mean y?")
    }

    @Test func whatOthersGaveIsCutInAMessage() {
        #expect(Shown.name("a\u{7}b\u{9b}c") == "a b c")
        let name = Shown.name(String(repeating: "n", count: 61))
        #expect(name.count == ControlLimits.shownCharacters && name.hasSuffix("…"))
    }

    @Test func whatIsWrittenIsJSON() throws {
        var random = SeededGenerator(seed: 4)
        let alphabet: [Character] = ["\"", "\\", "\n", "\t", "\r", "\0", "\u{1f}", "\u{7f}", "a", "ä", "😀", "\u{2028}"]
        for _ in 0..<500 {
            let text = String((0..<random.below(8)).map { _ in random.pick(alphabet) })
            var object = JSONObjectWriter()
            object.add("text", text)
            object.add("none", nil as String?)
            object.add("number", UInt64.max)
            object.add("yes", true)
            object.add("list", strings: [text, "b"])
            object.add("time", time: 0)
            let value = try JSONValue(parsing: object.bytes)
            #expect(value["text"]?.string?.utf8.elementsEqual(text.utf8) == true, "seed 4")
            #expect(value["none"] == JSONValue.null && value["yes"]?.bool == true)
            #expect(value["number"]?.natural == UInt64.max)
            #expect(value["list"]?.array?.count == 2)
            #expect(value["time"]?.string == "1970-01-01T00:00:00.000Z")
        }
    }

    @Test func theStatusHasTheFieldsThatOthersRelyOn() throws {
        var status = ControlStatus(generatedAt: 0)
        status.node.listen = ["[::]:5484"]
        status.databases = [ControlStatus.Database()]
        var peer = ControlStatus.Peer()
        peer.roundTripMilliseconds = 1.23456
        peer.candidates = [.init(address: "a:1", source: "static", lastTriedAt: nil, lastError: nil)]
        peer.databases = [ControlStatus.PeerDatabase()]
        status.peers = [peer]
        status.refusals = [ControlStatus.Refused()]
        status.checks = [.init(code: "C", level: .critical, summary: "s", action: "a", since: 1)]
        let json = try JSONValue(parsing: status.json)
        func names(_ value: JSONValue?) -> Set<String> { Set(value?.object?.keys ?? []) }
        let parts: Set = ["schema", "generated_at", "node", "health", "discovery", "databases", "peers"]
        #expect(parts.subtracting(names(json)) == [])
        let refusal = "node name address by reason count since last_at"
        #expect(names(json["refusals"]?[0]) == Set(refusal.words))
        let nodeNames = Set("id name group role version pid started_at listen data".words)
        #expect(nodeNames.subtracting(names(json["node"])) == [])
        #expect(names(json["health"]) == ["level", "checks"])
        #expect(json["health"]?["level"]?.string == "critical")
        #expect(names(json["health"]?["checks"]?[0]) == Set("code level summary action since muted_until".words))
        #expect(names(json["discovery"]) == Set("state since last_error foreign_groups interfaces".words))
        let database = "name path documents deleted conflicts sequence digest bytes wal_bytes in_sync_with peers"
        #expect(Set(database.words).subtracting(names(json["databases"]?[0])) == [])
        let peerNames =
            "id name state reason connected direction address since last_exchange_at round_trip_ms clock_offset_ms "
            + "sent_bytes received_bytes version protocol candidates databases"
        #expect(Set(peerNames.words).subtracting(names(json["peers"]?[0])) == [])
        #expect(json["peers"]?[0]?["round_trip_ms"]?.double == 1.235)
        let candidate = json["peers"]?[0]?["candidates"]?[0]
        #expect(names(candidate) == Set("address source last_tried_at last_error".words))
        let own = "name in_changes out_changes digest_equal pulled pushed refused"
        #expect(Set(own.words).subtracting(names(json["peers"]?[0]?["databases"]?[0])) == [])
        #expect(json["databases"]?[0]?["documents"] == JSONValue.null, "what is not known is null")
    }
}

extension String {
    fileprivate var words: [String] { split(separator: " ").map(String.init) }
}
