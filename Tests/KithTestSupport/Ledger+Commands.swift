/// What the `kith` command does to what is owed.
extension Ledger {
    /// Whether a command takes away what a node has, so that `willRun` is to be called before it.
    package static func isLoss(_ arguments: [String]) -> Bool {
        lost(arguments) != nil && arguments.contains("--yes")
    }

    private static func lost(_ arguments: [String]) -> String? {
        if arguments.starts(with: ["db", "delete"]), arguments.count > 2 { return arguments[2] }
        return arguments.first == "restore" && arguments.count > 2 ? arguments[1] : nil
    }

    /// A command of a node is about to run. Blocks while others are asked, where it is a loss.
    package func willRun(_ arguments: [String], of node: String) {
        if Self.isLoss(arguments), let database = Self.lost(arguments) { willLose(database, of: node) }
    }

    /// A command of a node exited 0.
    /// - Parameter input: what it read.
    package func succeeded(_ arguments: [String], input: [UInt8], of node: String) {
        guard arguments.count >= 3, !arguments.contains("--dry-run") else { return }
        switch arguments[0] {
        case "put": wrote([arguments[2]], in: arguments[1], by: node)
        case "delete", "purge": removed(arguments[2], in: arguments[1])
        case "import":
            let text = arguments[2] == "-" ? input : TestFile.bytes(of: arguments[2]) ?? []
            let field = arguments.firstIndex(of: "--id").map { arguments[$0 + 1] } ?? "_id"
            wrote(Self.ids(in: text, field: field), in: arguments[1], by: node)
        default: break
        }
    }
}
