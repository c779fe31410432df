import KithTestSupport

extension Lab {
    /// Runs discovery on one of the nodes.
    func probe(on node: Int, _ arguments: String...) throws -> LineProcess {
        try LineProcess(inside(node) + [Self.probePath] + arguments)
    }

    /// The same with an environment of its own.
    func probe(on node: Int, environment: [String], _ arguments: String...) throws -> LineProcess {
        try LineProcess(inside(node) + ["env"] + environment + [Self.probePath] + arguments)
    }

    /// Runs discovery in namespaces of its own that have a loopback, an empty /run, and no bus.
    static func lonelyProbe(_ arguments: String...) throws -> LineProcess {
        let prepare = "mount -t tmpfs tmpfs /run && ip link set lo up && exec \"$@\""
        return try LineProcess(
            ["unshare", "-n", "-m", "--propagation", "private", "bash", "-c", prepare, "lonely", probePath] + arguments)
    }

    private static var probePath: String { Program.built("kith-discovery-probe") }
}
