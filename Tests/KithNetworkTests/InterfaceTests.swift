import Testing

@testable import KithNetwork

@Suite struct InterfaceTests {
    @Test func `subnets end within a byte too`() {
        let interface = Interface(index: 2, isLoopback: false, ip: [10, 77, 0b1010_0000, 1], prefixLength: 19)
        #expect(interface.sharesSubnet(with: [10, 77, 0b1011_1111, 9]))
        #expect(!interface.sharesSubnet(with: [10, 77, 0b1100_0000, 9]))
        #expect(!interface.sharesSubnet(with: [UInt8](repeating: 0, count: 16)))
    }

    @Test func `the interfaces of this machine include the loopback`() {
        #expect(Interface.all().contains { $0.isLoopback && $0.index != 0 && $0.prefixLength > 0 })
    }
}
