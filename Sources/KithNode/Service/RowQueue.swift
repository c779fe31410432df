import KithStore
import Synchronization

/// The lines of a query's answer on their way to a reader that may be slow: some in memory, the rest in a file. So the query
/// waits for nobody, and what it reads is let go as soon as it is over.
///
/// One thread puts lines in, one task takes them out.
final class RowQueue: Sendable {
    private struct State {
        /// What comes first, then the file, then the end.
        var first: [UInt8] = []
        var file: WaitingRows?
        var last: [UInt8] = []
        var isOver = false
        var failure: ControlError?
        var reader: CheckedContinuation<Void, Never>?

        var isEmpty: Bool { first.isEmpty && last.isEmpty && file == nil }
    }

    private let state = Mutex(State())
    private let database: DatabaseFile
    private let number: UInt64
    private let unwanted = Flag()

    /// - Parameter number: no two queues at a time may have the same.
    init(beside database: DatabaseFile, number: UInt64) {
        self.database = database
        self.number = number
    }

    /// Whether nobody takes any more.
    var isUnwanted: Bool { unwanted.isSet }

    /// Nobody takes any more.
    func abandon() { unwanted.set() }

    /// Puts a line in.
    /// - Returns: false where nobody wants it, or it can't be kept.
    func put(_ line: [UInt8]) -> Bool {
        if unwanted.isSet { return false }
        let (reader, isKept) = state.withLock { state in
            guard state.failure == nil else { return (state.reader.take(), false) }
            do throws(StoreError) { try put(line, &state) } catch { state.failure = ControlError(error) }
            return (state.reader.take(), state.failure == nil)
        }
        reader?.resume()
        return isKept
    }

    private func put(_ line: [UInt8], _ state: inout State) throws(StoreError) {
        if state.file == nil, state.last.isEmpty, state.first.count < ControlLimits.rowBytes {
            state.first += line
            return
        }
        state.last += line
        guard state.last.count >= ControlLimits.rowPartBytes else { return }
        let file: WaitingRows
        if let known = state.file { file = known } else { file = try WaitingRows(beside: database, number: number) }
        state.file = file
        try file.append(state.last)
        state.last = []
    }

    /// The query is over.
    /// - Parameter failure: why it has not come to its end.
    func finish(_ failure: ControlError?) {
        let reader = state.withLock { state in
            state.isOver = true
            state.failure = state.failure ?? failure
            return state.reader.take()
        }
        reader?.resume()
    }

    /// Takes what is there, and waits while there is nothing.
    /// - Returns: whole lines; nil after the last.
    /// - Throws: why the query has not come to its end, after all that it gave before.
    func next() async throws(ControlError) -> [UInt8]? {
        while true {
            let (part, isOver) = try take()
            if part != nil || isOver { return part }
            await withTaskCancellationHandler {
                await wait()
            } onCancel: {
                abandon()
            }
        }
    }

    private func take() throws(ControlError) -> (part: [UInt8]?, isOver: Bool) {
        let result = state.withLock { state -> Result<([UInt8]?, Bool), ControlError> in
            if !state.first.isEmpty { return .success((Self.empty(&state.first), false)) }
            if let file = state.file {
                do throws(StoreError) {
                    if let part = try file.next() { return .success((part, false)) }
                } catch {
                    return .failure(ControlError(error))
                }
                state.file = nil
            }
            if !state.last.isEmpty { return .success((Self.empty(&state.last), false)) }
            if let failure = state.failure { return .failure(failure) }
            return .success((nil, state.isOver))
        }
        return try result.get()
    }

    private static func empty(_ bytes: inout [UInt8]) -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    private func wait() async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if !state.isEmpty || state.isOver || state.failure != nil { return true }
                state.reader = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
    }
}
