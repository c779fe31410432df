import KithTestSupport
import Testing

@testable import KithNetwork

@Suite struct EndpointTests {
    @Test(arguments: [
        "192.0.2.1:5484", "[2001:db8::1]:5484", "[::1]:1", "[fe80::1%lo]:80", "nas:5484", "nas.example.org:65535",
        "a_b-c.local:5484",
    ])
    func `an endpoint reads back as it was written`(text: String) throws {
        #expect(try Endpoint(peer: text).description == text)
    }

    @Test func `the loopback interface is a scope by name and by number`() throws {
        let named = try Endpoint("[fe80::1%lo]:5484")
        #expect(try Endpoint("[fe80::1%1]:5484") == named)
        #expect(named == Endpoint(host: "fe80::1%lo", port: 5484))
        #expect(named.description == "[fe80::1%lo]:5484")
    }

    @Test func `the default port completes a host, an address and a bracketed address`() throws {
        #expect(try Endpoint("nas", defaultPort: 5484).description == "nas:5484")
        #expect(try Endpoint("::1", defaultPort: 5484).description == "[::1]:5484")
        #expect(try Endpoint("[::1]", defaultPort: 5484).description == "[::1]:5484")
        #expect(try Endpoint("fe80::1%lo", defaultPort: 5484).description == "[fe80::1%lo]:5484")
        #expect(try Endpoint("192.0.2.1", defaultPort: 5484).description == "192.0.2.1:5484")
        #expect(try Endpoint("192.0.2.1:80", defaultPort: 5484).description == "192.0.2.1:80")
    }

    @Test(arguments: [
        "", ":5484", ":80", "nas", "nas:", "nas:65536", "nas:+1", "nas:-1", "nas:x", "nas:5484x", "[::1", "[::1]5484",
        "[::1]:", "::1", "[]:80", "300.1.1.1:1", "a..b:1", "-- --:1", "[fe80::1%nosuchif]:1", "nas:1:2", "user@nas:1",
        "1.2.3.4\0:1", String(repeating: "a", count: 64) + ":1", String(repeating: "a.", count: 200) + "b:1",
    ])
    func `what is no endpoint is refused with a reason`(text: String) {
        let error = #expect(throws: AddressError.self) { try Endpoint(text) }
        #expect(error?.message.isEmpty == false)
    }

    @Test(arguments: ["nas:0", "0.0.0.0:1", "[::]:1", "224.0.0.251:5353", "[ff02::fb]:5353", "[::1]:0"])
    func `what can be listened on at most is no peer`(text: String) throws {
        _ = try Endpoint(text)
        #expect(throws: AddressError.self) { try Endpoint(peer: text) }
    }

    @Test func `a node listens at an address and at no name`() throws {
        for text in ["[::]:0", "0.0.0.0:5484", "127.0.0.1:1", "[fe80::1%lo]:5484"] {
            #expect(try Endpoint(listening: text).description == text)
        }
        let error = #expect(throws: AddressError.self) { try Endpoint(listening: "localhost:1") }
        #expect(error?.message.contains("127.0.0.1:1") == true, "\(error?.message ?? "")")
        #expect(throws: AddressError.self) { try Endpoint(listening: "nas", defaultPort: 5484) }
        #expect(throws: AddressError.self) { try Endpoint(listening: "300.1.1.1:1") }
    }

    @Test func `random text never traps`() {
        var random = SeededGenerator(seed: 0xadd)
        let alphabet = Array("[]:%.0123456789abcdefg-_ \u{301}é".utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<random.below(24)).map { _ in random.pick(alphabet) }
            let text = String(decoding: bytes, as: UTF8.self)
            _ = try? Endpoint(peer: text, defaultPort: random.chance(1, in: 2) ? 1 : nil)
        }
    }
}
