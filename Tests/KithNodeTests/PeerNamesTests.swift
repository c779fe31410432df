import KithDocument
import Testing

@testable import KithNode

@Suite struct PeerNamesTests {
    private func node(_ letter: Character) -> NodeID { NodeID(String(repeating: letter, count: 64))! }

    @Test func namesAreReadAsTheyWereWritten() {
        var names = PeerNames()
        names.note(node("a"), name: "living room", seenAt: 5_000)
        names.note(node("b"), name: "日本\n語", seenAt: 7_000)
        let lines = names.lines(now: 10_000)
        #expect(lines.count == 2 && lines[0].hasPrefix("seen \(node("b")) 7000 日本 語"))
        let read = PeerNames(lines: ["kith addresses 1", "\(node("a")) 10.0.0.1:5484"] + lines)
        #expect(read.entries[node("a")] == PeerNames.Entry(name: "living room", seenAt: 5_000))
        #expect(read.entries.count == 2)
    }

    @Test func whatCantBeReadIsPassedOver() {
        let long = String(repeating: "x", count: NodeLimits.rememberedNameBytes + 1)
        for line in [
            "", "seen", "seen x 1 name", "seen \(node("a")) x name", "seen \(node("a")) 1", "seen \(node("a")) 1 ",
            "seen \(node("a")) 1 \(long)", "other \(node("a")) 1 name",
        ] { #expect(PeerNames(lines: [line]).entries.isEmpty, "\(line)") }
    }

    @Test func theNamesKeptAreBoundedAndGrowOld() {
        var names = PeerNames()
        for number in 0..<(NodeLimits.rememberedNames + 20) {
            let digits = String(number, radix: 16)
            let id = NodeID(String(repeating: "0", count: 64 - digits.count) + digits)!
            names.note(id, name: "n\(number)", seenAt: Int64(number))
        }
        let lines = names.lines(now: 2_000)
        #expect(lines.count == NodeLimits.rememberedNames && lines[0].hasSuffix(" n\(NodeLimits.rememberedNames + 19)"))
        #expect(names.lines(now: NodeLimits.rememberedNameMilliseconds + 5_000).isEmpty)
    }
}
