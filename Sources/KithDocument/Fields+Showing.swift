// Where a register (a scalar or an array) and deeper paths compete for one place, the side with the higher stamp shows;
// on equal stamps the deeper. Absent entries lend no stamp to their side; an empty object hides nothing and gives way
// to whatever shows under it.

extension Fields {
    private static let emptyObject = Array("{}".utf8)

    /// For each entry whether it is a leaf of the body.
    var shown: [Bool] {
        var shown = [Bool](repeating: false, count: entries.count)
        show(entries.indices, in: &shown)
        return shown
    }

    /// Decides within entries that nothing above hides.
    private func show(_ range: Range<Int>, in shown: inout [Bool]) {
        var index = range.lowerBound
        while index < range.upperBound {
            var end = index + 1
            while end < range.upperBound, entries[end].path.isAtOrUnder(entries[index].path) { end += 1 }
            let under = (index + 1)..<end
            if case .present(let value) = entries[index].value {
                let highestUnder = under.lazy.filter { entries[$0].value != .absent }.map { entries[$0].stamp }.max()
                let isRegister = value != Self.emptyObject
                if highestUnder == nil || (isRegister && entries[index].stamp > highestUnder!) {
                    shown[index] = true
                    index = end
                    continue
                }
            }
            show(under, in: &shown)
            index = end
        }
    }

    /// The body that the fields show, and the stamps to keep beside it. The default stamp is the one that most leaves of
    /// the body have (of equally many the highest), so equal fields give equal bytes on every node.
    package func split() -> (body: [UInt8], stamps: FieldStamps) {
        let shown = shown
        let visible = entries.indices.filter { shown[$0] }
        let body = CanonicalJSON.assemble(
            visible.map { index in
                guard case .present(let value) = entries[index].value else {
                    preconditionFailure("an absent field shows")
                }
                return (path: entries[index].path.encoded[...], value: value[...])
            })
        let defaultStamp = Self.mostFrequent(visible.map { entries[$0].stamp })
        var exceptions: [FieldStamps.Exception] = []
        for (index, entry) in entries.enumerated() {
            let state: FieldStamps.State
            switch entry.value {
            case .absent: state = .absent
            case .present where shown[index]:
                if entry.stamp == defaultStamp { continue }
                state = .visible
            case .present(let value): state = .hidden(value)
            }
            exceptions.append(FieldStamps.Exception(path: entry.path, stamp: entry.stamp, state: state))
        }
        return (body, FieldStamps(defaultStamp: defaultStamp, exceptions: exceptions))
    }

    private static func mostFrequent(_ stamps: [Stamp]) -> Stamp {
        guard let first = stamps.first else { return .zero }
        if stamps.allSatisfy({ $0 == first }) { return first }
        var best = (stamp: Stamp.zero, count: 0)
        let sorted = stamps.sorted()
        var start = 0
        for index in sorted.indices where index + 1 == sorted.count || sorted[index + 1] != sorted[index] {
            let count = index + 1 - start
            if count >= best.count { best = (sorted[index], count) }
            start = index + 1
        }
        return best.stamp
    }

    /// The body that the fields show.
    package var body: [UInt8] { split().body }
}
