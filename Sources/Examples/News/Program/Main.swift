import ExampleNews
import Foundation

@main
struct Main {
    static func main() async {
        do {
            try await NewsProgram { write($0, to: .standardOutput) }.run(Array(CommandLine.arguments.dropFirst()))
        } catch let error as NewsUsageError {
            complain("\(error)\n\n\(NewsProgram.usage)")
            exit(64)
        } catch {
            complain("\(error)")
            exit(1)
        }
    }

    private static func complain(_ text: String) { write("example-news: \(text)", to: .standardError) }

    /// A line, at once, also where somebody reads it through a pipe.
    private static func write(_ line: String, to file: FileHandle) { file.write(Data("\(line)\n".utf8)) }
}
