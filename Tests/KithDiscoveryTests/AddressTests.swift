import KithTestSupport
import Testing

@testable import KithDiscovery

@Suite struct AddressTests {
    @Test(arguments: [
        "192.0.2.1:5484", "[2001:db8::1]:5484", "[::1]:1", "nas:5484", "nas.example.org:65535", "a_b-c.local:5484",
    ])
    func anAddressReadsBackAsItWasWritten(_ text: String) throws {
        #expect(try PeerAddress(text).description == text)
    }

    @Test func theLoopbackInterfaceIsAScopeByNameAndByNumber() throws {
        let named = try PeerAddress("[fe80::1%lo]:5484")
        #expect(try PeerAddress("[fe80::1%1]:5484") == named)
        guard case .numeric(let address) = named else { throw DiscoveryError.stopped }
        #expect(address.scope == 1)
        #expect(address.description == "[fe80::1%lo]:5484")
    }

    @Test(arguments: [
        "", ":5484", "nas", "nas:", "nas:0", "nas:65536", "nas:+1", "nas:5484x", "[::1", "[::1]5484", "[::1]:", "::1",
        "300.1.1.1:1", "a..b:1", "-- --:1", "0.0.0.0:1", "[::]:1", "224.0.0.251:5353", "[ff02::fb]:5353",
        "[fe80::1%nosuchif]:1", "nas:1:2", "user@nas:1", String(repeating: "a", count: 64) + ":1",
        String(repeating: "a.", count: 200) + "b:1",
    ])
    func whatIsNoAddressIsRefusedWithAReason(_ text: String) {
        let error = #expect(throws: DiscoveryError.self) { try PeerAddress(text) }
        #expect(error?.message.isEmpty == false)
    }

    @Test func theDefaultPortCompletesAHostAnAddressAndABracketedAddress() throws {
        #expect(try PeerAddress("nas", defaultPort: 5484).description == "nas:5484")
        #expect(try PeerAddress("::1", defaultPort: 5484).description == "[::1]:5484")
        #expect(try PeerAddress("[::1]", defaultPort: 5484).description == "[::1]:5484")
        #expect(try PeerAddress("192.0.2.1", defaultPort: 5484).description == "192.0.2.1:5484")
    }

    @Test func onlyLinkLocalIPv6AddressesKeepTheInterface() {
        func scope(_ head: [UInt8]) -> UInt32? {
            NetworkAddress(ip: head + [UInt8](repeating: 0, count: 15 - head.count) + [1], interface: 7, port: 1)?.scope
        }
        #expect(scope([0xfe, 0x80]) == 7)
        #expect(scope([0xfe, 0xbf]) == 7)
        #expect(scope([0xfe, 0xc0]) == 0)
        #expect(scope([0xfd, 0x00]) == 0)
        #expect(scope([0x20, 0x01]) == 0)
        #expect(NetworkAddress(ip: [169, 254, 1, 1], interface: 7, port: 1)?.scope == 0)
    }

    @Test func anIPv4AddressWrittenAsIPv6IsTheIPv4Address() {
        let mapped = NetworkAddress(
            ip: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1], interface: 3, port: 5484)
        #expect(mapped == NetworkAddress(ip: [192, 0, 2, 1], interface: 0, port: 5484))
    }

    @Test func randomTextNeverTraps() {
        var random = SeededGenerator(seed: 0xadd)
        let alphabet = Array("[]:%.0123456789abcdefg-_ \u{301}é".utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<random.below(24)).map { _ in random.pick(alphabet) }
            _ = try? PeerAddress(String(decoding: bytes, as: UTF8.self), defaultPort: random.chance(1, in: 2) ? 1 : nil)
        }
    }

    // MARK: Selection

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

    @Test func subnetsEndWithinABytesToo() {
        let interface = Interface(index: 2, isLoopback: false, ip: [10, 77, 0b1010_0000, 1], prefixLength: 19)
        #expect(interface.sharesSubnet(with: [10, 77, 0b1011_1111, 9]))
        #expect(!interface.sharesSubnet(with: [10, 77, 0b1100_0000, 9]))
        #expect(!interface.sharesSubnet(with: [UInt8](repeating: 0, count: 16)))
    }

    @Test func theInterfacesOfThisMachineIncludeTheLoopback() {
        #expect(Interface.all().contains { $0.isLoopback && $0.index != 0 && $0.prefixLength > 0 })
    }
}

extension NetworkAddress {
    /// The host without `%eth0`: interface numbers of a test are no interfaces of the machine.
    fileprivate var withoutZone: String { String(host.prefix { $0 != "%" }) }
}
