import Dispatch
import KithDiscovery
import KithDocument
import KithNetwork
import KithReplication
import KithTransport

/// This node's own identity, met elsewhere: mostly this node itself by another way (an address given as a peer, a router
/// that leads back), and now and then a copy of it on another machine. What is announced proves neither.
extension Node {
    /// Takes the services as discovery has them. One with this node's own id may be anybody's: it is dialled as an address
    /// of which nobody knows whose it is.
    func takeServices(_ services: [DiscoveredService]) {
        var hasNamesake = false
        let taken = services.map { service -> DiscoveredService in
            guard service.nodeID == id else { return service }
            hasNamesake = hasNamesake || (service.isPresent && !service.addresses.isEmpty)
            return DiscoveredService(
                name: service.name, isPresent: service.isPresent, interfaces: service.interfaces, text: nil,
                addresses: service.addresses)
        }
        if !hasNamesake { twinAddresses = [] }
        book.setDiscovered(taken)
    }

    /// Under which both ends of a connection export its key, which no other connection has.
    private static let exporterLabel = "EXPORTER-kith-self-1"

    /// Somebody with this node's own key answered a dial. The connection is closed.
    func foundOwnIdentity(at address: Endpoint, over connection: Connection, now: Instant) {
        book.failed(
            address, for: nil, reason: "this node's own identity answers there", now: now.milliseconds, using: &random)
        if isOwnAddress(address) {
            connection.close()
            return leaveAlone(address, now: now)
        }
        connection.queue.async {
            let key = try? connection.exportKey(label: Self.exporterLabel)
            connection.close()
            guard let key else { return }
            // Where the way led back to this node, its listener has or will have the other end of this very connection.
            self.queue.asyncAfter(deadline: .now() + .milliseconds(NodeLimits.ownVisitMilliseconds)) {
                self.judgeOwnIdentity(at: address, key: key)
            }
        }
    }

    /// The listener had a visitor with this node's own key, who is closed.
    func visitedByOwnIdentity(over connection: Connection) {
        connection.queue.async {
            let key = try? connection.exportKey(label: Self.exporterLabel)
            connection.close()
            guard let key else { return }
            self.queue.async {
                self.ownVisits.append(key)
                if self.ownVisits.count > NodeLimits.ownVisits { self.ownVisits.removeFirst() }
            }
        }
    }

    private func judgeOwnIdentity(at address: Endpoint, key: [UInt8]) {
        guard isRunning else { return }
        if ownVisits.contains(key) { return leaveAlone(address, now: SystemClock.now) }
        if !isDoubled { log(.warning, .mesh, "another machine has this node's identity: it answers at \(address)") }
        if twinAddresses.count < NodeLimits.ownVisits { twinAddresses.insert(address) }
        changed()
    }

    /// Whether another machine has this node's identity: it answered a dial, and no dial since has found otherwise.
    var isDoubled: Bool { !twinAddresses.isEmpty }

    private func leaveAlone(_ address: Endpoint, now: Instant) {
        if ownAddressesTold.count < NodeLimits.presenceNodes, ownAddressesTold.insert(address.description).inserted {
            log(.info, .mesh, "\(address) is this node itself and is left alone")
        }
        book.reachedSelf(at: address, now: now.milliseconds)
    }

    private func isOwnAddress(_ address: Endpoint) -> Bool {
        guard case .numeric(let numeric) = address else { return false }
        return numeric.isLoopback || Interface.all().contains { $0.ip == numeric.ip }
    }
}
