import Dispatch
import Glibc
import KithNode
import Synchronization

/// The signals of a process that runs a node: SIGTERM and SIGINT stop it, SIGHUP has it read its configuration again.
///
/// After the first that stops, a second ends the process at once, as does the end of the time that stopping may take: what
/// was acknowledged is on disk anyway. SIGHUP before there is a node does nothing, and so a closed terminal never ends one.
final class NodeSignals: @unchecked Sendable {
    // Sendable: `sources` is set while it is made and not touched afterwards.

    private struct State {
        var hangup: (@Sendable () -> Void)?
        var isStopping = false
    }

    private let state = Mutex(State())
    private var sources: [any DispatchSourceSignal] = []
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        for number in [SIGTERM, SIGINT, SIGHUP] {
            // Dispatch hears of signals only while the process does not.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [weak self] in self?.received(number) }
            source.resume()
            sources.append(source)
        }
    }

    /// What SIGHUP does.
    var hangup: (@Sendable () -> Void)? {
        get { state.withLock { $0.hangup } }
        set { state.withLock { $0.hangup = newValue } }
    }

    /// Stops as a signal does.
    var stop: @Sendable () -> Void { { [weak self] in _ = self?.beginStop() } }

    /// Returns when the node is to stop.
    func wait() async { for await _ in stream { return } }

    private func received(_ number: Int32) {
        if number == SIGHUP { hangup?() } else if !beginStop() { _exit(ExitStatus.failed) }
    }

    /// - Returns: whether this was the first time.
    @discardableResult
    private func beginStop() -> Bool {
        let isFirst = state.withLock { state in
            defer { state.isStopping = true }
            return !state.isStopping
        }
        guard isFirst else { return false }
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(NodeLimits.endMilliseconds)) {
            Messages.line("kith: stopping took longer than \(NodeLimits.endMilliseconds / 1_000) s: ending now")
            _exit(ExitStatus.failed)
        }
        continuation.yield()
        return true
    }
}
