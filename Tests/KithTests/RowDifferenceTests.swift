import Kith
import KithTestSupport
import Testing

struct RowDifferenceTests {
    private struct Row: Equatable {
        let id: Int
        let content: Int

        var entry: LiveEntry { LiveEntry(identity: Array("\(id)".utf8), hash: content) }
    }

    private func difference(_ old: [Row], _ new: [Row]) -> RowDifference {
        RowDifference(from: old.map(\.entry), to: new.map(\.entry))
    }

    private func permutations(_ rows: [Row]) -> [[Row]] {
        if rows.isEmpty { return [[]] }
        return rows.indices.flatMap { index in
            var rest = rows
            let row = rest.remove(at: index)
            return permutations(rest).map { [row] + $0 }
        }
    }

    @Test func `all small differences make the one list of the other`() {
        let rows = (0..<4).map { Row(id: $0, content: 0) }
        var lists: [[Row]] = []
        for chosen in 0..<16 {
            lists += permutations(rows.filter { chosen & (1 << $0.id) != 0 })
        }
        for old in lists {
            for new in lists {
                for changed in [-1, 0, 2] {
                    let target = new.map { $0.id == changed ? Row(id: $0.id, content: 1) : $0 }
                    let difference = difference(old, target)
                    #expect(old.applying(difference, of: target) == target, "\(old) \(target)")
                    #expect(difference.isEmpty == (old == target))
                    #expect(difference.moved.count < max(1, min(old.count, target.count)))
                }
            }
        }
    }

    @Test func `random differences make the one list of the other`() {
        var random = SeededGenerator(seed: 11)
        for round in 0..<300 {
            let old = random.shuffle(Array(0..<40)).prefix(random.below(40)).map {
                Row(id: $0, content: random.below(2))
            }
            let new = random.shuffle(Array(0..<40)).prefix(random.below(40)).map {
                Row(id: $0, content: random.below(2))
            }
            let difference = difference(old, new)
            #expect(old.applying(difference, of: new) == new, "seed 11, round \(round)")
            #expect(
                difference.inserted == difference.inserted.sorted() && difference.updated == difference.updated.sorted()
            )
        }
    }

    @Test func `as few rows move as can`() {
        let old = (0..<100).map { Row(id: $0, content: 0) }
        #expect(difference(old, [old[99]] + old[..<99]).moved == [RowDifference.Move(from: 99, to: 0)])
        #expect(difference(old, old[1...] + [old[0]]).moved == [RowDifference.Move(from: 0, to: 99)])
        #expect(difference(old, old.reversed()).moved.count == 99)
    }
}
