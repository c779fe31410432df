import KithDocument
import KithTestSupport
import Testing

@testable import KithDiscovery

@Suite struct MulticastMessageTests {
    private let id = String(repeating: "ab", count: 32)

    private func name(_ labels: String...) -> [UInt8] {
        labels.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }

    private func record(_ owner: [UInt8], _ type: UInt8, life: UInt8 = 120, _ data: [UInt8]) -> [UInt8] {
        owner + [0, type, 0, 1, 0, 0, 0, life, UInt8(data.count >> 8), UInt8(data.count & 255)] + data
    }

    /// An answer that names one node of tag `beef` by its subtype, and its text, with the names pointed to.
    private func answer(life: UInt8 = 120) -> [UInt8] {
        let head: [UInt8] = [0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 1]
        // At 12: _beef (12), _sub (18), _kith (23), _tcp, local.
        let subtype = name("_beef", "_sub", "_kith", "_tcp", "local")
        let pointer = record(subtype, 12, life: life, [5] + Array("alpha".utf8) + [0xc0, 23])
        // The instance stands behind the record's head.
        let instance = UInt8(12 + subtype.count + 10)
        let text = ServiceText(nodeID: NodeID(id), protocolVersion: 1, tag: "beef").encoded
        return head + pointer + record([0xc0, instance], 16, life: life, text)
    }

    @Test func anAnswerNamesNodesWithTheirGroup() {
        let found = MulticastMessage.sightings(in: answer())
        #expect(found.map(\.instance) == ["alpha"])
        #expect(found.first?.tags == ["beef"])
        #expect(found.first?.text?.tag == "beef")
        #expect(found.first?.text?.nodeID == NodeID(id))
    }

    @Test func goodbyesQuestionsAndOtherServicesNameNobody() {
        #expect(MulticastMessage.sightings(in: answer(life: 0)).isEmpty)
        #expect(MulticastMessage.sightings(in: MulticastMessage.question(tag: "beef")).isEmpty)
        let printer = record(name("_ipp", "_tcp", "local"), 12, name("laser", "_ipp", "_tcp", "local"))
        #expect(MulticastMessage.sightings(in: [0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0] + printer).isEmpty)
    }

    @Test func theQuestionAsksForTheGroupForAllGroupsAndForAnybody() {
        let question = MulticastMessage.question(tag: "beef")
        #expect(question[5] == 3)
        #expect(
            question.count == 12 + name("_kith", "_tcp", "local").count
                + name("_services", "_dns-sd", "_udp", "local").count
                + name("_beef", "_sub", "_kith", "_tcp", "local").count + 3 * 4)
    }

    @Test func whateverComesOverTheNetworkIsReadWithoutATrap() {
        let whole = answer()
        for end in whole.indices { _ = MulticastMessage.sightings(in: Array(whole[..<end])) }
        let seed: UInt64 = 20261130
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0...random.below(4) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
            _ = MulticastMessage.sightings(in: bytes)
        }
        // A name that points to itself.
        #expect(MulticastMessage.sightings(in: [0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0xc0, 12, 0, 12, 0, 1]).isEmpty)
    }
}
