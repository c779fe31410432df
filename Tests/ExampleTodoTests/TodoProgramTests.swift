import ExampleTodo
import Foundation
import KithTestSupport
import Synchronization
import Testing

struct TodoProgramTests {
    private let directory = TemporaryDirectory()
    private let clock = TestClock()

    /// What a command prints, by lines.
    private func run(_ words: String...) async throws -> [String] {
        let (clock, lines) = (clock, Output())
        try await TodoProgram(now: { clock.now }, print: { lines.add($0) }).run(words + ["--data", directory.path])
        return lines.all
    }

    private final class Output: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    /// The id that a line begins with, behind its mark.
    private func id(_ line: String?) -> String { String((line ?? "").dropFirst(4).prefix(8)) }

    @Test func `items are added, listed, done, pinned and deleted`() async throws {
        let milk = id(try await run("add", "Milk", "--category", "shopping", "--due", "2026-11-30").first)
        let report = id(try await run("add", "Report", "--priority", "high", "--details", "with 100% of it").first)
        #expect(
            try await run("list") == [
                "[ ] \(milk)  Milk  (medium, shopping, due 2026-11-30)", "[ ] \(report)  Report  (high, personal)",
            ])
        #expect(try await run("pin", report) == ["[ ] \(report)  Report  (pinned, high, personal)"])
        #expect(try await run("list", "--by", "title").map(id) == [report, milk])
        #expect(try await run("list", "--text", "100%").map(id) == [report])
        clock.advance(by: 2 * 86_400)
        #expect(try await run("overdue") == ["[ ] \(milk)  Milk  (medium, shopping, due 2026-11-30, overdue)"])
        #expect(try await run("counts") == ["2 to be done (1 overdue), 0 done"])
        #expect(try await run("done", milk) == ["[x] \(milk)  Milk  (medium, shopping, due 2026-11-30)"])
        #expect(try await run("list", "--status", "completed").map(id) == [milk])
        #expect(try await run("reopen", milk).first?.hasPrefix("[ ]") == true)
        #expect(try await run("done", String(milk.prefix(7))).map(id) == [milk])
        #expect(try await run("clear") == ["deleted: 1"])
        #expect(try await run("delete", report) == ["deleted: Report"])
        #expect(try await run("list") == [])
    }

    @Test(arguments: [
        ([], "a command is missing"), (["lost"], "lost is no command"), (["add"], "a title is missing"),
        (["add", "Milk", "Bread"], "Bread is one word too many"), (["list", "--by"], "--by wants a value"),
        (["list", "--by", "size"], "--by is one of due, priority, newest, changed, title, and not size"),
        (["add", "Milk", "--due", "soon"], "--due is a day such as 2026-12-31"),
        (["add", "Milk", "--priority", "3"], "--priority is one of low, medium, high, and not 3"),
        (["done", "zz"], "0 items have an id that begins with zz: see list"),
    ])
    func `what can't be done is said`(words: [String], message: String) async throws {
        let error = await #expect(throws: TodoUsageError.self) {
            try await TodoProgram { _ in }.run(words + ["--data", directory.path])
        }
        #expect(error?.description == message)
    }

    @Test func `the program prints to its outputs and says by its status how it went`() async throws {
        let program = Program.built("example-todo")
        let added = try await Program.run([program, "add", "Milk", "--data", directory.path])
        #expect(added.status == 0 && added.output.hasSuffix("  Milk  (medium, personal)\n"), "\(added.text)")
        let usage = try await Program.run([program, "list"])
        #expect(usage.status == 64 && usage.output.isEmpty)
        #expect(usage.errors.hasPrefix("example-todo: --data FOLDER is missing\n\nusage: example-todo COMMAND"))
        let alone = try await Program.run([program, "sync", "--data", directory.path])
        #expect(alone.status == 1 && alone.errors.contains("kith join"), "\(alone.text)")
    }
}
