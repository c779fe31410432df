import KithNode

extension CommandTable {
    /// The options that set what can be configured, but for the directory, which every command has.
    static let configurationOptions = ConfigurationKey.allCases.filter { $0 != .data }.map { key in
        OptionSpec(name: key.name, value: key.value, isRepeated: key.isRepeated, help: key.summary)
    }

    static let configurationFile = OptionSpec(
        name: "config", value: "FILE", help: "the configuration file; see kith help configuration")

    static let serviceCommands = [
        CommandSpec(
            name: "config", arguments: "[FILE]", argumentCount: 0...1,
            summary: "what is configured, and where each value comes from",
            text: [
                "Shows what a node started now would be configured with: the value of each key, and the option, variable, "
                    + "or line of a file that it comes from. Takes the options of kith start.",
                "With --check it says of each problem, unknown keys among them, in which line it is, and exits with 1 where "
                    + "there is one. With FILE it looks at that file alone.",
            ],
            options: [json, OptionSpec(name: "check", help: "look for what is wrong, and show nothing else")]
                + configurationOptions + [OptionSpec(name: "no-discovery", help: "the same as --discovery off"), data],
            examples: ["kith config", "kith config --check", "kith config --check /etc/kith/kith.conf"],
            run: ConfigurationCommands.config),
        CommandSpec(
            name: "reload", arguments: "", argumentCount: 0...0,
            summary: "have the running node read its configuration again",
            text: [
                "The node takes over what can change while it runs, and the command says what has changed and what needs a "
                    + "restart. Where the configuration is wrong the node goes on as it was, and the exit status is 1."
            ],
            options: [data], run: ConfigurationCommands.reload),
        CommandSpec(
            name: "completion", arguments: "bash|zsh|fish", argumentCount: 1...4_096,
            summary: "print the completion of words for a shell",
            text: [
                "Prints a script that completes commands, options, databases and peers in that shell. Databases and peers "
                    + "are those of the running node, if it answers within 200 ms.",
                "For the shell you are in: source <(kith completion bash), source <(kith completion zsh), or "
                    + "kith completion fish | source. For good, put the script where your shell looks for such: for bash "
                    + "~/.local/share/bash-completion/completions/kith, for fish ~/.config/fish/completions/kith.fish, "
                    + "for zsh a file _kith in a folder of $fpath.",
            ],
            options: [data], examples: ["source <(kith completion bash)"], run: CompletionCommands.completion),
        CommandSpec(
            name: "man", arguments: "[kith|kith.conf]", argumentCount: 0...1, summary: "print a manual page, for man",
            text: ["Prints the manual page kith(1) or kith.conf(5) as man reads it."],
            examples: ["kith man | man -l -", "kith man kith.conf | man -l -"], run: CompletionCommands.manual),
    ]
}

extension CommandSpec {
    /// With `--config` beside `--data`: whoever may name the directory may name the file that names it.
    func withConfigurationFile() -> CommandSpec {
        guard let place = options.firstIndex(where: { $0.name == "data" }) else { return self }
        var command = self
        command.options.insert(CommandTable.configurationFile, at: place)
        return command
    }
}
