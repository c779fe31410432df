import Dispatch
import Glibc
import KithSystem

/// Tells the service manager of a node's life: that it opens, is ready, reads its configuration again, stops, how it
/// stands, and that it is alive.
///
/// Alive means that a task came back which went through the node's queue and read from a database: a node whose queue or
/// store hangs is not heard of any more, and the manager starts it anew.
package final class Supervisor: @unchecked Sendable {
    // Sendable: what varies is touched on `queue` only.

    private let queue = DispatchQueue(label: "kith.supervisor")
    private let notifier: ServiceNotifier
    private let statusMilliseconds: Int
    private let openingStepMilliseconds: Int
    private var opening: (any DispatchSourceTimer)?
    private var opensUntil: UInt64 = 0
    private var watchdog: (any DispatchSourceTimer)?
    private var statusTimer: (any DispatchSourceTimer)?
    private var status = ""
    private var isProving = false
    private var hasEnded = false

    /// - Parameters:
    ///   - statusMilliseconds: the least time between two lines of status.
    ///   - openingStepMilliseconds: how often patience is asked for.
    package init(
        _ notifier: ServiceNotifier, statusMilliseconds: Int = NodeLimits.serviceStatusMilliseconds,
        openingStepMilliseconds: Int = NodeLimits.openingStepMilliseconds
    ) {
        self.openingStepMilliseconds = openingStepMilliseconds
        self.notifier = notifier
        self.statusMilliseconds = statusMilliseconds
    }

    /// The node opens its databases, which may take long where a file is brought to a new version: the manager is asked for
    /// patience, for a bounded time.
    package func open() {
        guard notifier.isHeard else { return }
        queue.sync {
            opensUntil = SystemClock().monotonicMilliseconds + NodeLimits.openingMilliseconds
            opening = every(openingStepMilliseconds) { supervisor in
                if SystemClock().monotonicMilliseconds > supervisor.opensUntil { supervisor.opening = nil }
                supervisor.notifier.send(
                    "EXTEND_TIMEOUT_USEC=\(3 * supervisor.openingStepMilliseconds * 1_000)",
                    "STATUS=opening the databases")
            }
        }
    }

    /// The node holds its lock, has opened its databases and listens, for peers and at its control socket.
    package func ready(_ node: Node) {
        guard notifier.isHeard else { return }
        node.queue.async { [weak self, weak node] in
            guard let self, let node else { return }
            let line = node.statusLine
            self.queue.async { self.begin(node, line) }
        }
    }

    private func begin(_ node: Node, _ line: String) {
        if hasEnded { return }
        opening = nil
        status = line
        notifier.send("READY=1", "STATUS=\(line)")
        statusTimer = every(statusMilliseconds) { [weak node] in $0.tellStatus(node) }
        if let period = notifier.watchdogMilliseconds {
            notifier.send("WATCHDOG=1")
            watchdog = every(max(1, Int(clamping: period / 2))) { [weak node] in $0.prove(node) }
        }
    }

    private func tellStatus(_ node: Node?) {
        guard let node else { return }
        node.queue.async { [weak self] in
            let line = node.statusLine
            guard let self else { return }
            self.queue.async {
                if self.hasEnded || self.status == line { return }
                self.status = line
                self.notifier.send("STATUS=\(line)")
            }
        }
    }

    private func prove(_ node: Node?) {
        guard let node, !isProving else { return }
        isProving = true
        node.prove { [weak self] in
            guard let self else { return }
            self.queue.async {
                self.isProving = false
                if !self.hasEnded { self.notifier.send("WATCHDOG=1") }
            }
        }
    }

    /// The node reads its configuration again.
    package func reloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let microseconds = Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
        notifier.send("RELOADING=1", "MONOTONIC_USEC=\(microseconds)")
    }

    /// The node has read it, or keeps the old one.
    package func reloaded() { notifier.send("READY=1") }

    /// The node begins to stop: the last that the manager hears.
    package func stopping() {
        queue.sync {
            guard !hasEnded else { return }
            hasEnded = true
            (opening, watchdog, statusTimer) = (nil, nil, nil)
            notifier.send("STOPPING=1", "STATUS=stopping")
        }
    }

    private func every(
        _ milliseconds: Int, _ work: @escaping @Sendable (Supervisor) -> Void
    ) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [weak self] in if let self { work(self) } }
        timer.schedule(deadline: .now() + .milliseconds(milliseconds), repeating: .milliseconds(milliseconds))
        timer.resume()
        return timer
    }
}
