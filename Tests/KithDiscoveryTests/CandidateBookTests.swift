import KithDocument
import KithNetwork
import KithTestSupport
import Testing

@testable import KithDiscovery

@Suite struct CandidateBookTests {
    private let a = NodeID(bytes: [UInt8](repeating: 0xaa, count: 32))!
    private let b = NodeID(bytes: [UInt8](repeating: 0xbb, count: 32))!
    private var random = SeededGenerator(seed: 0xb00c)

    private func address(_ text: String) -> Endpoint { try! Endpoint(peer: text) }

    private func service(
        _ name: String, _ node: NodeID?, isPresent: Bool = true, near: [String] = [], far: [String] = []
    ) -> DiscoveredService {
        func found(_ text: String, _ isNear: Bool) -> FoundAddress {
            guard case .numeric(let numeric) = address(text) else { fatalError("\(text) is no IP address") }
            return FoundAddress(address: numeric, interface: 2, sharesSubnet: isNear)
        }
        return DiscoveredService(
            name: InstanceName(name), isPresent: isPresent, interfaces: isPresent ? [2] : [],
            text: ServiceText(nodeID: node, protocolVersion: 1, tag: nil),
            addresses: far.map { found($0, false) } + near.map { found($0, true) })
    }

    private func texts(_ candidates: [Candidate]) -> [String] {
        candidates.map { "\($0.source.rawValue) \($0.address)" }
    }

    @Test func candidatesComeInTheOrderOfTheirPromise() {
        var book = CandidateBook()
        book.setStatic([address("nas:5484")])
        book.reached(a, at: address("192.0.2.7:5484"))
        book.reached(a, at: address("192.0.2.8:5484"))
        book.reached(a, at: address("nas:5484"))
        book.setAdvertised([address("198.51.100.1:5484")], by: a)
        book.setDiscovered([
            service("old", a, isPresent: false, near: ["10.0.0.4:5484"]),
            service("new", a, near: ["10.0.0.3:5484"], far: ["172.16.0.3:5484"]),
            service("other", b, near: ["10.0.0.9:5484"]),
        ])
        #expect(
            texts(book.candidates(for: a, now: 0)) == [
                "discovered 10.0.0.3:5484", "discovered 172.16.0.3:5484", "static nas:5484",
                "advertised 198.51.100.1:5484", "remembered 192.0.2.8:5484",
                "remembered 192.0.2.7:5484", "discovered 10.0.0.4:5484",
            ])
        #expect(texts(book.candidates(for: b, now: 0)) == ["discovered 10.0.0.9:5484"])
        #expect(book.nodes == [a, b])
        #expect(book.announcedNodes == [a, b])
    }

    @Test func anAddressAnnouncedWithoutANodeIsDialledUntilSomebodyAnswers() {
        var book = CandidateBook()
        book.setDiscovered([service("nameless", nil, near: ["10.0.0.3:5484"])])
        #expect(texts(book.candidates(for: nil, now: 0)) == ["discovered 10.0.0.3:5484"])
        book.reached(a, at: address("10.0.0.3:5484"))
        #expect(book.candidates(for: nil, now: 0).isEmpty)
        #expect(texts(book.candidates(for: a, now: 0)) == ["remembered 10.0.0.3:5484"])
        // Announced anew, it may be another's.
        book.setDiscovered([])
        book.setDiscovered([service("nameless", nil, near: ["10.0.0.3:5484"])])
        #expect(texts(book.candidates(for: nil, now: 0)) == ["discovered 10.0.0.3:5484"])
    }

    @Test func aServiceThatIsGoneKeepsItsNodeAndAddresses() {
        var book = CandidateBook()
        book.setDiscovered([service("alpha", a, near: ["10.0.0.3:5484"])])
        book.setDiscovered([service("alpha", a, isPresent: false, near: ["10.0.0.3:5484"])])
        #expect(texts(book.due(for: a, now: 0)) == ["discovered 10.0.0.3:5484"])
        #expect(book.nodes == [a])
        #expect(book.announcedNodes.isEmpty)
    }

    @Test func anAddressThatWorkedOutlivesDiscovery() {
        var book = CandidateBook()
        book.setDiscovered([service("alpha", a, near: ["10.0.0.3:5484"])])
        book.reached(a, at: address("10.0.0.3:5484"))
        book.setDiscovered([])
        #expect(texts(book.due(for: a, now: 0)) == ["remembered 10.0.0.3:5484"])
    }

    @Test mutating func aFailedAddressWaitsLongerEachTimeAndTheOthersDoNot() {
        var book = CandidateBook()
        book.setDiscovered([service("alpha", a, near: ["10.0.0.3:5484", "10.0.0.4:5484"])])
        var now: UInt64 = 1_000
        for whole: UInt64 in [500, 1_000, 2_000, 4_000, 5_000, 5_000] {
            book.failed(address("10.0.0.3:5484"), for: a, reason: "connection refused", now: now, using: &random)
            #expect(texts(book.due(for: a, now: now)) == ["discovered 10.0.0.4:5484"])
            let candidate = book.candidates(for: a, now: now)[0]
            #expect(candidate.lastError == "connection refused")
            #expect(candidate.lastTried == now)
            #expect((now + whole / 2...now + whole).contains(candidate.notBefore!))
            now = candidate.notBefore!
            #expect(book.due(for: a, now: now).count == 2)
        }
    }

    @Test mutating func afterManyFailuresThePaceIsSlow() {
        var book = CandidateBook()
        book.setStatic([address("nas:5484")])
        for _ in 0...Limits.dialFailuresUntilSlow {
            book.failed(address("nas:5484"), for: nil, reason: "no route", now: 0, using: &random)
        }
        #expect(book.nextDue(for: nil, now: 0)! >= Limits.dialSlowMilliseconds / 2)
    }

    @Test mutating func anAddressAnnouncedAnewIsDueAtOnce() {
        var book = CandidateBook()
        let present = service("alpha", a, near: ["10.0.0.3:5484"])
        book.setDiscovered([present])
        book.failed(address("10.0.0.3:5484"), for: a, reason: "time-out", now: 0, using: &random)
        book.setDiscovered([present])
        #expect(book.due(for: a, now: 1).isEmpty)
        book.setDiscovered([service("alpha", a, isPresent: false, near: ["10.0.0.3:5484"])])
        book.setDiscovered([present])
        #expect(book.due(for: a, now: 1).count == 1)
    }

    @Test mutating func aWrongIdentityFailsThatCandidateOnly() {
        var book = CandidateBook()
        book.setDiscovered([
            service("alpha", a, near: ["10.0.0.3:5484", "10.0.0.4:5484"]), service("beta", b, near: ["10.0.0.3:5484"]),
        ])
        book.reachedOther(b, insteadOf: a, at: address("10.0.0.3:5484"), now: 0, using: &random)
        #expect(texts(book.due(for: a, now: 0)) == ["discovered 10.0.0.4:5484"])
        #expect(texts(book.due(for: b, now: 0)) == ["discovered 10.0.0.3:5484"])
        #expect(book.candidates(for: a, now: 0)[0].lastError == "bbbbbbbb answered there")
    }

    /// Each dial there is one more link to who is there, and many of them look like a twin's.
    @Test mutating func whereAnotherNodeAnsweredOneIsLookedForAtTheSlowPaceAlone() {
        var book = CandidateBook()
        let stale = service("stale", a, near: ["10.0.0.3:5484"])
        book.setDiscovered([stale])
        book.reachedOther(b, insteadOf: a, at: address("10.0.0.3:5484"), now: 0, using: &random)
        book.hurry(nil)
        book.hurry(a)
        #expect(book.wanted(for: a, now: Limits.dialSlowMilliseconds - 1).isEmpty)
        #expect(book.wanted(for: a, now: Limits.dialSlowMilliseconds).count == 1)
        // While there is a link to who is there, nobody else is.
        let (other, later) = (b, Limits.dialSlowMilliseconds)
        let wanted = book.wanted(for: a, now: later) { node, _ in node == other }
        #expect(wanted.isEmpty)
        // Another address that failed is tried again whenever the node is wanted.
        book.setDiscovered([stale, service("alpha", a, near: ["10.0.0.4:5484"])])
        book.failed(address("10.0.0.4:5484"), for: a, reason: "time-out", now: 0, using: &random)
        #expect(texts(book.wanted(for: a, now: 1)) == ["discovered 10.0.0.4:5484"])
        // Announced anew, it may be where it says.
        book.setDiscovered([])
        book.setDiscovered([stale])
        #expect(book.wanted(for: a, now: 1).count == 1)
    }

    @Test func aStaticAddressIsAnybodysUntilSomebodyAnswersThere() {
        var book = CandidateBook()
        book.setStatic([address("nas:5484"), address("nas:5484"), address("10.0.0.5:5484")])
        #expect(texts(book.due(for: nil, now: 0)) == ["static nas:5484", "static 10.0.0.5:5484"])
        #expect(book.due(for: a, now: 0).isEmpty)
        book.reached(a, at: address("nas:5484"))
        #expect(texts(book.due(for: nil, now: 0)) == ["static 10.0.0.5:5484"])
        #expect(texts(book.due(for: a, now: 0)) == ["static nas:5484"])
        book.setStatic([address("10.0.0.5:5484")])
        #expect(texts(book.due(for: a, now: 0)) == ["remembered nas:5484"])
    }

    @Test func theNodesOwnAddressIsLeftAlone() {
        var book = CandidateBook()
        book.setStatic([address("10.0.0.1:5484")])
        book.reachedSelf(at: address("10.0.0.1:5484"), now: 0)
        #expect(book.candidates(for: nil, now: 1).isEmpty)
        #expect(book.nextDue(for: nil, now: 1) == nil)
        #expect(book.candidates(for: nil, now: Limits.ownAddressMilliseconds).count == 1)
    }

    @Test func anAddressThatTheNodeHadMayBeAnothersWhenTheNetworkHasChanged() {
        var book = CandidateBook()
        book.setDiscovered([service("beta", b, near: ["10.0.0.1:5484"])])
        book.reachedSelf(at: address("10.0.0.1:5484"), now: 0)
        #expect(book.candidates(for: b, now: 1).isEmpty)
        book.hurry(nil)
        #expect(book.candidates(for: b, now: 1).count == 1)
    }

    @Test mutating func hurryingMakesTheAddressesOfOneNodeDue() {
        var book = CandidateBook()
        book.setDiscovered([service("alpha", a, near: ["10.0.0.3:5484"]), service("beta", b, near: ["10.0.0.4:5484"])])
        book.failed(address("10.0.0.3:5484"), for: a, reason: "x", now: 0, using: &random)
        book.failed(address("10.0.0.4:5484"), for: b, reason: "x", now: 0, using: &random)
        book.hurry(a)
        #expect(book.due(for: a, now: 0).count == 1)
        #expect(book.due(for: b, now: 0).isEmpty)
        book.hurry(nil)
        #expect(book.due(for: b, now: 0).count == 1)
    }

    @Test func rememberedAddressesSurviveAsText() {
        var book = CandidateBook()
        for text in ["10.0.0.3:5484", "nas:5484", "[2001:db8::1]:5484", "[fe80::1%1]:5484"] {
            book.reached(a, at: address(text))
        }
        book.reached(b, at: address("10.0.0.4:5484"))
        let text = book.rememberedText
        #expect(
            text == """
                kith addresses 1
                \(b) 10.0.0.4:5484
                \(a) [2001:db8::1]:5484
                \(a) nas:5484
                \(a) 10.0.0.3:5484

                """)
        var restarted = CandidateBook()
        restarted.readRemembered(text)
        #expect(restarted.rememberedText == text)
        #expect(restarted.nodes == [a, b])
        restarted.forget(a)
        #expect(restarted.nodes == [b])
    }

    @Test func rememberedAddressesAreBoundedPerNodeAndInAll() {
        var book = CandidateBook()
        for port in 1...20 { book.reached(a, at: address("10.0.0.3:\(port)")) }
        #expect(book.candidates(for: a, now: 0).map(\.address.port) == (13...20).reversed().map { UInt16($0) })
        for number in 0..<(Limits.remembered + 50) {
            let id = NodeID(bytes: (0..<32).map { $0 < 2 ? UInt8(number >> ($0 * 8) & 255) : 7 })!
            book.reached(id, at: address("10.0.0.3:1"))
        }
        #expect(book.nodes.count == Limits.remembered)
        #expect(!book.nodes.contains(a))
    }

    @Test func damagedRememberedTextIsPassedOver() {
        var book = CandidateBook()
        book.reached(a, at: address("10.0.0.3:5484"))
        let text = Array(book.rememberedText.utf8)
        var random = SeededGenerator(seed: 0xdead)
        for _ in 0..<5_000 {
            var damaged = text
            for _ in 0...random.below(3) { damaged[random.below(damaged.count)] = UInt8(random.below(256)) }
            var other = CandidateBook()
            other.readRemembered(String(decoding: damaged, as: UTF8.self))
            #expect(other.nodes.count <= 2)
        }
        book.readRemembered("another file\n\(b) 10.0.0.4:5484\n")
        #expect(book.nodes == [a])
        book.readRemembered("kith addresses 1\nnonsense\n\(b) 10.0.0.4\n\(b) 10.0.0.4:5484\n")
        #expect(book.nodes == [a, b])
    }

    @Test mutating func failuresOfAnyNumberOfAddressesStayBounded() {
        var book = CandidateBook()
        book.setStatic([address("nas:5484")])
        book.failed(address("nas:5484"), for: nil, reason: "x", now: 0, using: &random)
        for number in 0..<(Limits.attempts + 100) {
            let text = "10.\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255):9"
            book.failed(address(text), for: a, reason: String(repeating: "é", count: 500), now: 0, using: &random)
        }
        #expect(book.attempts.count <= Limits.attempts)
        #expect(book.due(for: nil, now: 0).isEmpty, "what a list still names keeps its back-off")
    }
}

extension CandidateBook {
    /// The candidates that may be dialled now, in order.
    fileprivate func due(for node: NodeID?, now: UInt64) -> [Candidate] {
        candidates(for: node, now: now).filter { ($0.notBefore ?? 0) <= now }
    }
}
