import Glibc
import KithTestSupport

/// Waiting that blocks, kept off the threads that run the tests.
enum Blocking {
    /// Does the work on a thread of its own.
    static func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await onThread(work)
    }

    /// Asks again and again, for that time at most.
    static func poll<Value>(seconds: Double, _ question: () -> Value?) -> Value? {
        let end = now + seconds
        while true {
            if let answer = question() { return answer }
            if now >= end { return nil }
            usleep(5_000)
        }
    }

    /// Seconds of a clock that only goes forwards.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Asks again and again until the answer is yes, for that time at most.
/// - Returns: whether it was.
func eventually(within seconds: Double, _ question: () async throws -> Bool) async throws -> Bool {
    let end = Blocking.now + seconds
    while true {
        if try await question() { return true }
        if Blocking.now >= end { return false }
        try await Task.sleep(for: .milliseconds(50))
    }
}
