import KithStore
import Synchronization

/// How far a database has come, for who follows it.
package struct DatabaseMoment: Hashable, Sendable {
    /// The last sequence.
    package let sequence: UInt64
    /// Documents that were purged since the database was opened: the feed does not have them.
    package let purges: UInt64

    package init(sequence: UInt64, purges: UInt64) {
        self.sequence = sequence
        self.purges = purges
    }
}

/// Those who wait for a database to go on. Who does not wait costs a commit nothing.
final class CommitWatchers: Sendable {
    private struct State {
        var moment: DatabaseMoment
        var isOver = false
        var last: UInt64 = 0
        var waiting: [UInt64: AsyncStream<Void>.Continuation] = [:]
    }

    private let state: Mutex<State>

    init(_ moment: DatabaseMoment) { state = Mutex(State(moment: moment)) }

    var moment: DatabaseMoment { state.withLock(\.moment) }

    func note(_ moment: DatabaseMoment) {
        wake { state in
            guard state.moment != moment else { return false }
            state.moment = moment
            return true
        }
    }

    /// Nobody waits for a database that is closed.
    func end() {
        wake { state in
            state.isOver = true
            return true
        }
    }

    /// In no order that counts: each wakes a task of its own.
    private func wake(_ change: (inout State) -> Bool) {
        let woken = state.withLock { state -> [UInt64: AsyncStream<Void>.Continuation] in
            guard change(&state), !state.waiting.isEmpty else { return [:] }
            defer { state.waiting = [:] }
            return state.waiting
        }
        for (_, continuation) in woken { continuation.finish() }
    }

    /// Returns when the database is not at the moment, at once where it is another already; when the database is closed, the
    /// task is cancelled, or the time is up.
    /// - Parameter duration: nil for no end.
    func wait(after moment: DatabaseMoment, for duration: Duration?) async {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state -> UInt64? in
            guard state.moment == moment, !state.isOver else { return nil }
            state.last += 1
            state.waiting[state.last] = continuation
            return state.last
        }
        guard let number else { return }
        let alarm = duration.map { duration in
            Task {
                try? await Task.sleep(for: duration)
                continuation.finish()
            }
        }
        for await _ in stream {}
        alarm?.cancel()
        state.withLock { $0.waiting[number] = nil }
    }
}

extension DatabaseExecutor {
    /// How far it has come.
    package var moment: DatabaseMoment { watchers.moment }

    /// Returns when the database is at another moment, at once where it is already; when it is closed, or the task is
    /// cancelled, or the time is up. It is told in the commit, before who has written hears of it.
    package func waitForChange(after moment: DatabaseMoment, for duration: Duration? = nil) async {
        await watchers.wait(after: moment, for: duration)
    }
}
