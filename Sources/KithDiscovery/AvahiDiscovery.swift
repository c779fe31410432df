import CDNSSD
import Dispatch
import Glibc
import KithNetwork
import Synchronization

/// Discovery over Avahi's dns_sd library.
///
/// Three references live long: the registration, the browse of the group's subtype, and the browse of all of
/// `_kith._tcp`, by which other groups are counted. They are made together and, because the library never reconnects,
/// dropped together on the first sign that the connection is dead, to be made anew after a pause. Resolving takes at most
/// two more for a moment.
///
/// Sendable unchecked: everything but the published state is used on the one serial queue alone, which is also where
/// the library's callbacks and all of this target's timers run.
package final class AvahiDiscovery: DiscoveryService, @unchecked Sendable {
    /// What `start` was given.
    struct Wish {
        let tag: String
        let advertisement: Advertisement?
        let onServicesChanged: @Sendable ([DiscoveredService]) -> Void
        let onStateChanged: @Sendable (DiscoveryState) -> Void
    }

    /// The long-lived references.
    struct Session {
        var advertiser: Advertiser?
        var browses: [ServiceReference] = []
        /// The name Avahi announces this node under.
        var announcedName: String?
    }

    /// What is known of an instance beyond its being there.
    struct Knowledge {
        var resolution: Resolution?
        var backOff = BackOff(
            initialMilliseconds: Limits.resolveAgainInitialMilliseconds,
            maximumMilliseconds: Limits.resolveAgainMaximumMilliseconds)
        var isAsked = false
    }

    let queue = DispatchQueue(label: "kith.discovery")
    let resolver: Resolver
    private var random: any RandomNumberGenerator & Sendable
    private let published = Mutex(
        DiscoveryState(phase: .off, since: Clock.wall(), lastError: nil, foreignGroups: 0, instanceName: nil))

    var wish: Wish?
    var session: Session?
    /// Counts starts and reconnects, so that what was begun for an earlier one does nothing in a later one.
    var generation: UInt64 = 0
    var backOff = BackOff(
        initialMilliseconds: Limits.reconnectInitialMilliseconds,
        maximumMilliseconds: Limits.reconnectMaximumMilliseconds)
    var lastError: String?
    /// What the probe found when the connection was lost last.
    var missing: AvahiProbe.Finding?
    var watch: (any DispatchSourceTimer)?
    var sleepCheck: (any DispatchSourceTimer)?

    var ours = SeenServices()
    var all = SeenServices()
    var knowledge: [InstanceName: Knowledge] = [:]
    /// The group tags of foreign instances; an empty one where it was asked for and is not known.
    var foreignTags: [InstanceName: String] = [:]
    /// The last name of this node's own announcement.
    var ownName: InstanceName?
    var isPublishPending = false
    var lastServices: [DiscoveredService] = []

    /// Announcements heard on other interfaces do not count, and addresses heard there are not offered.
    let interfaces: InterfacePatterns

    /// Randomness goes into the pauses alone.
    package init(
        interfaces: InterfacePatterns = .all,
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.interfaces = interfaces
        self.random = random
        resolver = Resolver(queue: queue, interfaces: interfaces)
    }

    package var state: DiscoveryState { published.withLock { $0 } }

    package func start(
        tag: String, advertising advertisement: Advertisement?,
        onServicesChanged: @escaping @Sendable ([DiscoveredService]) -> Void,
        onStateChanged: @escaping @Sendable (DiscoveryState) -> Void
    ) throws(DiscoveryError) {
        guard Advertisement.isTag(tag) else {
            throw .invalid("a group's tag is 2 to 62 lower-case letters, digits or hyphens")
        }
        Self.prepareLibrary
        let wish = Wish(
            tag: tag, advertisement: advertisement, onServicesChanged: onServicesChanged, onStateChanged: onStateChanged
        )
        // From now on it is wanted, though nothing has been done yet.
        let beginning = DiscoveryState(
            phase: .searching, since: Clock.wall(), lastError: nil, foreignGroups: 0, instanceName: nil)
        published.withLock { $0 = beginning }
        queue.async { [self] in
            end()
            self.wish = wish
            onStateChanged(beginning)
            resolver.ownPort = advertisement?.port
            connect()
            beginSleepCheck()
        }
    }

    /// Done once, before the library's first call: else it prints a banner to standard error and the system log, and its
    /// references begin in memory that is not cleared, where it finds callbacks that nobody gave it.
    private static let prepareLibrary: Void = {
        setenv("AVAHI_COMPAT_NOWARN", "1", 1)
        _ = kith_clear_avahi_memory()
    }()

    package func stop(completion: @escaping @Sendable () -> Void) {
        queue.async { [self] in
            end()
            updateState()
            completion()
        }
    }

    package func refresh() {
        queue.async { [self] in
            guard wish != nil else { return }
            backOff.reset()
            disconnect()
            connect()
        }
    }

    package func resolve(
        _ name: InstanceName, completion: @escaping @Sendable (Result<Resolution, DiscoveryError>) -> Void
    ) {
        queue.async { [self] in
            guard wish != nil else { return completion(.failure(.stopped)) }
            guard session != nil else {
                return completion(.failure(.unavailable(lastError ?? "discovery is unavailable")))
            }
            resolver.resolve(name, urgency: .dial) { [weak self] answer in
                self?.learn(name, answer)
                completion(answer)
            }
        }
    }

    /// Draws the next pause of a back-off.
    func pause(_ backOff: inout BackOff) -> UInt64 {
        var random = self.random
        defer { self.random = random }
        return backOff.next(using: &random)
    }

    /// Publishes the state as it is now, and tells of it when it differs.
    func updateState() {
        let phase: DiscoveryState.Phase =
            wish == nil
            ? .off : session == nil ? .unavailable : session?.announcedName == nil ? .searching : .advertised
        let old = state
        let new = DiscoveryState(
            phase: phase, since: phase == old.phase ? old.since : Clock.wall(),
            lastError: wish == nil ? nil : lastError, missing: phase == .unavailable ? missing : nil,
            foreignGroups: foreignGroups, instanceName: session?.announcedName)
        guard new != old else { return }
        published.withLock { $0 = new }
        wish?.onStateChanged(new)
    }

    private func end() {
        generation += 1
        wish = nil
        disconnect()
        resolver.cancelAll(.stopped)
        watch?.cancel()
        watch = nil
        sleepCheck?.cancel()
        sleepCheck = nil
        lastError = nil
        backOff.reset()
        ours = SeenServices()
        all = SeenServices()
        knowledge = [:]
        foreignTags = [:]
        ownName = nil
        isPublishPending = false
        lastServices = []
    }
}
