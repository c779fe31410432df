/// A strict reader of OpenMetrics text 1.0, for tests: what the format forbids is an error, and so is what it only
/// advises against.
struct OpenMetricsParser {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    struct Family {
        let name: String
        let type: String
        var unit: String?
        var help: String?
    }

    /// By series, `NAME{LABELS}` as it stands, its value.
    private(set) var values: [String: Double] = [:]
    private(set) var families: [Family] = []
    private var current: Family?
    private var hasSamples = false

    init(_ text: String) throws {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.count >= 2, lines.last == "", lines[lines.count - 2] == "# EOF" else {
            throw Failure(description: "it does not end with # EOF and one line end")
        }
        for line in lines.dropLast(2) { try take(line) }
        try finish()
    }

    private mutating func take(_ line: String) throws {
        if line.hasPrefix("# ") {
            try takeMetadata(line)
        } else {
            guard !line.isEmpty, !line.hasPrefix("#") else { throw Failure(description: "a line of nothing: \(line)") }
            try takeSample(line)
        }
    }

    private mutating func takeMetadata(_ line: String) throws {
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        guard words.count == 4 else { throw Failure(description: line) }
        let (kind, name, rest) = (words[1], words[2], words[3])
        switch kind {
        case "TYPE":
            try finish()
            guard ["gauge", "counter"].contains(rest), !families.contains(where: { $0.name == name }) else {
                throw Failure(description: "a type that is none, or a family for the second time: \(line)")
            }
            guard name.hasPrefix("kith_"), Self.isName(name), !name.hasSuffix("_total") else {
                throw Failure(description: "no name for a family: \(name)")
            }
            current = Family(name: name, type: rest)
            hasSamples = false
        case "UNIT":
            guard current?.name == name, !hasSamples, current?.unit == nil, current?.help == nil,
                name.hasSuffix("_" + rest)
            else { throw Failure(description: "a unit in the wrong place, or not at the name's end: \(line)") }
            current?.unit = rest
        case "HELP":
            guard current?.name == name, !hasSamples, current?.help == nil, rest.hasSuffix(".") else {
                throw Failure(description: "a help text in the wrong place, or none: \(line)")
            }
            current?.help = rest
        default: throw Failure(description: line)
        }
    }

    private mutating func finish() throws {
        guard let current else { return }
        guard hasSamples, current.help != nil else {
            throw Failure(description: "\(current.name) has no series or no help")
        }
        families.append(current)
    }

    private mutating func takeSample(_ line: String) throws {
        guard let current, let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]),
            value.isFinite
        else { throw Failure(description: "no sample: \(line)") }
        let series = String(line[..<space])
        let name = String(series.prefix { $0 != "{" })
        guard name == (current.type == "counter" ? current.name + "_total" : current.name) else {
            throw Failure(description: "\(name) stands among the series of \(current.name)")
        }
        if current.type == "counter", value < 0 { throw Failure(description: "a counter below 0: \(line)") }
        try check(labels: series.dropFirst(name.count))
        guard values.updateValue(value, forKey: series) == nil else {
            throw Failure(description: "the series \(series) stands twice")
        }
        hasSamples = true
    }

    /// `{name="value",…}` with the escapes that the format has, and no name twice.
    private func check(labels text: Substring) throws {
        if text.isEmpty { return }
        guard text.first == "{", text.last == "}" else { throw Failure(description: "labels without braces: \(text)") }
        var rest = Array(text.dropFirst().dropLast().unicodeScalars)[...]
        var names: Set<String> = []
        while !rest.isEmpty {
            let name = rest.prefix { $0 != "=" }
            rest = rest.dropFirst(name.count)
            let label = String(String.UnicodeScalarView(name))
            guard Self.isName(label), names.insert(label).inserted, rest.popFirst() == "=", rest.popFirst() == "\""
            else { throw Failure(description: "no label: \(text)") }
            while let scalar = rest.popFirst(), scalar != "\"" {
                if scalar == "\n" { throw Failure(description: "a line end in a label") }
                guard scalar != "\\" || ["\\", "\"", "n"].contains(rest.popFirst()) else {
                    throw Failure(description: "an escape that is none: \(text)")
                }
            }
            if !rest.isEmpty, rest.popFirst() != "," { throw Failure(description: "labels without a comma: \(text)") }
        }
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, "abcdefghijklmnopqrstuvwxyz_".unicodeScalars.contains(first) else {
            return false
        }
        return text.unicodeScalars.allSatisfy { "abcdefghijklmnopqrstuvwxyz_0123456789".unicodeScalars.contains($0) }
    }
}
