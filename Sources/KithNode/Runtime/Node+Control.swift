extension Node {
    /// Answers requests as the control socket does.
    package var controlRouter: ControlRouter { ControlRouter(NodeService(self)) }
}
