import KithNetwork

/// What can be configured: the one table from which the parser of the file, the options of `kith start`, the variables,
/// the manual page kith.conf(5) and `kith config` are made.
package enum ConfigurationKey: String, CaseIterable, Hashable, Sendable {
    case data
    case listen
    case peer
    case discovery
    case interface
    case advertise
    case log
    case logFormat = "log-format"

    /// As it stands in a file, and with two dashes on a command line.
    package var name: String { rawValue }

    /// The variable of the environment that sets it.
    package var variable: String {
        "KITH_" + String(rawValue.uppercased().map { $0 == "-" ? "_" : $0 })
    }

    /// Whether it may be given more than once; in a variable its values stand apart by white space.
    package var isRepeated: Bool { entry.isRepeated }

    /// What stands for its value in help texts.
    package var value: String { entry.value }

    /// What holds where nothing sets it; nil where nothing does.
    package var standard: String? { entry.standard }

    /// Few words for help texts.
    package var summary: String { entry.summary }

    /// Sentences for the manual page, a paragraph each.
    package var text: [String] { entry.text }

    /// Whether a running node takes a new value over when it reads its configuration again.
    package var changesLive: Bool { entry.changesLive }

    /// What was expected where a value is none for this key; nil where it is one.
    /// - Parameter inFile: whether it stands in a file, where no path can be relative to anything.
    package func complaint(_ text: String, inFile: Bool) -> String? {
        if text.isEmpty { return "needs a value: \(value)" }
        switch self {
        case .data:
            let isAbsolute = text.utf8.first == UInt8(ascii: "/")
            return inFile && !isAbsolute ? "\(Shown.path(text)) is no absolute path; it begins with /" : nil
        case .listen:
            return Self.complaint { () throws(AddressError) in
                try Endpoint(listening: text, defaultPort: NodeConfiguration.defaultPort)
            }
        case .interface:
            do throws(AddressError) {
                _ = try InterfacePatterns([text])
                return nil
            } catch { return error.message }
        case .peer, .advertise:
            return Self.complaint { () throws(AddressError) in
                try Endpoint(peer: text, defaultPort: NodeConfiguration.defaultPort)
            }
        case .logFormat:
            return ["text", "json"].contains(text) ? nil : "\(Shown.name(text)) is no format; text or json is"
        case .discovery: return ["on", "off"].contains(text) ? nil : "\(Shown.name(text)) is neither on nor off"
        case .log:
            if Log.Setting(text) != nil { return nil }
            let levels = Log.Level.allCases.map(\.rawValue).joined(separator: ", ")
            let areas = Log.Area.allCases.map(\.rawValue).joined(separator: ", ")
            return "\(Shown.name(text)) is neither LEVEL nor AREA=LEVEL; levels are \(levels); areas are \(areas)"
        }
    }

    /// What is wrong with values that are right one by one; nil where nothing is.
    package func complaint(together values: [String]) -> String? {
        switch self {
        case .advertise where values.count > NodeLimits.presenceAddresses:
            return "\(values.count) addresses are too many: a node tells of \(NodeLimits.presenceAddresses) at most"
        case .interface:
            do throws(AddressError) {
                _ = try InterfacePatterns(values)
                return nil
            } catch { return error.message }
        default: return nil
        }
    }

    /// - Throws: `NodeError` `usage` where the values can't stand together.
    func require(_ values: [String]) throws(NodeError) {
        if let complaint = complaint(together: values) {
            throw NodeError(code: "usage", message: "\(name): \(complaint)")
        }
    }

    private static func complaint(_ read: () throws(AddressError) -> Endpoint) -> String? {
        do throws(AddressError) {
            _ = try read()
            return nil
        } catch { return error.message }
    }

    private struct Entry {
        var value: String
        var isRepeated = false
        var standard: String?
        var changesLive = false
        var summary: String
        var text: [String]
    }

    private var entry: Entry {
        switch self {
        case .data:
            Entry(
                value: "DIR", summary: "the node's directory",
                text: [
                    "The directory of the node, an absolute path. Commands that talk to the node read it too. It must be on a "
                        + "local file system."
                ])
        case .listen:
            Entry(
                value: "HOST:PORT", summary: "where to listen for peers",
                text: [
                    "The address at which the node listens for peers. Without it the node listens on port 5484 of all "
                        + "addresses, or the next free port, and keeps its port from then on."
                ])
        case .peer:
            Entry(
                value: "HOST:PORT", isRepeated: true, changesLive: true,
                summary: "a peer's address, besides those that are found",
                text: [
                    "An address at which a peer may be, a line for each. The node dials them besides the peers that it "
                        + "finds by itself."
                ])
        case .discovery:
            Entry(
                value: "on|off", standard: "on", changesLive: true,
                summary: "whether to announce this node and look for others",
                text: [
                    "Whether the node announces itself by DNS-SD and looks for others. With off it knows the peers named by peer alone."
                ])
        case .interface:
            Entry(
                value: "PATTERN", isRepeated: true, changesLive: true,
                summary: "which network interfaces count for discovery: eth*, or !docker* for all others",
                text: [
                    "Patterns of the names of network interfaces that count for discovery, a line for each: * is any letters, "
                        + "? is one, and a pattern after ! leaves its interfaces out. Without any, all count."
                ])
        case .advertise:
            Entry(
                value: "HOST:PORT", isRepeated: true, changesLive: true,
                summary: "where this node can be reached besides: told to the group",
                text: [
                    "An address at which the other nodes can reach this one besides those that are found, a line for each, at "
                        + "most \(NodeLimits.presenceAddresses): behind a forwarded port, or in a container."
                ])
        case .log:
            Entry(
                value: "LEVEL|AREA=LEVEL", isRepeated: true, standard: "info", changesLive: true,
                summary: "what is logged",
                text: [
                    "The least level that is logged, of all areas or of one, a line for each. Levels are error, warning, "
                        + "info, debug and trace."
                ])
        case .logFormat:
            Entry(
                value: "text|json", standard: "text", summary: "how the log is written",
                text: ["Whether a line of the log is a sentence with what it is about, or a JSON object."])
        }
    }
}
