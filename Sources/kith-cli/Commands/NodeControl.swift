import Glibc
import KithDocument
import KithHTTPCore
import KithNode

/// `invite`, `pause`, `resume`, `log`, `stop`: what a running node is told.
enum NodeControl {
    static func invite(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let valid = try invocation.value("valid").map { text throws(CommandError) in
            String(try Values.milliseconds(text, ControlLimits.invitationMilliseconds, option: "--valid"))
        }
        var body = HTTPClientRequest.Body.none
        if let file = invocation.value("root") {
            body = .bytes(try InputFile.read(file, limit: ControlLimits.smallBodyBytes))
        }
        let answer = try ControlClient(invocation).json(
            "POST", ["invitations"], query: [("role", invocation.value("role")), ("valid_ms", valid)], body: body)
        guard let code = answer["code"]?.string else { throw CommandError("the node made no code; look at its log") }
        if invocation.flag("json") {
            Output.write(answer.canonicalBytes + [UInt8(ascii: "\n")])
        } else {
            Output.line(code)
        }
        return ExitStatus.done
    }

    static func pause(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let time = try invocation.value("for").map { text throws(CommandError) in
            String(try Values.milliseconds(text, ControlLimits.pauseMilliseconds, option: "--for"))
        }
        let answer = try ControlClient(invocation).json(
            "POST", ["pause"], query: [("peer", invocation.arguments.first), ("for_ms", time)])
        let whom = invocation.arguments.first.map { "with \(Shown.name($0))" } ?? "with all peers"
        let until = answer["paused_until"]?.string.map { "until \($0)" } ?? "until kith resume"
        Messages.line("replication \(whom) is paused \(until)")
        return ExitStatus.done
    }

    static func resume(_ invocation: Invocation) throws(CommandError) -> Int32 {
        _ = try ControlClient(invocation).call("POST", ["resume"], query: [("peer", invocation.arguments.first)])
        return ExitStatus.done
    }

    static func log(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let client = try ControlClient(invocation)
        for text in invocation.arguments {
            let (level, area) = splitLogLevel(text)
            _ = try client.call("PUT", ["log"], query: [("level", level), ("area", area)])
        }
        return ExitStatus.done
    }

    /// `debug` is a level for all areas, `mesh=debug` one for an area.
    static func splitLogLevel(_ text: String) -> (level: String, area: String?) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 ? (String(parts[1]), String(parts[0])) : (text, nil)
    }

    /// Ends the node and waits until it has left its socket.
    static func stop(_ invocation: Invocation) throws(CommandError) -> Int32 {
        let client = try ControlClient(invocation)
        _ = try client.call("POST", ["stop"], within: 20)
        for _ in 0..<600 {
            do throws(CommandError) { _ = try client.call("GET", ["check"]) } catch {
                // The socket goes a moment before the lock.
                if error.status == ExitStatus.noNode, DirectoryLock.isFree(try ControlClient.directory(invocation).path)
                {
                    return ExitStatus.done
                }
            }
            usleep(25_000)
        }
        throw CommandError("the node was told to stop and has not ended after 15 s; look at its log")
    }
}
