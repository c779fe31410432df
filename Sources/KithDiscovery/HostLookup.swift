import Dispatch
import Glibc

/// Looks up the host names of the static list, by the system's resolver.
///
/// A lookup blocks a thread for as long as the system's resolver likes, so at most four are under way; a name nobody
/// answers for delays the lookups of other names, and nothing else.
package enum HostLookup {
    private static let queue = DispatchQueue(label: "kith.lookup", attributes: .concurrent)
    private static let order = DispatchQueue(label: "kith.lookup.order")
    private static let slots = DispatchSemaphore(value: Limits.hostLookups)

    /// The addresses of a peer's address: at once where it is numeric, else by a lookup, in the system's order of
    /// preference. The completion comes on a queue of this type, or with a numeric address during this call.
    package static func addresses(
        of address: PeerAddress, completion: @escaping @Sendable (Result<[SocketAddress], DiscoveryError>) -> Void
    ) {
        switch address {
        case .numeric(let numeric): completion(.success([numeric]))
        case .name(let name, let port):
            order.async {
                slots.wait()
                queue.async {
                    let result = lookUp(name, port: port)
                    slots.signal()
                    completion(result)
                }
            }
        }
    }

    private static func lookUp(_ name: String, port: UInt16) -> Result<[SocketAddress], DiscoveryError> {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, String(port), &hints, &first)
        guard code == 0, let first else {
            return .failure(.unavailable("\(name): \(String(cString: gai_strerror(code)))"))
        }
        defer { freeaddrinfo(first) }
        var addresses: [SocketAddress] = []
        for entry in sequence(first: first, next: { $0.pointee.ai_next }) {
            guard let pointer = entry.pointee.ai_addr, let address = SocketAddress(UnsafePointer(pointer)),
                !address.isUndialable, !addresses.contains(address), addresses.count < Limits.addressesPerService
            else { continue }
            addresses.append(address)
        }
        return addresses.isEmpty ? .failure(.unresolved(name)) : .success(addresses)
    }
}
