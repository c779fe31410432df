/// Writes metrics as OpenMetrics text 1.0: families with their metadata, and `# EOF` at the end.
///
/// Only gauges and counters are written, which every reader knows, also those of the older format of Prometheus.
package struct OpenMetricsWriter {
    package enum Kind: String, Sendable {
        case gauge, counter
    }

    /// One series of a family.
    package struct Sample: Sendable {
        let labels: [(name: String, value: String)]
        let value: String

        package init(_ labels: [(name: String, value: String)] = [], _ value: some FixedWidthInteger) {
            self.labels = labels
            self.value = String(value)
        }

        package init(_ labels: [(name: String, value: String)] = [], _ value: Bool) {
            self.labels = labels
            self.value = value ? "1" : "0"
        }

        /// - Parameter seconds: finite.
        package init(_ labels: [(name: String, value: String)] = [], seconds: Double) {
            self.labels = labels
            value = "\(seconds)"
        }
    }

    private var lines: [UInt8] = []

    package init() {}

    /// The whole text.
    package var text: [UInt8] { lines + Array("# EOF\n".utf8) }

    /// Writes a family. One without a series is left out.
    /// - Parameters:
    ///   - name: without the `_total` of a counter; it ends with the unit, where there is one.
    ///   - samples: no two with the same labels.
    package mutating func family(
        _ name: String, _ kind: Kind, unit: String? = nil, help: String, _ samples: [Sample]
    ) {
        if samples.isEmpty { return }
        add("# TYPE \(name) \(kind.rawValue)")
        if let unit { add("# UNIT \(name) \(unit)") }
        add("# HELP \(name) \(Self.escaped(help))")
        let series = kind == .counter ? name + "_total" : name
        for sample in samples {
            let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
            add("\(series)\(labels.isEmpty ? "" : "{\(labels)}") \(sample.value)")
        }
    }

    private mutating func add(_ line: String) {
        lines += line.utf8
        lines.append(UInt8(ascii: "\n"))
    }

    /// Backslash, quote and line end are escaped, as the format wants it. By scalar: a carriage return and a line feed
    /// are one character.
    private static func escaped(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped.append(contentsOf: "\\\\".unicodeScalars)
            case "\"": escaped.append(contentsOf: "\\\"".unicodeScalars)
            case "\n": escaped.append(contentsOf: "\\n".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}
