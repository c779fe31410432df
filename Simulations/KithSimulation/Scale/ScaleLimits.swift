// The times of a run of many nodes; docs/simulation.md says what is measured.

extension SimulationLimits {
    /// Delay of each link, in microseconds.
    static let scaleDelay = 1_000...1_000
    /// How long nodes that are started at once may take to settle, in microseconds: 30 s for 60 of them, and for a thousand
    /// as much longer as their records of each other need.
    static func settling(nodes: Int) -> UInt64 { nodes <= 100 ? 30_000_000 : 120_000_000 }
    /// When it is given up that they settle.
    static func settlingAtMost(nodes: Int) -> UInt64 { 2 * settling(nodes: nodes) }
    /// A write is everywhere within this.
    static let scaleArrival: UInt64 = 10_000_000
    /// How often it is looked whether the mesh has settled: a look costs as much as many events.
    static let scaleLook: UInt64 = 500_000
    /// What was learnt last is passed on before idle nodes are watched, and for how long they are.
    static let scaleQuiet: UInt64 = 10_000_000
    static let scaleIdle: UInt64 = 20_000_000
    /// Writes, one after the other, and then at once.
    static let scaleChanges = 10
    static let scaleBurst = 20
}
