import Dispatch
import Glibc
import KithNode
import Synchronization

/// Ctrl-C and SIGTERM during work that must not be left half done in files: the first ends the work at its next step, the
/// second the process.
enum Interruption {
    private static let asked = Atomic(0)
    private static let unfinished = Mutex<String?>(nil)
    private static let sources = Mutex<[any DispatchSourceSignal]>([])

    /// Takes the signals over.
    /// - Returns: whether one has come.
    static func begin() -> @Sendable () -> Bool {
        sources.withLock { sources in
            guard sources.isEmpty else { return }
            for number in [SIGINT, SIGTERM] {
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { came() }
                source.resume()
                sources.append(source)
            }
        }
        return { asked.load(ordering: .relaxed) > 0 }
    }

    /// Removes a file at the signal and ends at once: for work that waits for others and takes no steps.
    /// - Parameter path: nil where nothing is unfinished any more.
    static func removes(_ path: String?) {
        unfinished.withLock { $0 = path }
        if path != nil { _ = begin() }
    }

    private static func came() {
        let path = unfinished.withLock { $0 }
        if let path { unlink(path) }
        if path != nil || asked.wrappingAdd(1, ordering: .relaxed).newValue > 1 { _exit(ExitStatus.interrupted) }
    }

    /// Runs work of KithNode with its errors as the command's own.
    static func asCommand<Value>(_ body: () throws(NodeError) -> Value) throws(CommandError) -> Value {
        do throws(NodeError) { return try body() } catch {
            let status: Int32 =
                switch error.code {
                case "usage": ExitStatus.usage
                case "not_found": ExitStatus.notFound
                case "cancelled": ExitStatus.interrupted
                default: ExitStatus.failed
                }
            throw CommandError(error.message, status: status)
        }
    }
}
