import KithHTTPCore
import KithTestSupport
import Testing

@testable import KithNode

@Suite struct MetricsTests {
    static func metrics() -> ControlMetrics {
        var status = ControlStatus(generatedAt: 1_796_049_296_000)
        status.node.id = "4f7a2b9c"
        status.node.name = "living \"room\"\\\n"
        status.node.group = "home"
        status.node.role = "admin"
        status.node.version = "0.1.0"
        status.node.startedAt = 1_796_049_290_500
        status.node.strangers = 3
        status.discovery.state = .advertised
        status.discovery.foreignGroups = 1
        status.checks = [
            .init(code: "STORAGE_FULL", level: .critical, summary: "s", action: "a", since: nil),
            .init(code: "CONFLICTS", level: .warning, summary: "s", action: "a", since: nil),
        ]
        var database = ControlStatus.Database()
        database.name = "notes"
        database.documents = 18_204
        database.deleted = 12
        database.conflicts = 3
        database.purged = 0
        database.sequence = .max
        database.bytes = 212_000_000
        database.walBytes = 4_000_000
        database.peers = 2
        database.inSyncWith = 1
        var empty = ControlStatus.Database()
        empty.name = "unknown"
        status.databases = [database, empty]
        status.peers = peers
        var counters = NodeCounters()
        counters.dialsConnected = 5
        counters.dialsFailed = 1_000
        counters.documentsRefused = 2
        return ControlMetrics(status: status, counters: counters)
    }

    private static var peers: [ControlStatus.Peer] {
        var den = ControlStatus.Peer()
        den.id = "9a41"
        den.name = "den"
        den.state = .catchingUp
        den.connected = true
        den.roundTripMilliseconds = 1.25
        den.clockOffsetMilliseconds = -3_500
        den.sentBytes = 1_200_000
        den.receivedBytes = 3_400
        den.lastExchangeAt = 1_796_049_295_000
        var notes = ControlStatus.PeerDatabase()
        notes.name = "notes"
        notes.inChanges = 1_204
        notes.pulled = 12
        den.databases = [notes]
        var away = ControlStatus.Peer()
        away.id = "ee33"
        away.state = .unknown
        // Last known, and of no use while there is no link.
        away.clockOffsetMilliseconds = 10
        var announced = ControlStatus.Peer()
        announced.id = "ff00"
        announced.state = .neverSeen
        return [den, away, announced]
    }

    @Test func theTextKeepsTheRulesOfTheFormat() throws {
        let parsed = try OpenMetricsParser(String(decoding: Self.metrics().text, as: UTF8.self))
        let values = parsed.values
        #expect(values["kith_health_level"] == 2)
        #expect(values[#"kith_health_check{code="STORAGE_FULL"}"#] == 2)
        #expect(values[#"kith_health_check{code="CONFLICTS"}"#] == 1)
        #expect(values[#"kith_health_check{code="PAUSED"}"#] == 0)
        #expect(values.keys.count { $0.hasPrefix("kith_health_check{") } == HealthCode.allCases.count)
        #expect(values[#"kith_database_documents{database="notes"}"#] == 18_204)
        #expect(values[#"kith_database_documents{database="unknown"}"#] == nil)
        #expect(values[#"kith_dials_total{outcome="failed"}"#] == 1_000)
        #expect(values["kith_strangers_total"] == 3)
        #expect(values[#"kith_peer_round_trip_seconds{peer="9a41",name="den"}"#] == 0.00125)
        #expect(values[#"kith_peer_clock_offset_seconds{peer="9a41",name="den"}"#] == -3.5)
        #expect(values[#"kith_peer_clock_offset_seconds{peer="ee33",name=""}"#] == nil)
        #expect(values[#"kith_peer_in_changes{peer="9a41",name="den",database="notes"}"#] == 1_204)
        #expect(values[#"kith_peer_out_changes{peer="9a41",name="den",database="notes"}"#] == nil)
        #expect(values[#"kith_peer_state{peer="9a41",name="den",state="catching_up"}"#] == 1)
        #expect(values[#"kith_peer_state{peer="9a41",name="den",state="in_sync"}"#] == 0)
    }

    @Test func namesThatAreOnlyAnnouncedMakeNoSeries() throws {
        let parsed = try OpenMetricsParser(String(decoding: Self.metrics().text, as: UTF8.self))
        #expect(!parsed.values.keys.contains { $0.contains("ff00") })
        #expect(parsed.values[#"kith_peers{state="never_seen"}"#] == 1)
        #expect(parsed.values[#"kith_peers{state="refused"}"#] == 0)
    }

    @Test func labelsAreEscaped() {
        let text = String(decoding: Self.metrics().text, as: UTF8.self)
        #expect(text.contains(#"name="living \"room\"\\\n",group="home""#), "\(text.prefix(300))")
    }

    @Test func aBareNodeHasMetricsToo() throws {
        let bare = ControlMetrics(status: ControlStatus(generatedAt: 0), counters: NodeCounters())
        let parsed = try OpenMetricsParser(String(decoding: bare.text, as: UTF8.self))
        #expect(parsed.values["kith_health_level"] == 0)
    }

    @Test(arguments: [
        "", "# EOF", "kith_a 1\n# EOF\n", "# TYPE kith_a gauge\n# HELP kith_a A.\n# EOF\n",
        "# TYPE kith_a gauge\n# HELP kith_a A.\nkith_a 1\nkith_a 2\n# EOF\n",
        "# TYPE kith_a counter\n# HELP kith_a A.\nkith_a 1\n# EOF\n",
        "# TYPE kith_a gauge\nkith_a 1\n# HELP kith_a A.\n# EOF\n",
        "# TYPE kith_a gauge\n# UNIT kith_a bytes\n# HELP kith_a A.\nkith_a 1\n# EOF\n",
        "# TYPE kith_a gauge\n# HELP kith_a A.\nkith_a{b=\"\\x\"} 1\n# EOF\n",
        "# TYPE kith_a gauge\n# HELP kith_a A.\nkith_a{b=\"1\",b=\"2\"} 1\n# EOF\n",
    ]) func theReaderOfTheTestsIsStrict(text: String) {
        #expect(throws: OpenMetricsParser.Failure.self) { try OpenMetricsParser(text) }
    }

    /// Administrators find each name in the documents.
    @Test func theDocumentsListEveryFamily() throws {
        let folder = String(#filePath[..<#filePath.lastIndex(of: "/")!])
        let page = try #require(TestFile.text(of: folder + "/../../docs/operations.md"))
        let parsed = try OpenMetricsParser(String(decoding: Self.metrics().text, as: UTF8.self))
        for family in parsed.families {
            let series = family.type == "counter" ? family.name + "_total" : family.name
            #expect(page.contains("`\(series)`"), "docs/operations.md does not have \(series)")
        }
    }

    @Test func theControlSocketServesThem() async throws {
        let answer = try await ControlRouterTests().ask("GET", "/v1/metrics")
        #expect(answer.status == 200)
        #expect(answer.headers["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
        _ = try OpenMetricsParser(answer.text)
        #expect(try await ControlRouterTests().ask("POST", "/v1/metrics").status == 405)
    }
}
