/// `metrics`: what monitoring reads.
enum HealthCommands {
    static func metrics(_ invocation: Invocation) throws(CommandError) -> Int32 {
        Output.write(try ControlClient(invocation).call("GET", ["metrics"]))
        return ExitStatus.done
    }
}
