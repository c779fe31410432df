/// What a node asks of the machine that it runs on. A simulation gives it another one, in which time, chance, the disk and
/// the order of events are the simulation's.
package struct Machine: Sendable {
    package let clock: any MachineClock
    /// Where its files lie.
    package let files: any FileSystem
    /// Numbers that nobody can foretell, drawn evenly from all 64 bits.
    package let random: @Sendable () -> UInt64
    /// A new serial queue; the label is for debuggers.
    package let queue: @Sendable (_ label: String) -> any WorkQueue

    package init(
        clock: any MachineClock, files: any FileSystem, random: @escaping @Sendable () -> UInt64,
        queue: @escaping @Sendable (_ label: String) -> any WorkQueue
    ) {
        self.clock = clock
        self.files = files
        self.random = random
        self.queue = queue
    }
}
