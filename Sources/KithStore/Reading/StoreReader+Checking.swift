import CSQLite
import Synchronization

extension StoreReader {
    /// Whether something failed in such a way that the reader is better made anew.
    package var isBroken: Bool { connection.isBroken }

    /// Looks at every page of the file: whether each is reached once and holds what its place wants. What a row holds is
    /// not looked at.
    ///
    /// It is one reading, which keeps the log from being emptied until it ends.
    /// - Returns: whether it came to its end; false when it was cancelled.
    /// - Throws: `StoreError` `damaged`, and what the disk gives.
    /// - Complexity: O(size of the file).
    package func checkPages(until check: PageCheck) throws(StoreError) -> Bool {
        guard check.begin(connection.handle) else { return false }
        defer { check.end() }
        do throws(StoreError) {
            let answer = try connection.text("PRAGMA quick_check(1)") ?? ""
            guard answer == "ok" else {
                throw StoreError(
                    .damaged, connection.subject,
                    "the file of \(connection.subject) is damaged: see kith help database-damaged",
                    sqliteCode: SQLITE_CORRUPT)
            }
            return true
        } catch {
            if error.sqliteCode & 0xFF == SQLITE_INTERRUPT { return false }
            throw error
        }
    }
}

/// A check of a file's pages that may be cancelled from any thread.
package final class PageCheck: Sendable {
    private struct State {
        /// What is interrupted; an address, so that it may pass between threads. It lives while the check runs.
        var handle: UInt = 0
        var isCancelled = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Ends the check that runs, if any; none begins any more.
    package func cancel() {
        state.withLock { state in
            state.isCancelled = true
            if let handle = OpaquePointer(bitPattern: state.handle) { sqlite3_interrupt(handle) }
        }
    }

    fileprivate func begin(_ handle: OpaquePointer) -> Bool {
        state.withLock { state in
            if state.isCancelled { return false }
            state.handle = UInt(bitPattern: handle)
            return true
        }
    }

    fileprivate func end() { state.withLock { $0.handle = 0 } }
}
