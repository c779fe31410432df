import Glibc
import KithNode

/// The `kith` command: reads its arguments, does what they say, and tells how it went.
enum KithCommand {
    /// - Parameter words: the arguments, without the program's name.
    /// - Returns: the exit status.
    static func run(_ words: [String]) async -> Int32 {
        // A reader that has gone is an error of a write, which says so, and no end by a signal.
        signal(SIGPIPE, SIG_IGN)
        // So is a file that may not grow any more: the store tells of it and the node goes on.
        signal(SIGXFSZ, SIG_IGN)
        var name = "kith"
        do throws(CommandError) {
            let status: Int32
            switch try ArgumentParser(commands: CommandTable.commands).parse(words) {
            case .run(let command, let invocation):
                name = "kith \(command.name)"
                status = try await command.run(invocation)
            case .help(let topic): status = try help(topic)
            case .version:
                Output.line("kith \(KithVersion.text)")
                status = ExitStatus.done
            case .nothing:
                for line in HelpText.overview() { Messages.line(line) }
                status = ExitStatus.usage
            }
            Output.flush()
            return status
        } catch {
            Output.flush()
            Messages.line(message(error, of: name))
            return error.status
        }
    }

    private static func help(_ topic: String) throws(CommandError) -> Int32 {
        guard let page = HelpText.page(topic) else { throw HelpText.unknown(topic) }
        for line in page { Output.line(line) }
        return ExitStatus.done
    }

    /// The one line for standard error. Sentences that begin with the program's name get none before them.
    private static func message(_ error: CommandError, of name: String) -> String {
        let text = error.message.hasPrefix("kith ") ? error.message : "\(name): \(error.message)"
        return Shown.line(text, limit: ControlLimits.messageCharacters)
    }
}
