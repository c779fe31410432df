import Dispatch

/// Keeps one registration alive, under another name where the first is taken.
///
/// Sendable unchecked: used on the discovery queue alone.
final class Advertiser: @unchecked Sendable {
    enum Event {
        /// Avahi announces this node under the name. Comes again when Avahi changes the name.
        case announced(name: String)
        /// It does not, for this reason, and it is tried again by itself.
        case troubled(DiscoveryError)
        /// The connection to Avahi is dead: everything must be made anew.
        case lost(DiscoveryError)
    }

    private let advertisement: Advertisement
    private let tag: String
    private let queue: DispatchQueue
    private let deliver: (Event) -> Void
    private let pause: (inout BackOff) -> UInt64
    private var reference: ServiceReference?
    private var timer: DispatchWorkItem?
    private var attempt = 0
    private var isCancelled = false
    private var backOff = BackOff(
        initialMilliseconds: Limits.reconnectInitialMilliseconds,
        maximumMilliseconds: Limits.reconnectMaximumMilliseconds)

    /// The pause function draws the next pause of a back-off; the randomness is the caller's.
    init(
        _ advertisement: Advertisement, tag: String, queue: DispatchQueue, pause: @escaping (inout BackOff) -> UInt64,
        deliver: @escaping (Event) -> Void
    ) {
        self.advertisement = advertisement
        self.tag = tag
        self.queue = queue
        self.pause = pause
        self.deliver = deliver
    }

    /// The name that was asked for last.
    var requestedName: String { advertisement.instanceName(attempt: attempt) }

    /// Registers. May deliver `lost` or `troubled` at once.
    func register() {
        guard !isCancelled else { return }
        do throws(DiscoveryError) {
            reference = try ServiceReference.register(
                name: requestedName, tag: tag, port: advertisement.port,
                text: ServiceText(
                    nodeID: advertisement.nodeID, protocolVersion: advertisement.protocolVersion, tag: tag
                ).encoded,
                on: queue
            ) { [weak self] event in
                self?.handle(event)
            }
            wait(UInt64(Limits.registrationTimeoutMilliseconds)) { $0.timedOut() }
        } catch {
            // The number for all that can be missing is also that for a daemon which does not want to announce.
            if case .library(_, -65537) = error, AvahiProbe().find() == .answering { return refused() }
            failed(error)
        }
    }

    /// Avahi is there and does not take the announcement.
    private func refused() {
        timer?.cancel()
        deliver(
            .troubled(
                .unavailable(
                    "Avahi does not take the announcement of this node (disable-publishing=yes in avahi-daemon.conf?)"))
        )
        wait(pause(&backOff)) { $0.register() }
    }

    /// Withdraws the registration.
    func cancel() {
        isCancelled = true
        timer?.cancel()
        reference?.cancel()
        reference = nil
    }

    private func handle(_ event: ReferenceEvent) {
        switch event {
        case .registered(let name):
            timer?.cancel()
            backOff.reset()
            deliver(.announced(name: name))
        case .failed(let code): failed(.library("announcing this node", code: code))
        default: break
        }
    }

    private func failed(_ error: DiscoveryError) {
        reference?.cancel()
        reference = nil
        timer?.cancel()
        guard case .library(_, let code) = error, code != -65537 else { return deliver(.lost(error)) }
        let isFirstConflict = code == nameConflict && backOff.failures == 0
        if code == nameConflict { attempt += 1 }
        let milliseconds = pause(&backOff)
        // The first other name is tried at once: two nodes of one machine that were given one name are no trouble.
        if isFirstConflict { return register() }
        deliver(.troubled(error))
        wait(milliseconds) { $0.register() }
    }

    private func timedOut() {
        reference?.cancel()
        reference = nil
        attempt += 1
        deliver(.troubled(.unavailable("Avahi did not confirm the announcement of this node; trying another name")))
        if !isCancelled { register() }
    }

    private func wait(_ milliseconds: UInt64, then action: @escaping @Sendable (Advertiser) -> Void) {
        guard !isCancelled else { return }
        timer?.cancel()
        let timer = DispatchWorkItem { [weak self] in
            if let self { action(self) }
        }
        self.timer = timer
        queue.asyncAfter(deadline: .now() + .milliseconds(Int(milliseconds)), execute: timer)
    }
}
