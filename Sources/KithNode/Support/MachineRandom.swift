import KithSystem

/// The numbers of a machine for what the standard library draws.
struct MachineRandom: RandomNumberGenerator {
    private let draw: @Sendable () -> UInt64

    init(_ machine: Machine) { draw = machine.random }

    mutating func next() -> UInt64 { draw() }
}
