import KithDocument
import KithNode
import KithTestSupport
import Testing

@testable import kith

@Suite struct ArgumentParserTests {
    private let parser = ArgumentParser(commands: CommandTable.commands)

    private func parse(_ words: String...) throws -> Invocation {
        guard case .run(_, let invocation) = try parser.parse(words) else {
            throw CommandError("\(words) is no command to run")
        }
        return invocation
    }

    @Test func optionsStandAnywhereAndInEveryForm() throws {
        for words in [
            ["put", "db", "id", "{}", "--rev", "1-a"], ["put", "--rev=1-a", "db", "id", "{}"],
            ["put", "db", "--rev", "1-a", "id", "{}"],
        ] {
            guard case .run(let command, let invocation) = try parser.parse(words) else {
                Issue.record("\(words)")
                continue
            }
            #expect(command.name == "put")
            #expect(invocation.arguments == ["db", "id", "{}"])
            #expect(invocation.value("rev") == "1-a")
        }
    }

    @Test func afterTwoDashesAllIsArguments() throws {
        let invocation = try parse("get", "--meta", "--", "db", "--rev")
        #expect(invocation.arguments == ["db", "--rev"])
        #expect(invocation.flag("meta") && invocation.value("rev") == nil)
    }

    @Test func oneDashIsAnArgument() throws {
        #expect(try parse("put", "db", "id", "-").arguments == ["db", "id", "-"])
        #expect(try parse("join", "-").arguments == ["-"])
    }

    @Test func lettersMayStandForOptions() throws {
        #expect(try parse("status", "-x").flag("x"))
        #expect(try parse("changes", "db", "-f").flag("follow"))
        #expect(try parse("db", "list", "-l").flag("long"))
    }

    @Test func optionsMayRepeatWhereTheTableSaysSo() throws {
        let start = try parse("start", "--peer", "a:1", "--peer=b:2", "--log", "debug")
        #expect(start.values("peer") == ["a:1", "b:2"])
        #expect(throws: CommandError.self) { try parse("start", "--listen", "a", "--listen", "b") }
        #expect(try parse("get", "a", "b", "--meta", "--meta").flag("meta"))
    }

    @Test func valuesMayHoldEqualsSignsAndAreNeverEmpty() throws {
        #expect(throws: CommandError.self) { try parse("get", "a", "b", "--rev=") }
        #expect(try parse("start", "--log=mesh=debug").value("log") == "mesh=debug")
        #expect(try parse("get", "a", "").arguments == ["a", ""])
    }

    @Test(arguments: [
        (["help"], ""), (["--help"], ""), (["-h"], ""), (["help", "put"], "put"), (["help", "db", "list"], "db list"),
        (["put", "--help"], "put"), (["put", "a", "b", "-h"], "put"), (["db", "--help"], "db"),
        (["db", "list", "--help"], "db list"),
    ]) func helpIsThereEverywhere(words: [String], topic: String) throws {
        guard case .help(let asked) = try parser.parse(words) else {
            Issue.record("\(words) is no call for help")
            return
        }
        #expect(asked == topic)
        #expect(HelpText.page(asked) != nil)
    }

    @Test(arguments: [
        (["stauts"], "did you mean status?"), (["stat"], "did you mean status?"), (["xyzzy"], "no command xyzzy"),
        (["--data", "x"], "a command comes first"), (["db"], "create, delete, list"),
        (["db", "craete"], "did you mean create?"),
        (["put"], "kith put DB ID [JSON | -]"), (["put", "a", "b", "c", "d"], "one argument too many, d"),
        (["get", "a", "b", "--mta"], "did you mean --meta?"), (["get", "a", "b", "--rev"], "--rev needs a value"),
        (["get", "a", "b", "--meta=1"], "--meta takes no value"), (["get", "a", "b", "-q"], "no option -q"),
        (["status", "-xq"], "no option -q"), (["get", "a", "b", "--rev", "1", "--rev", "2"], "given twice"),
        (["stop", "now"], "one argument too many, now"), (["get", "a", "b", "--=x"], "no option --"),
    ]) func wrongUsageSaysWhatIsWrongAndExitsWith64(words: [String], text: String) throws {
        let error = try #require(throws: CommandError.self) { try parser.parse(words) }
        #expect(error.status == 64)
        #expect(error.message.contains(text), "\(error.message)")
        #expect(error.message.count <= 200 && !error.message.contains("\n"))
    }

    @Test func everyCommandCanBeFoundAndHasOwnOptions() throws {
        for command in CommandTable.commands {
            #expect(Set(command.options.map(\.key)).count == command.options.count, "\(command.name)")
            #expect(command.summary.count <= 60, "\(command.name)")
            let words = command.name.split(separator: " ").map(String.init)
            let arguments = Array(repeating: "a", count: command.argumentCount.lowerBound)
            let options = command.options.filter(\.isRequired).flatMap { ["--\($0.name)", "a"] }
            guard case .run(let found, _) = try parser.parse(words + arguments + options) else {
                Issue.record("\(command.name)")
                continue
            }
            #expect(found.name == command.name)
        }
    }

    @Test(arguments: [
        ("30s", 30_000), ("15m", 900_000), ("4h", 14_400_000), ("2d", 172_800_000), ("500ms", 500), ("7", 7_000),
        ("0", 0),
    ]) func timesAreRead(text: String, milliseconds: Int64) throws {
        #expect(try Values.milliseconds(text, 0...Int64.max, option: "--for") == milliseconds)
    }

    @Test(arguments: ["", "s", "1w", "-1s", "1.5h", "9999999999999999d", "99999999999999999999", "1 s", "٣s"])
    func otherTextsAreNoTimes(text: String) {
        #expect(throws: CommandError.self) { try Values.milliseconds(text, 0...Int64.max, option: "--for") }
    }

    @Test func aTimeOutOfRangeIsToldWithTheOptionAndItsBounds() {
        for (text, range, bounds) in [
            ("0s", ControlLimits.invitationMilliseconds, "from 1s to 7d"),
            ("0", ControlLimits.pauseMilliseconds, "from 1ms to 3650d"),
            ("25h", ControlLimits.waitMilliseconds, "from 0s to 1d"),
        ] {
            let error = #expect(throws: CommandError.self) { try Values.milliseconds(text, range, option: "--for") }
            #expect(error?.status == 64 && error?.message == "--for \(text): it may be \(bounds)")
        }
    }

    /// What the control interface calls a parameter is no word of the command.
    @Test func noOptionForATimeLeavesItsBoundsToTheNode() async throws {
        for command in CommandTable.commands {
            for option in command.options where option.value == "TIME" {
                let words = command.name.split(separator: " ").map(String.init)
                var arguments = Array(repeating: "a", count: command.argumentCount.lowerBound)
                if command.options.contains(where: { $0.name == "once" }) { arguments.append("--once") }
                let result = try await Command.run(
                    words + arguments + ["--\(option.name)", "99999d"], data: "/nothing")
                #expect(result.status == 64, "\(command.name)")
                #expect(result.errors.contains("--\(option.name) 99999d: it may be from"), "\(result.errors)")
            }
        }
    }

    @Test func anEmptyWordIsNotTakenForAllOrForNothing() throws {
        for words in [
            ["pause", ""], ["resume", ""], ["unmute", ""], ["mute", ""], ["revoke", ""], ["role", "", "reader"],
            ["status", ""],
            ["join", ""], ["wait", "--in-sync", ""], ["invite", "--role="], ["status", "--data", ""],
        ] {
            let error = try #require(throws: CommandError.self) { try parser.parse(words) }
            #expect(error.status == 64 && !error.message.contains("parameter"), "\(words): \(error.message)")
        }
    }

    @Test func whatACommandNeedsIsAskedForByItsName() throws {
        let error = try #require(throws: CommandError.self) { try parser.parse(["resolve", "db", "id"]) }
        #expect(error.status == 64 && error.message == "kith resolve needs --keep REV: the revision that stays")
    }

    @Test func everyUsageLineHasEveryOptionOfItsCommand() throws {
        for command in CommandTable.commands {
            for option in command.options {
                #expect(command.usage.contains(option.usage), "\(command.name) \(option.key)")
                #expect(command.usage.hasPrefix("kith \(command.name)") && !command.arguments.contains("--"))
            }
            let page = try #require(HelpText.page(command.name)).joined(separator: " ")
            let words = page.split(separator: " ").joined(separator: " ")
            #expect(words.contains("usage: \(command.usage)"), "\(words.prefix(400))")
        }
    }

    @Test func logLevelsAreForAllOrForAnArea() {
        #expect(NodeControl.splitLogLevel("debug") == ("debug", nil))
        #expect(NodeControl.splitLogLevel("mesh=debug") == ("debug", "mesh"))
    }

    @Test(
        arguments: [
            ("sttaus", "status"), ("expotr", "export"), ("puts", "put"), ("in", "init"), ("q", nil), ("abcdefgh", nil),
            ("", nil),
        ] as [(String, String?)]) func suggestionsAreNear(word: String, meant: String?)
    {
        let known = CommandTable.commands.map(\.name)
        #expect(Suggestion.nearest(to: word, among: known) == meant)
    }
}
