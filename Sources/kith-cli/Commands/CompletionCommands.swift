import Dispatch
import KithDocument
import KithNode
import Synchronization

/// `completion` and `man`.
enum CompletionCommands {
    /// How long a running node may take to name its databases and peers, in milliseconds: a person waits.
    private static let answerMilliseconds = 200

    static func completion(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let first = invocation.arguments[0]
        if first == "words" {
            for candidate in Completer().candidates(Array(invocation.arguments.dropFirst())) {
                tell(candidate, invocation.arguments)
            }
            return ExitStatus.done
        }
        guard invocation.arguments.count == 1, let lines = CompletionScript.lines(first) else {
            throw .usage("\(Shown.name(first)) is no shell that is known; there are bash, zsh and fish")
        }
        for line in lines { Output.line(line) }
        return ExitStatus.done
    }

    /// A line with the word, a tab, and what it means; `:files` and `:directories` ask the shell for such.
    private static func tell(_ candidate: Completer.Candidate, _ words: [String]) {
        switch candidate {
        case .word(let word, let meaning): Output.line("\(word)\t\(meaning)")
        case .file: Output.line(":files")
        case .folder: Output.line(":directories")
        case .database(let prefix): tell(["databases"], "databases", "database", prefix, words)
        case .peer(let prefix): tell(["status"], "peers", "peer", prefix, words)
        }
    }

    private static func tell(
        _ path: [String], _ member: String, _ meaning: String, _ prefix: String, _ words: [String]
    ) {
        let answer = ask(path, words)
        let current = words.last ?? ""
        for name in (answer?[member]?.array ?? []).compactMap({ $0["name"]?.string }) {
            let word = prefix + name
            // What has a blank or a control character would need quotes that differ from shell to shell.
            guard word.hasPrefix(current), !name.unicodeScalars.contains(where: { $0.value <= 32 }) else { continue }
            Output.line("\(word)\t\(meaning)")
        }
    }

    /// What the node of the command line answers, if it does soon.
    private static func ask(_ path: [String], _ words: [String]) -> JSONValue? {
        var invocation = Invocation(command: "completion")
        for (index, word) in words.enumerated() {
            for name in ["data", "config"] {
                if word == "--\(name)", index + 1 < words.count - 1 { invocation.add(name, words[index + 1]) }
                if word.hasPrefix("--\(name)=") { invocation.add(name, String(word.dropFirst(name.count + 3))) }
            }
        }
        guard let client = try? ControlClient(invocation) else { return nil }
        let answer = Answer()
        let isThere = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            let value = try? client.json("GET", path)
            answer.value.withLock { $0 = value }
            isThere.signal()
        }
        _ = isThere.wait(timeout: .now() + .milliseconds(answerMilliseconds))
        return answer.value.withLock { $0 }
    }

    private final class Answer: Sendable {
        let value = Mutex<JSONValue?>(nil)
    }

    static func manual(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let lines: [String]
        switch invocation.arguments.first ?? "kith" {
        case "kith", "kith.1": lines = ManualPage.command()
        case "kith.conf", "kith.conf.5": lines = ManualPage.configuration()
        case let name: throw .usage("there is no manual page \(Shown.name(name)); there are kith and kith.conf")
        }
        for line in lines { Output.line(line) }
        return ExitStatus.done
    }
}
