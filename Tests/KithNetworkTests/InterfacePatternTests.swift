import Testing

@testable import KithNetwork

@Suite struct InterfacePatternTests {
    private func allowed(_ patterns: [String], _ names: [String]) throws -> [String] {
        let patterns = try InterfacePatterns(patterns)
        return names.filter(patterns.allows)
    }

    private let names = ["lo", "eth0", "eth12", "wlan0", "docker0", "br-4f2a", "veth9c1d@if3", "tun0"]

    @Test func withoutPatternsAllInterfacesCount() throws {
        #expect(try allowed([], names) == names)
        #expect(InterfacePatterns.all.allows(index: 4_000_000))
    }

    @Test func wantedPatternsNameAllThatCountBesidesTheLoopback() throws {
        #expect(try allowed(["eth*", "wl?n0"], names) == ["lo", "eth0", "eth12", "wlan0"])
        #expect(try allowed(["eth0"], names) == ["lo", "eth0"])
    }

    @Test func unwantedPatternsLeaveTheirsOut() throws {
        #expect(
            try allowed(["!docker*", "!br-*", "!veth*", "!lo"], names) == ["lo", "eth0", "eth12", "wlan0", "tun0"])
        #expect(try allowed(["!eth1*", "eth*"], names) == ["lo", "eth0"])
    }

    @Test func starsAndQuestionMarksStandForWhatTheyStandForInAShell() throws {
        let fits = { (pattern: String, name: String) in try InterfacePatterns([pattern]).allows(name) }
        #expect(try fits("*", "a") && fits("**", "abc") && fits("a*c", "ac") && fits("a*b*c", "axxbyyc"))
        #expect(try !fits("a*b*c", "axxcyyb") && !fits("eth?", "eth") && !fits("eth?", "eth10") && !fits("eth", "eth0"))
    }

    @Test(arguments: ["", "!", "eth 0", "eth/0", "!!eth0", "a\u{7f}", String(repeating: "a", count: 33)])
    func whatIsNoPatternIsRefusedWithTheRule(_ text: String) {
        #expect(throws: AddressError.self) { try InterfacePatterns([text]) }
    }
}
