import Foundation

/// The time, and waiting for it. A test has one that it moves.
package protocol NewsClock: Sendable {
    /// The time.
    var now: Date { get }

    /// Returns at a time, or at once where it is over.
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    func sleep(until time: Date) async throws
}

/// The machine's.
package struct SystemNewsClock: NewsClock {
    package init() {}

    package var now: Date { Date() }

    package func sleep(until time: Date) async throws {
        try await Task.sleep(for: .seconds(max(0, time.timeIntervalSince(now))))
    }
}
