import KithDocument

/// A configuration file, read: lines of `key = value`, comments that begin with `#`, and empty lines.
///
/// Pure: bytes become entries and problems, whatever the bytes are. A line with a problem gives no entry; the others do, so
/// that all problems of a file are named at once.
package struct ConfigurationFile: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let key: ConfigurationKey
        package let value: String
        /// Counted from 1.
        package let line: Int
    }

    package private(set) var entries: [Entry] = []
    package private(set) var problems: [ConfigurationProblem] = []
    private let name: String

    /// Reads a file's bytes.
    /// - Parameter name: the file's, for the problems' places.
    /// - Complexity: O(n); what is over the limit is not looked at.
    package static func parse(_ bytes: [UInt8], name: String) -> ConfigurationFile {
        var file = ConfigurationFile(name: name)
        file.read(bytes)
        return file
    }

    private init(name: String) { self.name = name }

    private mutating func read(_ bytes: [UInt8]) {
        guard bytes.count <= NodeLimits.configurationBytes else {
            return complain(
                "is larger than \(NodeLimits.configurationBytes >> 10) KiB, so it is no configuration of Kith", nil,
                .unreadable)
        }
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) || bytes.starts(with: [0xff, 0xfe])
            || bytes.starts(with: [0xfe, 0xff])
        {
            return complain("begins with a byte order mark; save it as UTF-8 without one", 1, .unreadable)
        }
        var lines: [ConfigurationKey: Int] = [:]
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            if problems.count == NodeLimits.configurationProblems {
                return complain("has more problems than these; the rest of the file is not looked at", index + 1)
            }
            if line.last == UInt8(ascii: "\r") {
                return complain("ends with a carriage return; save the file with Unix line ends", index + 1)
            }
            read(line, index + 1, &lines)
        }
    }

    private mutating func read(_ bytes: ArraySlice<UInt8>, _ number: Int, _ lines: inout [ConfigurationKey: Int]) {
        let line = Self.trimmed(bytes)
        if line.isEmpty || line.first == UInt8(ascii: "#") { return }
        guard line.count <= NodeLimits.configurationLineBytes else {
            return complain("is longer than \(NodeLimits.configurationLineBytes) bytes", number)
        }
        if let problem = Self.unreadable(line) { return complain(problem, number) }
        guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else {
            let isSection = line.first == UInt8(ascii: "[")
            return complain(
                isSection ? "there are no sections; write key = value" : "is not of the form key = value", number)
        }
        let name = String(decoding: Self.trimmed(line[..<equals]), as: UTF8.self)
        let value = String(decoding: Self.trimmed(line[(equals + 1)...]), as: UTF8.self)
        guard let key = ConfigurationKey(rawValue: name) else {
            let nearest = Suggestion.nearest(to: name, among: ConfigurationKey.allCases.map(\.name))
            let hint = nearest.map { "; did you mean \($0)?" } ?? ""
            return complain("unknown key \(Shown.name(name))\(hint)", number, .unknownKey)
        }
        if value.contains(" #") {
            return complain("\(key.name): a comment stands on a line of its own", number, .value(key))
        }
        if let complaint = key.complaint(value, inFile: true) {
            return complain("\(key.name): \(complaint)", number, .value(key))
        }
        if !key.isRepeated, let first = lines.updateValue(number, forKey: key) {
            return complain("\(key.name) is given twice, first in line \(first)", number, .value(key))
        }
        entries.append(Entry(key: key, value: value, line: number))
    }

    /// Why a line can't be text; nil where it can.
    private static func unreadable(_ line: ArraySlice<UInt8>) -> String? {
        if line.contains(0) { return "has a NUL byte; this is no text file" }
        guard let text = String(validating: line, as: UTF8.self) else { return "is not valid UTF-8" }
        let isControl = text.unicodeScalars.contains {
            ($0.value < 32 && $0 != "\t") || (0x7f...0x9f).contains($0.value)
        }
        return isControl ? "has a control character" : nil
    }

    /// Without spaces and tabs at both ends.
    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        guard let first = bytes.firstIndex(where: { !isBlank($0) }), let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return [] }
        return bytes[first...last]
    }

    private mutating func complain(
        _ message: String, _ line: Int? = nil, _ kind: ConfigurationProblem.Kind = .form
    ) {
        problems.append(ConfigurationProblem(kind, line.map { "\(name):\($0)" } ?? name, message))
    }
}
