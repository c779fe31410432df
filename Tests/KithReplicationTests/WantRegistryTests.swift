import KithDocument
import Testing

@testable import KithReplication

@Suite struct WantRegistryTests {
    private func wants(_ ids: String...) -> [Want] {
        ids.map { Want(document: DocumentID(unchecked: $0), revisions: [Samples.id(1, 1)], known: []) }
    }

    private func at(_ milliseconds: UInt64) -> Instant { Instant(milliseconds: milliseconds) }

    @Test("A document is asked of one link until that link is quiet for 5 s")
    func takeover() {
        var registry = WantRegistry()
        #expect(registry.claim(wants("a", "b"), by: 1, now: at(0)).granted == wants("a", "b"))
        let second = registry.claim(wants("b", "c"), by: 2, now: at(4999))
        #expect(second.granted == wants("c") && second.deferred == wants("b"))
        registry.keep(by: 1, now: at(4999))
        #expect(registry.claim(wants("b"), by: 2, now: at(9000)).granted.isEmpty)
        #expect(registry.claim(wants("b"), by: 2, now: at(9999)).granted == wants("b"))
        registry.keep(by: 2, now: at(9999))
        // The first is heard of again: what was taken over stays with the second.
        registry.release([DocumentID(unchecked: "b")], by: 1, now: at(10_000))
        #expect(registry.claim(wants("b"), by: 1, now: at(10_000)).granted.isEmpty)
        #expect(registry.count == 3)
    }

    @Test("What is released may be asked of any link; the end of a link releases all")
    func release() {
        var registry = WantRegistry()
        _ = registry.claim(wants("a", "b"), by: 1, now: at(0))
        registry.release([DocumentID(unchecked: "a")], by: 1, now: at(1))
        // What was looked for before may be there meanwhile.
        let answer = registry.claim(wants("a", "c"), lookedAt: at(1), by: 2, now: at(2))
        #expect(answer.outdated == wants("a") && answer.granted == wants("c") && answer.deferred.isEmpty)
        #expect(registry.claim(wants("a"), by: 2, now: at(2)).granted == wants("a"))
        registry.releaseAll(by: 1)
        #expect(registry.claim(wants("b"), by: 2, now: at(3)).granted == wants("b"))
        registry.releaseAll(by: 2)
        registry.releaseAll(by: 3)
        #expect(registry.count == 0)
    }

    @Test("A link that ends and comes anew is asked after those who wait")
    func order() {
        var registry = WantRegistry()
        _ = registry.claim(wants("a", "b"), by: 1, now: at(0))
        #expect(registry.claim(wants("a"), by: 2, now: at(10)).deferred == wants("a"))
        registry.releaseAll(by: 1)
        let anew = registry.claim(wants("a", "b"), by: 3, now: at(5_000))
        #expect(anew.deferred == wants("a") && anew.granted == wants("b"))
        #expect(registry.claim(wants("a"), by: 2, now: at(5_010)).granted == wants("a"))
        // Who waits no more holds nothing up: the third has waited since.
        registry.releaseAll(by: 2)
        #expect(registry.claim(wants("a"), by: 3, now: at(5_020)).granted == wants("a"))
        #expect(registry.claim(wants("a"), by: 4, now: at(5_030)).deferred == wants("a"))
        registry.releaseAll(by: 3)
        #expect(registry.claim(wants("a"), by: 5, now: at(11_029)).deferred == wants("a"))
        #expect(registry.claim(wants("a"), by: 5, now: at(11_030)).granted == wants("a"))
    }

    @Test("How many released documents are remembered is bounded, and the latest are")
    func remembered() {
        var registry = WantRegistry()
        for number in 0..<(5 * ReplicationLimits.releasedDocuments) {
            _ = registry.claim(wants("d\(number)"), by: 1, now: at(2))
            registry.release([DocumentID(unchecked: "d\(number)")], by: 1, now: at(2))
        }
        #expect(registry.rememberedReleases <= 2 * ReplicationLimits.releasedDocuments)
        let last = 5 * ReplicationLimits.releasedDocuments - ReplicationLimits.releasedDocuments
        #expect(registry.claim(wants("d\(last)"), lookedAt: at(1), by: 2, now: at(3)).granted.isEmpty)
        #expect(registry.claim(wants("d0"), lookedAt: at(1), by: 2, now: at(3)).granted == wants("d0"))
    }

    @Test("A document is left to one link for a minute at most, however that one keeps it")
    func age() {
        var registry = WantRegistry()
        _ = registry.claim(wants("a", "b"), by: 1, now: at(0))
        for second in 1..<60 {
            // A byte now and then, or another document.
            registry.keep(by: 1, now: at(UInt64(second) * 1_000))
            #expect(registry.claim(wants("a"), by: 2, now: at(UInt64(second) * 1_000)).granted.isEmpty)
        }
        registry.keep(by: 1, now: at(60_000))
        #expect(registry.claim(wants("a"), by: 1, now: at(60_000)).granted.isEmpty)
        #expect(registry.claim(wants("a"), by: 2, now: at(60_000)).granted == wants("a"))
        // It is the second's now, for as long.
        #expect(registry.claim(wants("a"), by: 1, now: at(60_001)).granted.isEmpty)
        registry.releaseAll(by: 1)
        #expect(registry.claim(wants("b"), by: 3, now: at(60_002)).granted == wants("b"))
        #expect(registry.count == 2)
    }

    @Test("A link that waited for nothing for long is not taken for a quiet one")
    func idle() {
        var registry = WantRegistry()
        _ = registry.claim(wants("a"), by: 1, now: at(0))
        registry.release([DocumentID(unchecked: "a")], by: 1, now: at(1))
        _ = registry.claim(wants("b"), by: 1, now: at(100_000))
        #expect(registry.claim(wants("b"), by: 2, now: at(100_001)).deferred == wants("b"))
        #expect(registry.claim(wants("b"), by: 1, now: at(100_001)).deferred == wants("b"))
    }

    @Test("The leaves that a peer has are not offered to it, within a bound")
    func echo() {
        var filter = EchoFilter()
        let change = Change(
            sequence: 1, document: DocumentID(unchecked: "a"),
            leaves: [AnnouncedLeaf(id: Samples.id(1, 1)), AnnouncedLeaf(id: Samples.id(1, 2))])
        filter.note(change.document, change.leaves[0])
        #expect(!filter.covers(change))
        filter.note([change])
        #expect(filter.covers(change))
        #expect(!filter.covers(Change(sequence: 1, document: DocumentID(unchecked: "b"), leaves: change.leaves)))
        for number in 0..<UInt64(ReplicationLimits.echoedLeaves) {
            filter.note(
                DocumentID(unchecked: "x"),
                AnnouncedLeaf(id: RevisionID(generation: number + 1, digest: Digest128(high: 0, low: 0))))
        }
        #expect(filter.count <= ReplicationLimits.echoedLeaves && filter.count > ReplicationLimits.echoedLeaves / 2)
        #expect(!filter.covers(change))
    }
}

extension WantRegistry {
    /// Claims what was looked for at that moment.
    fileprivate mutating func claim(_ wants: [Want], by link: LinkNumber, now: Instant) -> Answer {
        claim(wants, lookedAt: now, by: link, now: now)
    }
}
