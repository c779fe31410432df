import KithDocument

/// The policy of a run's databases as a user is told it, and none of the product's code.
struct PolicyModel {
    /// Whether it merges at all.
    let merges: Bool
    private(set) var rules: [(path: String, rule: String)] = []
    /// Paths that are together.
    private(set) var groups: [[String]] = []

    /// - Parameter text: a name, or the JSON of a policy.
    init(_ text: String) {
        merges = !text.utf8.elementsEqual("manual".utf8)
        guard text.hasPrefix("{"), let policy = try? JSONValue(parsing: text) else { return }
        for (path, rule) in policy["paths"]?.object ?? JSONObject() { rules.append((path, rule.string ?? "")) }
        groups = (policy["together"]?.array ?? []).map { ($0.array ?? []).compactMap(\.string) }
    }

    func rule(of path: String) -> String? { rules.first { $0.path.utf8.elementsEqual(path.utf8) }?.rule }

    /// Whether a path is one of the group's or under one.
    static func isIn(_ group: [String], _ path: String) -> Bool {
        group.contains { path.utf8.elementsEqual($0.utf8) || path.utf8.starts(with: ($0 + "/").utf8) }
    }

    /// What a merge has of two entries of one path.
    func joined(_ one: FieldModel.Entry, _ other: FieldModel.Entry) -> FieldModel.Entry {
        let later = one.counts(over: other) ? one : other
        guard let rule = rule(of: one.path) else { return later }
        switch (Self.value(of: one, rule), Self.value(of: other, rule)) {
        case (nil, nil): return later
        case (_?, nil): return one
        case (nil, _?): return other
        case (let mine?, let its?):
            return FieldModel.Entry(
                path: one.path, time: later.time, writer: later.writer, value: Self.joined(mine, its, rule))
        }
    }

    /// The value where the rule is for such.
    private static func value(of entry: FieldModel.Entry, _ rule: String) -> String? {
        guard let value = entry.value, let first = value.utf8.first else { return nil }
        let isArray = first == UInt8(ascii: "[")
        let isNumber = first == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
        return (rule == "union" ? isArray : isNumber) ? value : nil
    }

    private static func joined(_ one: String, _ other: String, _ rule: String) -> String {
        switch rule {
        case "max": isLower(one, other) ? other : one
        case "min": isLower(one, other) ? one : other
        default: union(one, other)
        }
    }

    // Sets.

    private static func union(_ one: String, _ other: String) -> String {
        if one.utf8.elementsEqual(other.utf8) { return one }
        var elements: [String] = []
        for value in [one, other].compactMap({ try? JSONValue(parsing: $0) }).flatMap({ $0.array ?? [] }) {
            let text = value.description
            if !elements.contains(where: { $0.utf8.elementsEqual(text.utf8) }) { elements.append(text) }
        }
        let sorted = elements.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return "[\(sorted.joined(separator: ","))]"
    }

    // Numbers, written out in full and compared digit by digit.

    private static func isLower(_ one: String, _ other: String) -> Bool {
        let (mine, its) = (Written(one), Written(other))
        if mine.sign != its.sign { return mine.sign < its.sign }
        let places = (whole: max(mine.whole.count, its.whole.count), part: max(mine.part.count, its.part.count))
        let (left, right) = (mine.padded(places.whole, places.part), its.padded(places.whole, places.part))
        if left != right { return left.lexicographicallyPrecedes(right) == (mine.sign > 0) }
        return one.utf8.lexicographicallyPrecedes(other.utf8)
    }

    /// A number without an exponent: the digits before the point and those behind it.
    private struct Written {
        var sign = 1
        var whole: [UInt8]
        var part: [UInt8]

        init(_ text: String) {
            let parts = text.split(separator: "e")
            let digits = parts[0].drop { $0 == "-" }.split(separator: ".")
            whole = Array(digits[0].utf8)
            part = digits.count > 1 ? Array(digits[1].utf8) : []
            var exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
            while exponent > 0 {
                whole.append(part.isEmpty ? UInt8(ascii: "0") : part.removeFirst())
                exponent -= 1
            }
            while exponent < 0 {
                part.insert(whole.popLast() ?? UInt8(ascii: "0"), at: 0)
                exponent += 1
            }
            if (whole + part).allSatisfy({ $0 == UInt8(ascii: "0") }) {
                sign = 0
            } else if text.hasPrefix("-") {
                sign = -1
            }
        }

        func padded(_ wholePlaces: Int, _ partPlaces: Int) -> [UInt8] {
            func zeros(_ count: Int) -> [UInt8] { Array(repeating: UInt8(ascii: "0"), count: count) }
            return zeros(wholePlaces - whole.count) + whole + part + zeros(partPlaces - part.count)
        }
    }

    // Paths that are together.

    /// Whether one register of such paths counts and not the other: the one with the latest entry; where these are of one
    /// time, the first entry in which they differ decides, and none is below any.
    static func counts(_ one: [FieldModel.Entry], over other: [FieldModel.Entry]) -> Bool {
        func latest(_ entries: [FieldModel.Entry]) -> (UInt64, UInt64)? {
            entries.map { ($0.time, $0.writer) }.max { $0 < $1 }
        }
        guard let mine = latest(one) else { return false }
        guard let its = latest(other) else { return true }
        if mine != its { return mine > its }
        for (left, right) in zip(one, other) where left != right {
            if left.path.utf8.elementsEqual(right.path.utf8) { return left.counts(over: right) }
            return left.path.utf8.lexicographicallyPrecedes(right.path.utf8)
        }
        return one.count > other.count
    }
}
