import Glibc

/// Asks again and again until the answer is yes, for what no event announces.
/// - Returns: whether it was, within the seconds.
package func eventually(
    within seconds: Double = 30, _ question: () async throws -> Bool
) async rethrows -> Bool {
    let deadline = Deadline(seconds: seconds)
    while try await !question() {
        if deadline.remaining == 0 { return false }
        try? await Task.sleep(for: .milliseconds(5))
    }
    return true
}

/// Runs work that blocks on a thread of its own: those that run the tests are few.
package func onThread<Value: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> Value
) async throws(Failure) -> Value {
    let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
        Job.start { continuation.resume(returning: Result { () throws(Failure) in try work() }) }
    }
    return try result.get()
}

final class Job: Sendable {
    private let work: @Sendable () -> Void

    private init(_ work: @escaping @Sendable () -> Void) { self.work = work }

    static func start(_ work: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(Job(work)).toOpaque()
        let result = pthread_create(
            &thread, nil,
            { context in
                Unmanaged<Job>.fromOpaque(context!).takeRetainedValue().work()
                return nil
            }, context)
        precondition(result == 0, "no thread")
        pthread_detach(thread)
    }
}
