import Dispatch
import KithDiscovery
import KithDocument
import KithNetwork
import KithReplication
import KithStore
import KithSystem
import KithTransport

extension Node {
    /// Sends this node's presence record to its neighbours when it has changed or grows old.
    /// - Parameter newcomer: a link that has just opened, which gets the record in any case.
    func announcePresence(to newcomer: LinkDriver? = nil) {
        let now = clock.now
        let record = presence.ownRecord(counter: UInt64(max(0, clock.wallMilliseconds)), now: now) { counter in
            PresenceRecord(
                node: id, counter: counter, name: identity.nodeName, softwareVersion: KithVersion.text,
                isReader: selection.isReader,
                neighbours: Array(
                    peers.values.filter(\.isOpen).map(\.id).sorted().prefix(NodeLimits.presenceNeighbours)),
                databases: catalog.databases.prefix(NodeLimits.presenceDatabases).map { database in
                    let summary = database.summary
                    return .init(name: database.name.string, position: summary.position, digest: summary.digest)
                }, instance: instance, doubled: Array(twins.found(now: now).prefix(NodeLimits.presenceTwins)),
                addresses: advertised, isAnnounced: discovery?.state.phase == .advertised)
        }
        if let record {
            pass(on: record.encoded, except: nil)
        } else if let newcomer, let own = presence.own {
            newcomer.post(.presence(own.encoded))
        }
    }

    /// A record came from a neighbour: news goes to the other neighbours.
    func heardPresence(_ bytes: [UInt8], from driver: LinkDriver) {
        do throws(ProtocolError) {
            let record = try PresenceRecord(encoded: bytes)
            let now = clock.now
            if record.node == driver.peer.nodeID { heardAll(of: record.node) }
            guard !isRevoked(record.node) else { return }
            let isNews = presence.hear(record, encoded: bytes, now: now)
            twins.hear(record, isNews: isNews, now: now)
            guard isNews else { return }
            if peers[record.node] == nil {
                peers[record.node] = PeerState(record.node, now: clock.wallMilliseconds)
            }
            peers[record.node]?.name = record.name
            book.setAdvertised(
                record.addresses.compactMap { try? Endpoint(peer: $0) }, by: record.node)
            if peers[record.node]?.link == nil { peers[record.node]?.softwareVersion = record.softwareVersion }
            pass(on: bytes, except: driver.id)
        } catch {
            log(
                .warning, .link, "a presence record can't be read",
                ["peer": driver.peer.nodeID.short, "reason": error.message])
        }
    }

    private func pass(on record: [UInt8], except origin: UInt64?) {
        for number in drivers.keys.sorted() where number != origin {
            guard let driver = drivers[number], peers[driver.peer.nodeID]?.link == number,
                peers[driver.peer.nodeID]?.isOpen == true
            else { continue }
            driver.post(.presence(record))
        }
    }
}
