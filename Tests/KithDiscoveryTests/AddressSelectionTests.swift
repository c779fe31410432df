import KithNetwork
import Testing

@testable import KithDiscovery

@Suite struct AddressSelectionTests {
    private let machine = [
        Interface(index: 1, isLoopback: true, ip: [127, 0, 0, 1], prefixLength: 8),
        Interface(index: 2, isLoopback: false, ip: [10, 77, 0, 1], prefixLength: 24),
        Interface(
            index: 2, isLoopback: false, ip: [0xfe, 0x80] + [UInt8](repeating: 0, count: 13) + [1], prefixLength: 64),
        Interface(index: 3, isLoopback: false, ip: [172, 17, 0, 1], prefixLength: 16),
    ]

    private func order(_ records: [(UInt32, [UInt8])], port: UInt16 = 5485) -> [String] {
        AddressSelection.order(
            records.map { .init(interface: $0.0, ip: $0.1) }, port: port, ownPort: 5484, interfaces: machine
        ).map { "\($0.address.withoutZone)\($0.sharesSubnet ? "" : " far")" }
    }

    @Test func addressesOfTheInterfacesSubnetComeFirst() {
        #expect(
            order([
                (2, [192, 0, 2, 9]), (2, [0xfe, 0x80] + [UInt8](repeating: 0, count: 13) + [9]), (2, [10, 77, 0, 9]),
            ])
                == ["10.77.0.9", "fe80::9", "192.0.2.9 far"])
    }

    @Test func anAddressOfAnotherInterfacesSubnetIsFar() {
        // 172.17.0.9 heard on eth0 is the other machine's inside, not a neighbour on our docker0.
        #expect(order([(2, [172, 17, 0, 9])]) == ["172.17.0.9 far"])
    }

    @Test func anotherNodeOfThisMachineIsReachedByItsOwnAddresses() {
        #expect(order([(1, [127, 0, 0, 1]), (2, [10, 77, 0, 1])]) == ["127.0.0.1", "10.77.0.1"])
    }

    @Test func thisNodeItselfIsNoCandidate() {
        #expect(order([(1, [127, 0, 0, 1]), (2, [10, 77, 0, 1]), (3, [172, 17, 0, 1])], port: 5484).isEmpty)
    }

    @Test func aLoopbackAddressFromTheNetworkIsDropped() {
        #expect(order([(2, [127, 0, 0, 1]), (2, [0, 0, 0, 0]), (2, [10, 77, 0, 9])]) == ["10.77.0.9"])
    }

    @Test func anAddressHeardTwiceIsOneCandidate() {
        #expect(order([(2, [10, 77, 0, 9]), (2, [10, 77, 0, 9]), (3, [10, 77, 0, 9])]).count == 1)
    }
}

extension NetworkAddress {
    /// The host without `%eth0`: interface numbers of a test are no interfaces of the machine.
    fileprivate var withoutZone: String { String(host.prefix { $0 != "%" }) }
}
