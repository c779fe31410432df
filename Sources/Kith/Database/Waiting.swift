import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Blocking calls: a thread waits for what a database's queue does. Where that queue itself would wait there is an error
/// instead of a hang.
enum Waiting {
    /// Threads that run a closure of a program's in `read { }` or `write { }`.
    private static let inside = Mutex<[UInt: Int]>([:])

    private static var thread: UInt {
        #if canImport(Glibc)
        pthread_self()
        #else
        UInt(bitPattern: pthread_self())
        #endif
    }

    /// Whether this thread is one of them.
    static var isInside: Bool { inside.withLock { $0[thread] != nil } }

    /// Runs such a closure.
    static func running<Value>(_ body: () throws -> Value) rethrows -> Value {
        let thread = thread
        inside.withLock { $0[thread, default: 0] += 1 }
        defer {
            inside.withLock { threads in
                let depth = threads[thread, default: 1] - 1
                threads[thread] = depth == 0 ? nil : depth
            }
        }
        return try body()
    }

    /// - Throws: `KithError` `nested` on a thread that runs such a closure.
    static func require(_ name: String) throws(KithError) {
        guard isInside else { return }
        throw KithError(
            .nested, name,
            "a blocking call to database \(name) within read { } or write { } would wait for itself: use what the closure is "
                + "given, or call after it")
    }

    /// Begins something and waits until it calls back.
    static func result<Value: Sendable>(_ begin: (@escaping @Sendable (Value) -> Void) -> Void) -> Value {
        let answer = Answer<Value>()
        begin { answer.put($0) }
        return answer.get()
    }

    private final class Answer<Value: Sendable>: Sendable {
        private let value = Mutex<Value?>(nil)
        private let done = DispatchSemaphore(value: 0)

        func put(_ value: Value) {
            self.value.withLock { $0 = value }
            done.signal()
        }

        func get() -> Value {
            done.wait()
            guard let value = value.withLock({ $0 }) else { preconditionFailure("an answer came without a value") }
            return value
        }
    }
}
