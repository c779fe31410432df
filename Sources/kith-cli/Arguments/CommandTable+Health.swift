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
            examples: ["kith metrics | grep kith_health_check"], run: HealthCommands.metrics)
    ]
}
