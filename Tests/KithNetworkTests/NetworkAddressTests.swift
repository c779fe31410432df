import Glibc
import Testing

@testable import KithNetwork

@Suite struct NetworkAddressTests {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1:5484"), ("2001:db8::1", "[2001:db8::1]:5484"), ("::ffff:192.0.2.1", "192.0.2.1:5484"),
        ("fe80::1%lo", "[fe80::1%lo]:5484"), ("fe80::1%1", "[fe80::1%lo]:5484"),
        ("fe80::1%4000000", "[fe80::1%4000000]:5484"), ("::", "[::]:5484"),
    ])
    func `a numeric address reads back`(text: String, description: String) throws {
        let address = try #require(NetworkAddress(host: text, port: 5484))
        #expect(address.description == description)
        #expect(NetworkAddress(host: address.host, port: 5484) == address)
    }

    @Test(arguments: [
        "", "localhost", "1.2.3", "fe80::1%", "fe80::1%no-such-interface", "1.2.3.4%lo", "::1%0", "[::1]", "1.2.3.4\0",
    ])
    func `what is no numeric address is none`(text: String) {
        #expect(NetworkAddress(host: text, port: 1) == nil)
    }

    @Test func `only link-local IPv6 addresses keep the interface`() {
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

    @Test func `an IPv4 address written as IPv6 is the IPv4 address`() {
        let mapped = NetworkAddress(
            ip: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1], interface: 3, port: 5484)
        #expect(mapped == NetworkAddress(ip: [192, 0, 2, 1], interface: 0, port: 5484))
    }

    @Test(arguments: ["192.0.2.1", "2001:db8::1", "fe80::1%lo", "::1"])
    func `an address goes through the system's form unchanged`(host: String) throws {
        let address = try #require(NetworkAddress(host: host, port: 5484))
        #expect(address.withSystemAddress { pointer, _ in NetworkAddress(pointer) } == address)
        let read = NetworkAddress.read { room, count in
            address.withSystemAddress { pointer, size in
                memcpy(room, pointer, Int(size))
                count.pointee = size
            }
        }
        #expect(read.address == address)
    }

    @Test func `an address of another family is none`() {
        #expect(NetworkAddress.read { room, _ in room.pointee.sa_family = sa_family_t(AF_UNIX) }.address == nil)
        #expect(NetworkAddress.read { _, _ in }.address == nil)
    }
}
