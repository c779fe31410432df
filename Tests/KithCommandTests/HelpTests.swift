import KithTestSupport
import Testing

@testable import kith

@Suite struct HelpTests {
    @Test func theOverviewIsAsRead() throws { try Golden.expect(HelpText.overview(), "help") }

    @Test func thePagesAreAsRead() throws {
        var lines: [String] = []
        for command in CommandTable.commands { lines += (HelpText.page(command.name) ?? []) + ["", "----", ""] }
        for topic in HelpTopic.all { lines += (HelpText.page(topic.name) ?? []) + ["", "----", ""] }
        try Golden.expect(lines, "help-pages")
    }

    @Test func linesFitATerminal() {
        for name in CommandTable.commands.map(\.name) + HelpTopic.all.map(\.name) + [""] {
            for line in HelpText.page(name) ?? [] { #expect(Display.cells(line) <= 80, "\(line)") }
        }
    }

    @Test func healthChecksAreFoundByTheirCodes() {
        #expect(HelpText.page("DISCOVERY_DOWN") != nil)
        #expect(HelpText.page("identity-duplicate") != nil)
    }

    @Test func anUnknownTopicIsWrongUsage() {
        #expect(HelpText.page("nothing") == nil)
        let error = HelpText.unknown("discovery-dwn")
        #expect(error.status == 64 && error.message.contains("did you mean discovery-down?"))
    }
}
