import KithDocument
import KithTestSupport
import Testing

/// The laws that merging rests on, for fields with all their entries, against the reference.
@Suite struct FieldLawTests {
    private static let paths: [ReferenceFields.Path] = [
        ["a"], ["a", "b"], ["a", "b", "c"], ["a", "b", "d"], ["a", "e"], ["f"], ["f", "g"],
    ]

    /// Fields as any history may have left them, with few stamps so that equal ones meet.
    private func fields(_ random: inout SeededGenerator) -> Fields {
        var entries: [Fields.Entry] = []
        for path in Self.paths where random.chance(1, in: 2) {
            let value: Fields.Value =
                switch random.below(5) {
                case 0: .absent
                case 1: .present(Array("{}".utf8))
                case 2: .present(Array("[1]".utf8))
                default: .present(Array("\(random.below(3))".utf8))
                }
            let stamp = Stamp(time: UInt64(random.below(4)), writer: UInt64(random.below(2)))
            entries.append(Fields.Entry(path: FieldPath(keys: path), stamp: stamp, value: value))
        }
        return Fields(ascending: entries.sorted { $0.path < $1.path })
    }

    @Test func `Joining is commutative, associative and idempotent, and is what the reference says`() {
        let seed: UInt64 = 60
        var random = SeededGenerator(seed: seed)
        for _ in 0..<3000 {
            let (one, two, three) = (fields(&random), fields(&random), fields(&random))
            #expect(one.joined(with: two) == two.joined(with: one), "seed \(seed)")
            #expect(
                one.joined(with: two).joined(with: three) == one.joined(with: two.joined(with: three)), "seed \(seed)")
            #expect(one.joined(with: one) == one, "seed \(seed)")
            #expect(
                ReferenceFields(one.joined(with: two)) == ReferenceFields(one).joined(with: ReferenceFields(two)),
                "seed \(seed)")
        }
    }

    @Test func `A body with its stamps holds all of the fields, and shows what the reference shows`() throws {
        let seed: UInt64 = 61
        var random = SeededGenerator(seed: seed)
        for _ in 0..<3000 {
            let fields = fields(&random)
            let (body, stamps) = fields.split()
            #expect(Fields(body: body, stamps: stamps) == fields, "seed \(seed)")
            #expect(
                String(decoding: body, as: UTF8.self) == ReferenceFields.body(of: ReferenceFields(fields).shown),
                "seed \(seed): \(ReferenceFields(fields))")
            var version = Version()
            for entry in fields.entries { version.set(entry.stamp.writer, to: 9) }
            try Revision(parent: nil, kind: .edit, body: body, stamps: stamps, version: version).verify()
        }
    }

    @Test func `Writing a body is what the reference says, and shows that body`() {
        let seed: UInt64 = 62
        var random = SeededGenerator(seed: seed)
        let stamp = Stamp(time: 9, writer: 9)
        for _ in 0..<3000 {
            let (fields, next) = (fields(&random), fields(&random))
            let body = next.body
            let limit = random.pick([0, 1, 3, 256])
            let edited = fields.edited(to: body, stamp: stamp, absentLimit: limit)
            let expected = ReferenceFields(fields).edited(
                to: ReferenceFields(next).shown, stamp: stamp, absentLimit: limit)
            #expect(edited.map { ReferenceFields($0) } == expected, "seed \(seed): \(ReferenceFields(fields))")
            #expect((edited ?? fields).body == body, "seed \(seed)")
            #expect(edited?.edited(to: body, stamp: Stamp(time: 10, writer: 9)) == nil, "seed \(seed)")
        }
    }
}
