import KithTransport

extension NodeService {
    func identity() async throws(ControlError) -> NodeIdentity {
        let configuration = node.configuration
        do throws(NodeError) {
            return try NodeSetup.identity(of: configuration.directory, machineIDFile: configuration.machineIDFile)
        } catch { throw ControlError(.failed, error.message) }
    }

    func keepMachine() async throws(ControlError) {
        try await asking { node, done in
            node.keepMachine { failure in done(failure.map { ControlError(.failed, $0.message) }) }
        }
    }
}
