package import KithDocument

/// `together`: several paths, each with all that is under it, as one register. A merge has the register of one leaf
/// whole, with what is removed or missing there.
///
/// Registers are in a total order, and the highest counts, so this is a join. The stamp of a register is the highest of
/// its entries; of two with one stamp the first path where they differ decides, by the entry that counts there, a
/// missing one being the lowest.
package struct FieldGroup: Sendable {
    /// Ascending; none is under another.
    package let paths: [FieldPath]

    package init(paths: [FieldPath]) { self.paths = paths.sorted() }

    /// What stands in a merge at the paths of the group, in the place of what is there.
    func parts(of merged: Fields, merging leaves: [Fields]) -> [(range: Range<Int>, entries: [Fields.Entry])] {
        let registers = leaves.map { fields in
            paths.map { path in Array(fields.entries[fields.range(atOrUnder: path)]) }
        }
        guard let register = registers.max(by: Self.isLower) else { return [] }
        return zip(paths, register).compactMap { path, entries in
            let range = merged.range(atOrUnder: path)
            // Where the merge has nothing, no leaf has.
            return range.isEmpty ? nil : (range, entries)
        }
    }

    private static func isLower(_ one: [[Fields.Entry]], _ other: [[Fields.Entry]]) -> Bool {
        let (mine, its) = (Array(one.joined()), Array(other.joined()))
        if let (left, right) = highest(mine, its), left != right { return left < right }
        return isLower(mine[...], its[...])
    }

    private static func isLower(_ one: ArraySlice<Fields.Entry>, _ other: ArraySlice<Fields.Entry>) -> Bool {
        for (mine, its) in zip(one, other) where mine != its {
            // The lower path is missing on the other side.
            if mine.path != its.path { return its.path < mine.path }
            return its.outranks(mine)
        }
        return one.count < other.count
    }

    /// The stamps of two registers; nil where one of them has none.
    private static func highest(_ one: [Fields.Entry], _ other: [Fields.Entry]) -> (Stamp, Stamp)? {
        guard let mine = one.map(\.stamp).max(), let its = other.map(\.stamp).max() else { return nil }
        return (mine, its)
    }
}
