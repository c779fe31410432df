/// Reads a pattern into a tree and writes the program for it.
struct RegularExpressionCompiler {
    private indirect enum Node {
        case empty
        case characters(CharacterSet)
        case assertion(RegularExpression.Assertion)
        case sequence([Node])
        case alternatives([Node])
        case group(Int, Node)
        case repeated(Node, least: Int, most: Int?, isGreedy: Bool)
    }

    private struct Flags {
        var ignoresCase = false
        var isMultiline = false
        var pointTakesLineBreaks = false
    }

    private let pattern: [Unicode.Scalar]
    private var position = 0
    private var flags = Flags()
    private var groups = 1
    private var depth = 0
    private var steps: [RegularExpression.Step] = []

    init(_ pattern: String) throws(QueryError) {
        guard pattern.utf8.count <= QueryLimits.patternBytes else {
            throw .running(
                "a pattern has \(QueryLimits.patternBytes) bytes at most, this one has \(pattern.utf8.count)")
        }
        self.pattern = Array(pattern.unicodeScalars)
    }

    mutating func compile() throws(QueryError) -> ([RegularExpression.Step], groups: Int) {
        let tree = try alternatives()
        if position < pattern.count { throw fault("unexpected )") }
        try write(.group(0, tree))
        try emit(.match)
        return (steps, groups)
    }

    private func fault(_ message: String) -> QueryError {
        .running("in the pattern, at character \(min(position, pattern.count) + 1): \(message)")
    }

    // Reading.

    private var next: Unicode.Scalar? { position < pattern.count ? pattern[position] : nil }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        position += 1
        return true
    }

    private mutating func alternatives() throws(QueryError) -> Node {
        depth += 1
        if depth > QueryLimits.patternDepth {
            throw fault("groups are nested deeper than \(QueryLimits.patternDepth) levels")
        }
        var all = [try sequence()]
        while take("|") { all.append(try sequence()) }
        depth -= 1
        return all.count == 1 ? all[0] : .alternatives(all)
    }

    private mutating func sequence() throws(QueryError) -> Node {
        var all: [Node] = []
        while let scalar = next, scalar != "|", scalar != ")" {
            let atom = try atom()
            all.append(try quantified(atom))
        }
        return all.count == 1 ? all[0] : all.isEmpty ? .empty : .sequence(all)
    }

    private mutating func quantified(_ atom: Node) throws(QueryError) -> Node {
        let range: (least: Int, most: Int?)
        switch next {
        case "*": range = (0, nil)
        case "+": range = (1, nil)
        case "?": range = (0, 1)
        case "{":
            guard let counts = try counts() else { return atom }
            range = counts
        default: return atom
        }
        if case .assertion = atom { throw fault("there is nothing to repeat") }
        position += 1
        let isGreedy = !take("?")
        if next == "*" || next == "+" || next == "?" {
            throw fault(next == "+" ? "possessive quantifiers are not supported" : "there is nothing to repeat")
        }
        return .repeated(atom, least: range.least, most: range.most, isGreedy: isGreedy)
    }

    /// `{n}`, `{n,}`, `{n,m}`; leaves the closing brace. Nil where the brace is a character like others.
    private mutating func counts() throws(QueryError) -> (least: Int, most: Int?)? {
        let start = position
        position += 1
        let least = number()
        var most = least
        if take(",") { most = number() }
        guard let least, next == "}" else {
            position = start
            throw fault("expected counts such as {2}, {2,} or {2,5} (a brace itself is written \\{)")
        }
        if least > QueryLimits.patternRepeats || most ?? 0 > QueryLimits.patternRepeats {
            throw fault("counts go up to \(QueryLimits.patternRepeats)")
        }
        if let most, most < least { throw fault("the first count is above the second") }
        return (least, most)
    }

    private mutating func number() -> Int? {
        let digits = pattern[position...].prefix { ("0"..."9").contains($0) }.prefix(5)
        position += digits.count
        return Int(digits.map { String($0) }.joined())
    }

    private mutating func atom() throws(QueryError) -> Node {
        let scalar = pattern[position]
        position += 1
        switch scalar {
        case "(": return try group()
        case "[": return .characters(try set())
        case ".":
            return .characters(
                CharacterSet(ranges: flags.pointTakesLineBreaks ? [CharacterSet.all] : [0...0x09, 0x0B...0x10FFFF]))
        case "^": return .assertion(flags.isMultiline ? .lineStart : .textStart)
        case "$": return .assertion(flags.isMultiline ? .lineEnd : .textEnd)
        case "\\": return try escape()
        case "*", "+", "?":
            position -= 1
            throw fault("there is nothing to repeat")
        case "{":
            position -= 1
            throw fault("a brace itself is written \\{")
        default: return .characters(single(scalar))
        }
    }

    private func single(_ scalar: Unicode.Scalar) -> CharacterSet {
        CharacterSet(ranges: [scalar.value...scalar.value], ignoresCase: flags.ignoresCase)
    }

    /// After `(`.
    private mutating func group() throws(QueryError) -> Node {
        let outer = flags
        if take("?") {
            if take(":") {
                let inner = try alternatives()
                try close()
                flags = outer
                return inner
            }
            return try flagged()
        }
        let number = groups
        groups += 1
        if groups > 100 { throw fault("a pattern has 99 groups at most; (?: ) keeps none") }
        let inner = try alternatives()
        try close()
        flags = outer
        return .group(number, inner)
    }

    private mutating func close() throws(QueryError) {
        if !take(")") { throw fault("expected )") }
    }

    /// After `(?`: `i`, `m`, `s` for what follows, or for the group alone after a colon.
    private mutating func flagged() throws(QueryError) -> Node {
        let outer = flags
        var count = 0
        while let scalar = next, scalar == "i" || scalar == "m" || scalar == "s" {
            if scalar == "i" { flags.ignoresCase = true }
            if scalar == "m" { flags.isMultiline = true }
            if scalar == "s" { flags.pointTakesLineBreaks = true }
            position += 1
            count += 1
        }
        if count > 0, take(")") { return .empty }
        if count > 0, take(":") {
            let inner = try alternatives()
            try close()
            flags = outer
            return inner
        }
        throw fault("expected (?: ), or flags of i, m and s; looking ahead, looking behind and names are not supported")
    }

    /// After a backslash, outside of brackets.
    private mutating func escape() throws(QueryError) -> Node {
        switch next {
        case "b": position += 1; return .assertion(.wordBoundary)
        case "B": position += 1; return .assertion(.noWordBoundary)
        case "A": position += 1; return .assertion(.textStart)
        case "z": position += 1; return .assertion(.textEnd)
        default: break
        }
        if let ranges = classRanges() { return .characters(CharacterSet(ranges: ranges)) }
        return .characters(single(try escapedCharacter()))
    }

    /// `\d`, `\w`, `\s` and their opposites.
    private mutating func classRanges() -> [ClosedRange<UInt32>]? {
        let ranges: [ClosedRange<UInt32>]
        switch next {
        case "d": ranges = CharacterSet.digits.ranges
        case "D": ranges = CharacterSet.digits.complement
        case "w": ranges = CharacterSet.words.ranges
        case "W": ranges = CharacterSet.words.complement
        case "s": ranges = CharacterSet.spaces.ranges
        case "S": ranges = CharacterSet.spaces.complement
        default: return nil
        }
        position += 1
        return ranges
    }

    private mutating func escapedCharacter() throws(QueryError) -> Unicode.Scalar {
        guard let scalar = next else { throw fault("the pattern ends with a backslash") }
        position += 1
        switch scalar {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "f": return "\u{0C}"
        case "v": return "\u{0B}"
        case "x": return try hexadecimal(2)
        case "u": return try hexadecimal(4)
        default: break
        }
        if scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) {
            position -= 1
            throw fault("\\\(scalar) is not supported")
        }
        return scalar
    }

    private mutating func hexadecimal(_ count: Int) throws(QueryError) -> Unicode.Scalar {
        let digits = pattern[position...].prefix(count).map { String($0) }.joined()
        guard digits.utf8.count == count, let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value)
        else {
            throw fault("expected \(count) hexadecimal digits of a character")
        }
        position += count
        return scalar
    }

    /// After `[`.
    private mutating func set() throws(QueryError) -> CharacterSet {
        var set = CharacterSet(ignoresCase: flags.ignoresCase)
        set.isNegated = take("^")
        var isFirst = true
        while isFirst || next != "]" {
            isFirst = false
            guard next != nil else { throw fault("expected ] after the characters of a set") }
            if next == "[", position + 1 < pattern.count, pattern[position + 1] == ":" {
                throw fault("named sets such as [:alpha:] are not supported")
            }
            let isEscaped = take("\\")
            if isEscaped, let ranges = classRanges() {
                set.ranges += ranges
                continue
            }
            let low = isEscaped ? try escapedCharacter() : try plain()
            guard next == "-", position + 1 < pattern.count, pattern[position + 1] != "]" else {
                set.ranges.append(low.value...low.value)
                continue
            }
            position += 1
            let high = take("\\") ? try escapedCharacter() : try plain()
            if high < low { throw fault("the range goes down") }
            set.ranges.append(low.value...high.value)
        }
        position += 1
        return set
    }

    private mutating func plain() throws(QueryError) -> Unicode.Scalar {
        guard let scalar = next else { throw fault("expected ] after the characters of a set") }
        position += 1
        return scalar
    }

    // Writing.

    private mutating func emit(_ step: RegularExpression.Step) throws(QueryError) {
        if steps.count >= QueryLimits.patternSteps { throw .running("the pattern is too large: repeat less in it") }
        steps.append(step)
    }

    private mutating func write(_ node: Node) throws(QueryError) {
        switch node {
        case .empty: return
        case .characters(let set): try emit(.character(set))
        case .assertion(let assertion): try emit(.assertion(assertion))
        case .sequence(let all): for node in all { try write(node) }
        case .group(let number, let inner):
            try emit(.save(2 * number))
            try write(inner)
            try emit(.save(2 * number + 1))
        case .alternatives(let all): try write(alternatives: all)
        case .repeated(let inner, let least, let most, let isGreedy):
            let start = steps.count
            for _ in 0..<least {
                try write(inner)
                // What is nothing is nothing however often.
                if steps.count == start { return }
            }
            if let most {
                try write(optional: inner, count: most - least, isGreedy: isGreedy)
            } else {
                try write(star: inner, isGreedy: isGreedy)
            }
        }
    }

    private mutating func write(alternatives all: [Node]) throws(QueryError) {
        var ends: [Int] = []
        for (index, node) in all.enumerated() {
            guard index < all.count - 1 else {
                try write(node)
                break
            }
            let split = steps.count
            try emit(.split(split + 1, 0))
            try write(node)
            ends.append(steps.count)
            try emit(.jump(0))
            steps[split] = .split(split + 1, steps.count)
        }
        for end in ends { steps[end] = .jump(steps.count) }
    }

    private mutating func write(star inner: Node, isGreedy: Bool) throws(QueryError) {
        let split = steps.count
        try emit(.split(0, 0))
        try write(inner)
        try emit(.jump(split))
        steps[split] = isGreedy ? .split(split + 1, steps.count) : .split(steps.count, split + 1)
    }

    private mutating func write(optional inner: Node, count: Int, isGreedy: Bool) throws(QueryError) {
        var splits: [Int] = []
        for _ in 0..<count {
            splits.append(steps.count)
            try emit(.split(0, 0))
            try write(inner)
        }
        for split in splits {
            steps[split] = isGreedy ? .split(split + 1, steps.count) : .split(steps.count, split + 1)
        }
    }
}
