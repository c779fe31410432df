import Dispatch
import KithNetwork

/// What a machine knows of the networks that it is on.
package protocol NetworkView: Sendable {
    /// The interfaces with their addresses, as they are at the moment.
    func interfaces() -> [Interface]

    /// Calls back when the machine gains an address that others may reach it by, on a queue of its own, for as long as the
    /// result is kept.
    func watch(onGain: @escaping @Sendable () -> Void) -> any Sendable
}

/// The networks of this machine.
package struct LocalNetwork: NetworkView {
    package init() {}

    package func interfaces() -> [Interface] { Interface.all() }

    package func watch(onGain: @escaping @Sendable () -> Void) -> any Sendable {
        NetworkWatch(on: DispatchQueue(label: "kith.network"), onGain: onGain)
    }
}
