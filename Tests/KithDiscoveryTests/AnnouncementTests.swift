import KithDocument
import KithTestSupport
import Testing

@testable import KithDiscovery

@Suite struct AnnouncementTests {
    private let id = NodeID(bytes: (0..<32).map { UInt8($0) })!

    private func advertisement(_ name: String) -> Advertisement {
        Advertisement(nodeName: name, nodeID: id, port: 5484, protocolVersion: 1)
    }

    @Test func theNameIsTheNodesWithItsShortID() {
        #expect(advertisement("alpha").instanceName() == "alpha (00010203)")
    }

    @Test func eachAttemptHasAnotherName() {
        let names = (0..<5).map { advertisement("alpha").instanceName(attempt: $0) }
        #expect(Set(names).count == 5)
    }

    @Test func anyNodeNameFitsALabelAndStaysUnicode() {
        for name in ["", String(repeating: "x", count: 300), String(repeating: "é", count: 100), "a\u{0}b\nc", "👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦"] {
            for attempt in 0..<4 {
                let instance = advertisement(name).instanceName(attempt: attempt)
                #expect((1...63).contains(instance.utf8.count))
                #expect(!instance.unicodeScalars.contains { $0.value < 32 || $0 == "\u{fffd}" })
            }
        }
    }

    @Test func textSaysIDVersionAndTagAndReadsBack() {
        let text = ServiceText(nodeID: id, protocolVersion: 1, tag: "f00d")
        #expect(ServiceText(decoding: text.encoded) == text)
        let written = String(decoding: text.encoded, as: UTF8.self)
        #expect(written == "\u{43}id=\(id)\u{3}v=1\u{6}g=f00d")
    }

    @Test func textIsReadAsTheRFCSays() {
        func entries(_ entries: [String]) -> [UInt8] { entries.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } }
        let text = ServiceText(
            decoding: entries(["", "flag", "=nothing", "V=7", "v=8", "more=x", "ID=\(id)", "g=UPPER"]))
        #expect(text == ServiceText(nodeID: id, protocolVersion: 7, tag: nil))
        #expect(
            ServiceText(decoding: entries(["v=9999999", "id=00"]))
                == ServiceText(nodeID: nil, protocolVersion: nil, tag: nil))
        #expect(
            ServiceText(decoding: entries(["v=", "id"])) == ServiceText(nodeID: nil, protocolVersion: nil, tag: nil))
    }

    @Test func cutAndDamagedTextNeverTraps() {
        let whole = ServiceText(nodeID: id, protocolVersion: 1, tag: "f00d").encoded
        for count in 0...whole.count { _ = ServiceText(decoding: whole.prefix(count)) }
        var random = SeededGenerator(seed: 0x7e57)
        for _ in 0..<20_000 {
            var damaged = whole
            for _ in 0...random.below(4) { damaged[random.below(damaged.count)] = UInt8(random.below(256)) }
            _ = ServiceText(decoding: damaged)
        }
    }

    @Test func tagsAreLowerCaseLabels() {
        for tag in ["ab", "0123456789abcdef", "a-b", String(repeating: "a", count: 62)] {
            #expect(Advertisement.isTag(tag))
        }
        for tag in ["", "a", "A1", "a_b", "a.b", "a,b", "é1", String(repeating: "a", count: 63)] {
            #expect(!Advertisement.isTag(tag))
        }
    }

    @Test func aTagThatCanBeNoSubtypeIsRefusedAtTheStart() {
        #expect(throws: DiscoveryError.self) {
            try AvahiDiscovery().start(
                tag: "no good", advertising: nil, onServicesChanged: { _ in }, onStateChanged: { _ in })
        }
    }
}
