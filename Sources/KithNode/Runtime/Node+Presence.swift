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
                neighbours: Array(linkedPeers.prefix(NodeLimits.presenceNeighbours)),
                databases: catalog.databases.prefix(NodeLimits.presenceDatabases).map { database in
                    let summary = database.summary
                    return .init(name: database.name.string, position: summary.position, digest: summary.digest)
                }, instance: instance, doubled: Array(twins.found(now: now).prefix(NodeLimits.presenceTwins)),
                addresses: advertised, isAnnounced: discovery?.state.phase == .advertised)
        }
        if let record {
            let encoded = record.encoded
            for driver in openLinks { driver.post(.presence([encoded])) }
        } else if let newcomer, let own = presence.own {
            newcomer.post(.presence([own.encoded]))
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
            showToItself(record, bytes, from: driver)
            exchange.heard(PresenceOffer(node: record.node, counter: record.counter), from: driver.id)
            offerSoon()
        } catch {
            log(
                .warning, .link, "a presence record can't be read",
                ["peer": driver.peer.nodeID.short, "reason": error.message])
        }
    }

    /// A record of a peer that another process of it has made is shown to the one at the other end of the link: it knows which
    /// processes came before it, and so whether another one runs.
    private func showToItself(_ record: PresenceRecord, _ bytes: [UInt8], from driver: LinkDriver) {
        guard let peer = peers[record.node], peer.isOpen, peer.instance != record.instance,
            let link = linkInUse(to: peer), link !== driver
        else { return }
        link.post(.presence([bytes]))
    }

    /// The links in use on which both sides have told of themselves, in the order in which they were made.
    var openLinks: [LinkDriver] {
        drivers.keys.sorted().compactMap { number in
            guard let driver = drivers[number], let peer = peers[driver.peer.nodeID], peer.link == number, peer.isOpen
            else { return nil }
            return driver
        }
    }

    /// The peers to whom these links go, ascending. In a large mesh these are few of all that are known.
    var openPeers: [PeerState] { openLinks.compactMap { peers[$0.peer.nodeID] }.sorted { $0.id < $1.id } }

    // MARK: News of others

    private func offerSoon() {
        guard !isOfferPlanned else { return }
        isOfferPlanned = true
        let more = presence.count * NodeLimits.presenceGatherPerNodeMicroseconds / 1_000
        queue.async(afterMilliseconds: NodeLimits.presenceGatherMilliseconds + more) {
            self.isOfferPlanned = false
            self.offerNews()
        }
    }

    private func offerNews() {
        let links = openLinks
        for (number, offers) in exchange.takeNews(for: links.map(\.id)) {
            guard let driver = drivers[number] else { continue }
            let peer = driver.peer.nodeID
            // Whom a node has a link to, it tells itself.
            let rest = offers.filter {
                $0.node != peer && presence.record(of: $0.node)?.neighbours.contains(peer) != true
            }
            if rest.isEmpty { continue }
            if peers[peer]?.takesOffers == true {
                offer(rest, to: driver)
            } else {
                driver.post(.presence(presence.encoded(of: rest.map(\.node))))
            }
        }
    }

    /// Tells a neighbour what there is.
    func offer(_ offers: [PresenceOffer], to driver: LinkDriver) {
        var rest = offers[...]
        while !rest.isEmpty {
            driver.post(.gossip(Gossip(offers: Array(rest.prefix(ReplicationLimits.gossipRecords)))))
            rest = rest.dropFirst(ReplicationLimits.gossipRecords)
        }
    }

    /// A neighbour offers records, and asks for some.
    func heard(_ gossip: Gossip, from driver: LinkDriver) {
        let wanted = exchange.offered(gossip.offers, by: driver.id, now: clock.now) { offer in
            presence.isKnown(offer) || isRevoked(offer.node)
        }
        ask([(driver.id, wanted)])
        let records = presence.encoded(of: gossip.wants)
        if !records.isEmpty { driver.post(.presence(records)) }
    }

    /// Asks neighbours for records.
    func ask(_ parts: [PresenceExchange.Part<NodeID>]) {
        for (number, nodes) in parts where !nodes.isEmpty {
            var rest = nodes[...]
            while !rest.isEmpty {
                drivers[number]?.post(.gossip(Gossip(wants: Array(rest.prefix(ReplicationLimits.gossipRecords)))))
                rest = rest.dropFirst(ReplicationLimits.gossipRecords)
            }
        }
    }
}
