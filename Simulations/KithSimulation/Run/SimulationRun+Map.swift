import KithDocument
import KithNode

extension SimulationRun {
    /// S19, L3: who is gone is not in anybody's map any more, and nobody takes it for announced.
    func checkMap() throws {
        guard nodes.contains(where: { !$0.isRunning }) else { return }
        // Since healing more than a minute has passed, which is how long a record lives; by a slow clock somewhat longer.
        try advance(to: now + SimulationLimits.mapLag)
        let running = nodes.filter(\.isRunning).map(\.id)
        for node in core {
            guard let gone = node.node?.presentNodes.first(where: { !running.contains($0) }) else { continue }
            throw Violation(.statusHonesty, "node \(node.index) has \(gone.short) in its map, which is gone for long")
        }
        let gone = nodes.filter { !$0.isRunning && !running.contains($0.id) }
        func stillHeard() -> [String] {
            core.flatMap { node in
                gone.filter { node.node?.hears($0.id) == true }.map { "\(node.index) of \($0.index)" }
            }
        }
        if try advance(to: max(now, goneSince + SimulationLimits.goneTime), until: { stillHeard().isEmpty }) { return }
        throw Violation(.discovery, "still announced, and gone for long: \(stillHeard().joined(separator: ", "))")
    }
}
