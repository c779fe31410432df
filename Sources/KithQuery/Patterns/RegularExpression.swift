/// A regular expression, matched in time linear in the text for any pattern: all ways to match go forward together (a
/// Pike machine), so that no pattern can make it try again and again.
///
/// The syntax is a subset of that of others: docs/query.md lists it. What is not in it is an error.
struct RegularExpression: Sendable {
    /// What a step of the program does.
    enum Step: Sendable, Equatable {
        case character(CharacterSet)
        /// Both ways, the first one preferred.
        case split(Int, Int)
        case jump(Int)
        /// Keeps the place as an end of a group.
        case save(Int)
        case assertion(Assertion)
        case match
    }

    enum Assertion: Sendable, Equatable {
        case textStart, textEnd, lineStart, lineEnd, wordBoundary, noWordBoundary
    }

    /// Where a match stands, in characters, and its groups; the first one is the whole.
    struct Match {
        let groups: [Range<Int>?]
        var range: Range<Int> { groups[0]! }
    }

    let steps: [Step]
    let groupCount: Int

    /// - Throws: `QueryError.running` with what is wrong.
    init(_ pattern: String) throws(QueryError) {
        var compiler = try RegularExpressionCompiler(pattern)
        (steps, groupCount) = try compiler.compile()
    }

    /// The first match, of those that begin there the one that the pattern prefers.
    /// - Throws: `QueryError.running` when it takes too long.
    func firstMatch(in text: [Unicode.Scalar]) throws(QueryError) -> Match? {
        var machine = RegularExpressionMachine(self, text)
        return try machine.run(from: 0)
    }

    /// Whether the whole text matches.
    func matchesWhole(_ text: [Unicode.Scalar]) throws(QueryError) -> Bool {
        var machine = RegularExpressionMachine(self, text)
        machine.mustReachEnd = true
        return try machine.run(from: 0, onlyThere: true) != nil
    }

    /// All matches that don't overlap.
    func matches(in text: [Unicode.Scalar], atMost limit: Int = .max) throws(QueryError) -> [Match] {
        var machine = RegularExpressionMachine(self, text)
        var matches: [Match] = []
        var place = 0
        while matches.count < limit, let match = try machine.run(from: place) {
            matches.append(match)
            place = match.range.isEmpty ? match.range.upperBound + 1 : match.range.upperBound
        }
        return matches
    }
}

/// Characters, as ranges.
struct CharacterSet: Sendable, Equatable {
    var ranges: [ClosedRange<UInt32>] = []
    var isNegated = false
    /// Whether a letter stands for both its cases.
    var ignoresCase = false

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        let isIn = has(scalar.value) || (ignoresCase && otherCases(of: scalar).contains { has($0) })
        return isIn != isNegated
    }

    private func has(_ value: UInt32) -> Bool { ranges.contains { $0.contains(value) } }

    private func otherCases(of scalar: Unicode.Scalar) -> [UInt32] {
        [scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping].compactMap {
            $0.unicodeScalars.count == 1 ? $0.unicodeScalars.first?.value : nil
        }
    }

    static let digits = CharacterSet(ranges: [0x30...0x39])
    static let words = CharacterSet(ranges: [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    static let spaces = CharacterSet(ranges: [0x09...0x0D, 0x20...0x20])
    static let all: ClosedRange<UInt32> = 0...0x10FFFF

    var complement: [ClosedRange<UInt32>] {
        var (complement, next): ([ClosedRange<UInt32>], UInt32) = ([], 0)
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if range.lowerBound > next { complement.append(next...range.lowerBound - 1) }
            next = max(next, range.upperBound + 1)
        }
        if next <= 0x10FFFF { complement.append(next...0x10FFFF) }
        return complement
    }
}

extension String {
    init(scalars: some Collection<Unicode.Scalar>) {
        var view = UnicodeScalarView()
        view.append(contentsOf: scalars)
        self.init(view)
    }
}
