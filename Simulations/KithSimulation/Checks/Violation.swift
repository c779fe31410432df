/// What must hold in every run; docs/simulation.md says of each how it is checked.
package enum Invariant: String, Sendable, CaseIterable {
    case acknowledgedDurability = "S1"
    case noLoss = "S2"
    case noInvention = "S3"
    case treeValidity = "S4"
    case mergeLaws = "S5"
    case winnerDeterminism = "S6"
    case convergentMerges = "S7"
    case monotonicSequences = "S8"
    case storeIdentity = "S9"
    case checkpointHonesty = "S10"
    case noResurrection = "S11"
    case causality = "S12"
    case atomicApply = "S13"
    case fidelity = "S14"
    case access = "S15"
    case boundedQueues = "S16"
    case peerIsolation = "S17"
    case versionCompatibility = "S18"
    case statusHonesty = "S19"
    case noErrorFromInside = "S20"
    case secrets = "S21"
    case hygiene = "S22"
    case convergence = "L1"
    case reconnection = "L2"
    case discovery = "L3"
    case poisonedDocument = "L4"
    case freshWriteArrives = "L5"
    case compactionEnds = "L6"
    case storageRecovers = "L7"
    case idleTraffic = "N1"
    case cheapReconnection = "N2"
}

/// A run that broke an invariant.
package struct Violation: Error, Sendable, CustomStringConvertible {
    package let invariant: Invariant
    package let message: String

    package init(_ invariant: Invariant, _ message: String) {
        self.invariant = invariant
        self.message = message
    }

    package var description: String { "\(invariant.rawValue) \(invariant): \(message)" }
}

extension [String] {
    /// The first ones and how many more there are, so that no message grows with what it is about.
    func shown(_ separator: String) -> String {
        let first = prefix(SimulationLimits.shown).joined(separator: separator)
        return count > SimulationLimits.shown ? "\(first)\(separator)\(count - SimulationLimits.shown) more" : first
    }
}
