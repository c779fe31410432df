import ExampleNotes
import Foundation
import Kith

@main struct NotesCommand {
    static func main() async {
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            try await run(options)
        } catch let mistake as Options.Mistake {
            end("\(mistake)\n\(Options.usage)", status: 64)
        } catch {
            end("\(error)", status: 1)
        }
    }

    private static func run(_ options: Options) async throws {
        let (events, tell) = AsyncStream.makeStream(of: ScreenEvent.self)
        let log = KithLog(level: .warning, to: .custom { tell.yield(.message($0.line)) })
        let home = try await Home.open(options, log: log)
        let program = try await NotesProgram(home, events: events, tell: tell)
        guard let terminal = Terminal({ tell.yield($0) }) else {
            await home.close()
            return end("example-notes wants a terminal for its input and output", status: 1)
        }
        await program.run { terminal.show($0) }
        terminal.restore()
        await home.close()
    }

    private static func end(_ message: String, status: Int32) {
        FileHandle.standardError.write(Data("example-notes: \(message)\n".utf8))
        exit(status)
    }
}
