import KithCrypto
import KithReplication
import KithSystem

extension Machine {
    /// This machine.
    package static let local = Machine(
        clock: .system, files: LocalFileSystem(), random: { SecureRandom.number() }, queue: { SerialQueue($0) })
}

extension MachineClock {
    /// The reading of the clock that only goes forward.
    package var now: Instant { Instant(milliseconds: monotonicMilliseconds) }
}
