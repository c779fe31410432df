/// Faults of the simulation put in on purpose: a checker that does not notice them checks nothing.
package enum Sabotage: String, Sendable, CaseIterable {
    /// A client reads the leaf that came first: S6.
    case winnerByArrival
    /// A write is acknowledged and was never made: S1.
    case acknowledgesNothing
    /// Disks say that they have synchronised, and have not: S1.
    case forgetsToSynchronise
    /// A status says `in sync` as soon as a link is up: S19.
    case alwaysInSync
}
