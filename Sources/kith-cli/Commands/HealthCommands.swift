import KithDocument
import KithNode

/// `metrics`, `mute`, `unmute`: for those who watch nodes.
enum HealthCommands {
    static func metrics(_ invocation: Invocation) throws(CommandError) -> Int32 {
        Output.write(try ControlClient(invocation).call("GET", ["metrics"]))
        return ExitStatus.done
    }

    static func mute(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let code = invocation.arguments[0]
        let time = try invocation.value("for").map { text throws(CommandError) in
            String(try Values.milliseconds(text, ControlLimits.pauseMilliseconds, option: "--for"))
        }
        let answer = try ControlClient(invocation).json("POST", ["mute"], query: [("code", code), ("for_ms", time)])
        Messages.line(
            "\(answer["code"]?.string ?? code) is muted until \(answer["muted_until"]?.string ?? "?"), or until it gets worse"
        )
        return ExitStatus.done
    }

    static func unmute(_ invocation: Invocation) throws(CommandError) -> Int32 {
        _ = try ControlClient(invocation).call("POST", ["unmute"], query: [("code", invocation.arguments.first)])
        return ExitStatus.done
    }
}
