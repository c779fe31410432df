import KithDocument
import KithTestSupport
import Testing

@testable import KithStore

/// Random histories of documents that expire, on stores that are off for a while, meet seldom, and whose clocks are twenty years
/// ahead now and then for up to a day of running: nothing is lost, and all end the same.
@Suite struct ExpiryHistoryTests {
    private static let hour: Int64 = 3_600_000
    private static let year = 365 * 24 * hour

    private struct Replica {
        let store: TestStore
        var isOff = false
        /// Hours for which the clock is still wrong.
        var hoursAhead = 0
    }

    private struct Last {
        let number: Int
        let expires: Int64?
    }

    @Test(arguments: 1...12)
    func `nothing is lost by expiry but what has expired`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var replicas = try (0..<3).map { Replica(store: try TestStore(seed: seed * 10 + UInt64($0))) }
        var time = replicas[0].store.world.now
        // So each knows that documents may expire.
        for (index, replica) in replicas.enumerated() {
            try replica.store.put("first-\(index)", "{\"_expires\":\(time)}")
        }
        var last: [String: Last] = [:]
        for step in 0..<160 {
            time += Self.hour
            for index in replicas.indices { try pass(&replicas[index], time, &random) }
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let store = replicas[Int.random(in: 0..<3, using: &random)]
                if store.isOff || store.hoursAhead > 0 { continue }
                time += 1
                store.store.world.now = time
                let id =
                    ["always", "never", "later"].randomElement(using: &random)!
                    + "-\(Int.random(in: 0..<4, using: &random))"
                // What expired once is written again without an expiry in the second half.
                let expires = id.hasPrefix("always") || id.hasPrefix("later") && step < 80
                let until = expires ? time + Int64.random(in: -10...60, using: &random) * Self.hour : nil
                let body = "{\(until.map { "\"_expires\":\($0)," } ?? "")\"w\":\(step)}"
                if try !store.store.put(id, body).isUnchanged { last[id] = Last(number: step, expires: until) }
            }
            let (one, other) = (Int.random(in: 0..<3, using: &random), Int.random(in: 0..<3, using: &random))
            if step % 3 == 0, one != other, !replicas[one].isOff, !replicas[other].isOff {
                try replicas[one].store.pull(replicas[other].store)
            }
        }
        for index in replicas.indices { (replicas[index].isOff, replicas[index].hoursAhead) = (false, 0) }
        for _ in 0..<100 {
            time += Self.hour
            for index in replicas.indices { try pass(&replicas[index], time) }
            for one in 0..<3 {
                for other in 0..<3 where one != other { try replicas[one].store.pull(replicas[other].store) }
            }
        }
        try check(replicas.map(\.store), last, time, "seed \(seed)")
    }

    /// An hour, with the work that is due in it. Without chance all goes as it should.
    private func pass(_ replica: inout Replica, _ time: Int64) throws {
        let world = replica.store.world
        world.now = time + (replica.hoursAhead > 0 ? 20 * Self.year : 0)
        if replica.isOff { return }
        world.monotonic += UInt64(Self.hour)
        while try replica.store.store.write({ (transaction) throws(StoreError) in try transaction.maintain() }) {}
    }

    private func pass(_ replica: inout Replica, _ time: Int64, _ random: inout SeededGenerator) throws {
        try pass(&replica, time)
        let wasAhead = replica.hoursAhead > 0
        replica.hoursAhead = max(0, replica.hoursAhead - (replica.isOff ? 0 : 1))
        switch Int.random(in: 0..<40, using: &random) {
        case 0...1: replica.isOff.toggle()
        case 2 where !wasAhead: replica.hoursAhead = Int.random(in: 1...23, using: &random)
        case 3 where !replica.isOff:
            replica.store.world.monotonic = 0
            try replica.store.reopen()
        default: break
        }
    }

    private func check(_ stores: [TestStore], _ last: [String: Last], _ time: Int64, _ context: Comment) throws {
        for store in stores {
            for (id, written) in last.sorted(by: { $0.key < $1.key }) {
                let found = try store.get(id)
                if let expires = written.expires, expires <= time {
                    #expect(found == nil, "\(context): \(id)")
                } else {
                    let body = String(decoding: try #require(found, "\(context): \(id)").body, as: UTF8.self)
                    #expect(body.contains("\"w\":\(written.number)}"), "\(context): \(id) is \(body)")
                    #expect(found?.expiresAt == written.expires, "\(context): \(id)")
                }
            }
            #expect(store.store.summary.digest == stores[0].store.summary.digest, context)
            try store.check()
        }
    }
}
