import KithDocument

// States that runs must reach now and then: docs/simulation.md lists them.

extension SimulationRun {
    func markLeaves(_ leaves: [Delivery.Item], _ state: ReplicaModel.State?) {
        let live = leaves.count { $0.revision.kind.isLive }
        if live > 1 { note("a conflict of \(min(live, 4)) leaves") }
    }
}
