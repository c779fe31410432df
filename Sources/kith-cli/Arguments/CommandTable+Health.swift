extension CommandTable {
    static let healthCommands = [
        CommandSpec(
            name: "metrics", arguments: "", argumentCount: 0...0,
            summary: "the status in numbers, for monitoring",
            text: [
                "Prints the numbers of the status as OpenMetrics text, which Prometheus and others read. The same is at "
                    + "/v1/metrics of the control socket."
            ],
            options: [data],
            examples: ["kith metrics | grep kith_health_check"], run: HealthCommands.metrics),
        CommandSpec(
            name: "mute", arguments: "CHECK", argumentCount: 1...1,
            summary: "hear no more of a health check for a while",
            text: [
                "The check is shown as muted and counts for nothing in status and check, until its time is over, it gets "
                    + "worse, or kith unmute. A restart of the node changes nothing."
            ],
            options: [OptionSpec(name: "for", value: "TIME", help: "how long; without it 7d"), data],
            examples: ["kith mute CONFLICTS --for 2d"], run: HealthCommands.mute),
        CommandSpec(
            name: "unmute", arguments: "[CHECK]", argumentCount: 0...1,
            summary: "hear of a muted health check again, or of all", text: ["Ends what kith mute began."],
            options: [data], run: HealthCommands.unmute),
    ]
}
