import KithDocument
import KithNetwork

/// One address at which a node may be reached.
package struct Candidate: Hashable, Sendable {
    package enum Source: String, Sendable {
        case discovered
        case `static`
        /// The node tells of it through the group (`--advertise`).
        case advertised
        case remembered
    }

    package let address: Endpoint
    package let source: Source
    /// The service to resolve anew before the dial; nil unless discovered.
    package let service: InstanceName?
    /// The interface the address was heard on; nil unless discovered.
    package let interface: UInt32?
    /// Who is expected there, a hint; nil where nobody knows.
    package let node: NodeID?
    /// When it was last dialled, on the caller's clock; nil for never.
    package let lastTried: UInt64?
    /// Why the last dial failed; nil when it did not.
    package let lastError: String?
    /// Not to be dialled before this time; nil for at once.
    package let notBefore: UInt64?
}
