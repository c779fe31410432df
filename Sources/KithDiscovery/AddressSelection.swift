import KithNetwork

/// Which of the addresses in an answer are worth a dial, and in which order.
enum AddressSelection {
    /// One address record and the interface it came on.
    struct Record: Hashable {
        let interface: UInt32
        let ip: [UInt8]
    }

    /// Leaves out what can only lead to this node itself or nowhere, and puts the nearest first.
    ///
    /// A loopback address is good only as heard on the loopback interface, where other machines do not speak. This
    /// machine's own addresses stay, because another node of this machine is reached by them; with this node's own port
    /// they are this node, and go.
    static func order(
        _ records: [Record], port: UInt16, ownPort: UInt16?, interfaces: [Interface]
    ) -> [FoundAddress] {
        var seen: Set<NetworkAddress> = []
        var ranked: [(rank: Int, index: Int, address: FoundAddress)] = []
        for (index, record) in records.enumerated() {
            guard let address = NetworkAddress(ip: record.ip, interface: record.interface, port: port),
                !address.isUndialable, seen.insert(address).inserted
            else { continue }
            let isOwn = interfaces.contains { $0.ip == address.ip && (address.scope == 0 || $0.index == address.scope) }
            if address.isLoopback {
                guard interfaces.contains(where: { $0.index == record.interface && $0.isLoopback }) else { continue }
            }
            if isOwn || address.isLoopback {
                guard port != ownPort else { continue }
            }
            let isNear =
                isOwn || address.isLoopback || address.scope != 0
                || interfaces.contains { $0.index == record.interface && $0.sharesSubnet(with: address.ip) }
            let found = FoundAddress(address: address, interface: record.interface, sharesSubnet: isNear)
            let family = address.isLinkLocal ? 2 : address.isIPv6 ? 1 : 0
            let rank = (address.isLoopback || isOwn && !address.isLinkLocal ? 0 : isNear ? 10 : 20) + family
            ranked.append((rank, index, found))
        }
        ranked.sort { ($0.rank, $0.index) < ($1.rank, $1.index) }
        return ranked.prefix(Limits.addressesPerService).map(\.address)
    }
}
