import KithTransport

extension NodeService {
    func identity() async throws(ControlError) -> NodeIdentity {
        let configuration = node.configuration
        do throws(NodeError) {
            return try NodeSetup.identity(of: configuration.directory, machineIDFile: configuration.machineIDFile)
        } catch { throw ControlError(.failed, error.message) }
    }

    func keepMachine() async throws(ControlError) {
        let failure = await onNode { node -> NodeError? in
            do throws(NodeError) { try node.keepMachine() } catch { return error }
            return nil
        }
        if let failure { throw ControlError(.failed, failure.message) }
    }
}
