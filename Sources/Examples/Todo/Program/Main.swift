import ExampleTodo
import Foundation

@main
struct Main {
    static func main() async {
        do {
            try await TodoProgram { write($0, to: .standardOutput) }.run(Array(CommandLine.arguments.dropFirst()))
        } catch let error as TodoUsageError {
            complain("\(error)\n\n\(TodoCommand.usage)")
            exit(64)
        } catch {
            complain("\(error)")
            exit(1)
        }
    }

    private static func complain(_ text: String) { write("example-todo: \(text)", to: .standardError) }

    /// A line, at once, also where somebody reads it through a pipe.
    private static func write(_ line: String, to file: FileHandle) { file.write(Data("\(line)\n".utf8)) }
}
