import ExampleTodo
import Foundation

@main
struct Main {
    static func main() async {
        do {
            try await TodoProgram { print($0) }.run(Array(CommandLine.arguments.dropFirst()))
        } catch let error as TodoUsageError {
            complain("\(error)\n\n\(TodoCommand.usage)")
            exit(64)
        } catch {
            complain("\(error)")
            exit(1)
        }
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data("example-todo: \(text)\n".utf8))
    }
}
