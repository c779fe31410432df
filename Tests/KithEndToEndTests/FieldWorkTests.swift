import KithDocument
import KithTestSupport
import Testing

/// What an offline database is for: a tablet leaves the network in the morning, gathers forms and photos all day, and meets the
/// office again in the evening.
@Suite(.timeLimit(.minutes(10))) struct FieldWorkTests {
    private static let forms = 500
    private static let photos = 50
    private static let tasks = 20

    /// Forms with their positions, and photos in documents of their own, as docs/modelling.md has it.
    private static func gathered() -> [UInt8] {
        var generator = SeededGenerator(seed: 500)
        var lines: [String] = []
        for form in 0..<forms {
            lines.append(
                #"{"_id":"form-\#(form)","type":"form","at":{"lat":\#(47 + form).5,"lon":8.25},"answers":["yes","no",\#(form)]}"#
            )
        }
        for photo in 0..<photos {
            let text = String(
                decoding: (0..<100_000).map { _ in UInt8.random(in: 97...122, using: &generator) }, as: UTF8.self)
            lines.append(#"{"_id":"photo-\#(photo)","type":"photo","form":"form-\#(photo * 10)","jpeg":"\#(text)"}"#)
        }
        return Array(lines.joined(separator: "\n").utf8)
    }

    private static func tasks(_ names: Range<Int>) -> [UInt8] {
        Array(
            names.map { #"{"_id":"task-\#($0)","type":"task","state":"open","place":"yard \#($0)"}"# }.joined(
                separator: "\n"
            ).utf8)
    }

    private static func count(_ type: String, _ node: TestNode) async throws -> Int? {
        let text = try await node.kith("query", "field", "SELECT RAW COUNT(*) FROM _ WHERE type = '\(type)'", "--json")
        return try JSONValue(parsing: Array(text.utf8)).array?.first?.integer.map(Int.init)
    }

    @Test func aTabletThatWasAwayForADayBringsAllItGatheredAndGetsItsNewTasks() async throws {
        try await Lab.open(nodes: 3) { lab in
            let office = try await lab.group(2)
            let (ada, ben) = (office[0], office[1])
            try await office.makeDatabase("field")
            let tablet = lab.node("olga")
            try await tablet.join(by: ada)
            try await tablet.start(peers: office)
            try await ada.kith("import", "field", "-", input: Self.tasks(0..<Self.tasks))
            let all = office + [tablet]
            try await all.settle("field")

            // Out of the gate: its clock is a day earlier from here to its return, so that a day goes by for it.
            try await tablet.kith("pause")
            try await tablet.stop()
            tablet.setEnvironment(ClockTests.Clock.aDayBehind.environment)
            try await tablet.start()
            try await tablet.kith("import", "field", "-", input: Self.gathered())
            for task in 0..<Self.tasks {
                try await tablet.kith(
                    "put", "field", "task-\(task)", #"{"type":"task","state":"done","place":"yard \#(task)"}"#)
            }
            #expect(try await Self.count("form", tablet) == Self.forms)

            // Meanwhile in the office: a task was moved to another place, and there are new ones.
            try await ben.kith("put", "field", "task-3", #"{"type":"task","state":"open","place":"harbour"}"#)
            try await ben.kith("import", "field", "-", input: Self.tasks(Self.tasks..<2 * Self.tasks))
            #expect(try await Self.count("form", ada) == 0)

            try await tablet.stop()
            tablet.setEnvironment([])
            try await tablet.start(peers: office)
            try await tablet.kith("resume")
            try await all.settle("field", within: 120)
            for node in all {
                #expect(try await Self.count("form", node) == Self.forms, "\(node.name)")
                #expect(try await Self.count("photo", node) == Self.photos, "\(node.name)")
                #expect(try await Self.count("task", node) == 2 * Self.tasks, "\(node.name)")
                // What was done in the field, and the place that the office gave it.
                #expect(
                    try await node.kith("get", "field", "task-3")
                        == #"{"place":"harbour","state":"done","type":"task"}"#,
                    "\(node.name)")
            }
            let exports = try await [ada.kith("export", "field"), tablet.kith("export", "field")]
            #expect(exports[0] == exports[1])
        }
    }
}
