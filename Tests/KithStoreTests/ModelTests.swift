import KithDocument
import KithTestSupport
import Testing

@testable import KithStore

/// Random operations on one store, beside a dictionary that is told the same.
@Suite struct ModelTests {
    private typealias Work = (WriteTransaction) throws(StoreError) -> Written

    @Test(arguments: [UInt64](1...12)) func aStoreBehavesAsADictionary(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let test = try TestStore(seed: seed, options: StoreOptions(durability: .relaxed))
        var model: [String: String] = [:]
        var feed: [String] = []
        func moved(_ id: String) {
            feed.removeAll { $0 == id }
            feed.append(id)
        }
        for step in 0..<250 {
            test.world.now += Int64(generator.below(100)) - 20
            let id = "d\(generator.below(12))"
            switch generator.below(20) {
            case 0..<10:
                let body = "{\"n\":\(generator.below(3)),\"o\":{\"p\":[\(generator.below(3))]}}"
                let written = try test.put(id, body)
                #expect(written.isUnchanged == (model[id] == body), "seed \(seed) step \(step)")
                if !written.isUnchanged { moved(id) }
                model[id] = body
            case 10..<14:
                #expect((failure { try test.delete(id) } == nil) == (model[id] != nil), "seed \(seed) step \(step)")
                if model.removeValue(forKey: id) != nil { moved(id) }
            case 14:
                let isKnown = feed.contains(id)
                #expect((failure { try test.purge(id) } == nil) == isKnown, "seed \(seed) step \(step)")
                model[id] = nil
                feed.removeAll { $0 == id }
            case 15: try test.store.truncateLog()
            case 16 where generator.chance(1, in: 3): try test.reopen()
            case 17:
                // A group of which the middle fails.
                let (kept, undone) = (try DocumentID(id), try DocumentID("d\(generator.below(12))"))
                let body = Array("{\"n\":\(step)}".utf8)
                let succeeds: Work = { (transaction) throws(StoreError) in try transaction.put(kept, body) }
                let fails: Work = { (transaction) throws(StoreError) in
                    _ = try transaction.put(undone, Array(#"{"n":-1}"#.utf8))
                    throw StoreError(.invalid, "x", "x")
                }
                let results = test.store.commit([succeeds, fails])
                #expect(results[0].code == nil)
                model[id] = String(decoding: body, as: UTF8.self)
                moved(id)
            default: #expect(try test.body(id) == model[id], "seed \(seed) step \(step)")
            }
        }
        for number in 0..<12 { #expect(try test.body("d\(number)") == model["d\(number)"], "seed \(seed)") }
        #expect(try test.reader.feed(after: 0, limit: 99).map(\.document.string) == feed, "seed \(seed)")
        #expect(test.store.summary.documents - test.store.summary.deleted == UInt64(model.count))
        try test.check()
        try test.reopen()
        try test.check()
        #expect(try test.reader.connection.number("SELECT count(*) FROM bodies") == 0)
        let integrity = try test.reader.connection.prepare("PRAGMA integrity_check")
        #expect(try integrity.step() && integrity.string(0) == "ok")
    }
}
