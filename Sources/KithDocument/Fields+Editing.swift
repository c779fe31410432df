extension Fields {
    /// The fields after a body is written over what they show: the paths whose values changed get the stamp, and every
    /// hidden or removed entry at, above or under such a path becomes absent with it. Nil when the body is equal.
    ///
    /// Of absent entries the `absentLimit` newest stay, those of this edit first.
    /// - Parameters:
    ///   - body: a canonical object.
    ///   - stamp: outranks every stamp here.
    package func edited(to body: [UInt8], stamp: Stamp, absentLimit: Int = DocumentLimits.absentStamps) -> Fields? {
        let shown = shown
        let leaves = Self.leaves(of: body)
        var changed: [FieldPath] = []
        var written: [Entry] = []
        var kept = [Bool](repeating: false, count: entries.count)
        var old = entries.indices[...]
        func removeShown(before path: FieldPath?) {
            while let index = old.first, path.map({ entries[index].path < $0 }) ?? true {
                old.removeFirst()
                if shown[index] { changed.append(entries[index].path) }
            }
        }
        for leaf in leaves {
            removeShown(before: leaf.path)
            if let index = old.first, entries[index].path == leaf.path {
                old.removeFirst()
                if shown[index], entries[index].value == .present(leaf.value) {
                    kept[index] = true
                    written.append(entries[index])
                    continue
                }
            }
            changed.append(leaf.path)
            written.append(Entry(path: leaf.path, stamp: stamp, value: .present(leaf.value)))
        }
        removeShown(before: nil)
        if changed.isEmpty { return nil }

        let touched = PathSet(ascending: changed.sorted())
        var rest: [Entry] = []
        for (index, entry) in entries.enumerated() where !kept[index] {
            let vanishes = shown[index] || touched.touches(entry.path)
            rest.append(vanishes ? Entry(path: entry.path, stamp: stamp, value: .absent) : entry)
        }
        return Fields(ascending: Self.trimAbsent(Self.weave(written, rest), to: absentLimit))
    }

    /// With an absent entry for each of the paths that has none.
    package func lacking(_ paths: [FieldPath], _ stamp: Stamp) -> Fields {
        let new = paths.filter { path in !entries.contains { $0.path == path } }
        let absent = new.map { Entry(path: $0, stamp: stamp, value: .absent) }
        return Fields(ascending: (entries + absent).sorted { $0.path < $1.path })
    }

    /// Of the absent entries the newest.
    private static func trimAbsent(_ entries: [Entry], to limit: Int) -> [Entry] {
        let absent = entries.filter { $0.value == .absent }
        guard absent.count > limit else { return entries }
        let ranked = absent.sorted { $0.stamp != $1.stamp ? $0.stamp > $1.stamp : $0.path < $1.path }
        let kept = ranked.prefix(limit).map(\.path).sorted()
        let keptPaths = PathSet(ascending: kept)
        return entries.filter { $0.value != .absent || keptPaths.contains($0.path) }
    }

    /// Two ascending lists as one; a path in both is taken from the first.
    private static func weave(_ first: [Entry], _ second: [Entry]) -> [Entry] {
        var woven: [Entry] = []
        woven.reserveCapacity(first.count + second.count)
        var rest = second[...]
        for entry in first {
            while let next = rest.first, next.path < entry.path {
                woven.append(next)
                rest.removeFirst()
            }
            if rest.first?.path == entry.path { rest.removeFirst() }
            woven.append(entry)
        }
        woven.append(contentsOf: rest)
        return woven
    }
}

/// Paths in ascending order, to ask which others they touch.
private struct PathSet {
    let paths: [FieldPath]

    init(ascending paths: [FieldPath]) { self.paths = paths }

    func contains(_ path: FieldPath) -> Bool {
        let index = firstIndex(notBefore: path)
        return index < paths.count && paths[index] == path
    }

    /// Whether some path here is the given one, above it or under it.
    func touches(_ path: FieldPath) -> Bool {
        let index = firstIndex(notBefore: path)
        if index < paths.count, paths[index].isAtOrUnder(path) { return true }
        // What is above is a prefix of the path: each prefix that ends a key is looked up.
        var end = 0
        while let zero = path.encoded[end...].firstIndex(of: 0) {
            end = zero + 1
            if end < path.encoded.count, path.encoded[end] == 0xFF { continue }
            if end < path.encoded.count, contains(FieldPath(encoded: path.encoded[..<end])) { return true }
        }
        return false
    }

    private func firstIndex(notBefore path: FieldPath) -> Int {
        var (low, high) = (0, paths.count)
        while low < high {
            let middle = (low + high) / 2
            if paths[middle] < path { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
