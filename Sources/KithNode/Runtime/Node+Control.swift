extension Node {
    /// What the control socket asks, for whoever has the node in the same process.
    package var service: any ControlService { NodeService(self) }

    /// Answers requests as the control socket does.
    package var controlRouter: ControlRouter { ControlRouter(service) }
}
