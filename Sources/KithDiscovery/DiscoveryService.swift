import KithDocument
import KithNetwork

/// A node of this group as discovery knows it. All of it is a hint: it says whom to dial, never who is there.
package struct DiscoveredService: Hashable, Sendable {
    /// The instance name: for people, and the handle for `resolve`. Never an identity.
    package let name: InstanceName
    /// Announced at this moment; else it was once, and may still be worth a late try.
    package let isPresent: Bool
    /// The interfaces it is announced on, by index, in order.
    package let interfaces: [UInt32]
    /// What its TXT record said when it was last resolved; nil where it has not been.
    package let text: ServiceText?
    /// Where it was when last resolved, best first. Addresses change without a word: resolve again before a dial.
    package let addresses: [FoundAddress]

    package init(
        name: InstanceName, isPresent: Bool, interfaces: [UInt32], text: ServiceText?, addresses: [FoundAddress]
    ) {
        self.name = name
        self.isPresent = isPresent
        self.interfaces = interfaces
        self.text = text
        self.addresses = addresses
    }

    /// The node id it claims.
    package var nodeID: NodeID? { text?.nodeID }
}

/// An address out of an answer, and the interface the answer came on.
package struct FoundAddress: Hashable, Sendable {
    package let address: NetworkAddress
    package let interface: UInt32
    /// In a subnet of that interface, or of this machine itself.
    package let sharesSubnet: Bool

    package init(address: NetworkAddress, interface: UInt32, sharesSubnet: Bool) {
        self.address = address
        self.interface = interface
        self.sharesSubnet = sharesSubnet
    }
}

/// The answer to a resolve.
package struct Resolution: Hashable, Sendable {
    package let text: ServiceText
    /// Best first; empty where the service is this node itself or has only addresses that can't be dialled.
    package let addresses: [FoundAddress]

    package init(text: ServiceText, addresses: [FoundAddress]) {
        self.text = text
        self.addresses = addresses
    }
}

/// How discovery stands, for status.
package struct DiscoveryState: Hashable, Sendable {
    package enum Phase: String, Sendable {
        /// This node is announced and sees others.
        case advertised
        /// It sees others, and is not announced: not yet, or not wanted, or `lastError` says why.
        case searching
        /// Neither, and `lastError` says why. It is tried again all the time.
        case unavailable
        /// Not wanted.
        case off
    }

    package let phase: Phase
    /// When this phase began, in milliseconds since 1970.
    package let since: UInt64
    /// The last thing that went wrong in plain words; nil once all is well again.
    package let lastError: String?
    /// Which piece is missing, where the phase is `unavailable` for that.
    package let missing: AvahiProbe.Finding?
    /// Other groups seen on this network, as far as they were looked at.
    package let foreignGroups: Int
    /// The instance name under which this node is announced.
    package let instanceName: String?

    package init(
        phase: Phase, since: UInt64, lastError: String?, missing: AvahiProbe.Finding? = nil, foreignGroups: Int,
        instanceName: String?
    ) {
        self.phase = phase
        self.missing = missing
        self.since = since
        self.lastError = lastError
        self.foreignGroups = foreignGroups
        self.instanceName = instanceName
    }
}

/// Finds the nodes of a group, and lets them find this one.
///
/// Discovery proposes and never decides: it ends no session and forgets no peer. Nothing here blocks its caller.
package protocol DiscoveryService: AnyObject, Sendable {
    /// Begins to look for the nodes that carry the tag and, with an advertisement, to announce this one.
    ///
    /// The callbacks come on discovery's own queue, at most one of each every 200 ms: all services known (those that
    /// are gone as well), and the state. Throws `invalid` for a tag that can't be a subtype.
    func start(
        tag: String, advertising: Advertisement?,
        onServicesChanged: @escaping @Sendable ([DiscoveredService]) -> Void,
        onStateChanged: @escaping @Sendable (DiscoveryState) -> Void
    ) throws(DiscoveryError)

    /// Withdraws the announcement and ends the search; the callbacks come no more once the completion has run.
    func stop(completion: @escaping @Sendable () -> Void)

    /// Asks anew where a service is: before each dial, because a change of port or address is told by nobody. Takes
    /// 5 s at the most once its turn has come; two are under way at a time.
    func resolve(_ name: InstanceName, completion: @escaping @Sendable (Result<Resolution, DiscoveryError>) -> Void)

    /// Begins again with fresh connections: the network changed, or the machine slept.
    func refresh()

    /// How discovery stands at this moment. Cheap; for any thread.
    var state: DiscoveryState { get }
}

extension DiscoveryService {
    /// `resolve` for a caller that can wait.
    package func resolve(_ name: InstanceName) async throws(DiscoveryError) -> Resolution {
        let result = await withCheckedContinuation { continuation in
            resolve(name) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }
}
