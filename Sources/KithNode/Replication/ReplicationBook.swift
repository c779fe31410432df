import KithDocument
import KithReplication
import KithStore

/// The settings of all databases that have any, by name.
struct ReplicationBook: Hashable, Sendable {
    private var settings: [String: DatabaseReplication] = [:]
    /// What holds for the others: usual, or paused where it is not known what was set.
    private(set) var others = DatabaseReplication()

    init() {}

    /// Stands for the databases that are not named: no database has the name.
    private static let othersName = "*"

    /// Reads what `lines` gave; a line that can't be read is passed over.
    init(lines: [String]) {
        for line in lines {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 4 || words.count == 5,
                let direction = DatabaseReplication.Direction(rawValue: words[1]),
                let mode = DatabaseReplication.Mode(rawValue: words[2]), ["paused", "running"].contains(words[3]),
                words[0] == Self.othersName || DatabaseName.isValid(words[0])
            else { continue }
            var entry = DatabaseReplication()
            entry.direction = direction
            entry.mode = mode
            entry.isPaused = words[3] == "paused"
            if words.count == 5 {
                entry.filter = Hex.decode(words[4].utf8).flatMap { FeedFilter(bytes: $0) }
                // What a newer version may have written is not taken for all documents.
                if entry.filter == nil { entry.isPaused = true }
            }
            if words[0] == Self.othersName { others = entry } else { settings[words[0]] = entry }
        }
    }

    /// `NAME DIRECTION MODE paused|running [FILTER]` each, ascending; the filter in hex.
    var lines: [String] {
        let named = settings.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        var lines = named.compactMap { name in settings[name].map { Self.line(name, $0) } }
        if others != DatabaseReplication() { lines.insert(Self.line(Self.othersName, others), at: 0) }
        return lines
    }

    private static func line(_ name: String, _ settings: DatabaseReplication) -> String {
        "\(name) \(settings.direction.rawValue) \(settings.mode.rawValue) \(settings.isPaused ? "paused" : "running")"
            + (settings.filter.map { " " + Hex.encode($0.bytes) } ?? "")
    }

    subscript(name: String) -> DatabaseReplication {
        get { settings[name] ?? others }
        set { settings[name] = newValue == others ? nil : newValue }
    }

    /// The file was damaged: what it can't speak for is paused.
    mutating func pauseOthers() { others.isPaused = true }

    /// Ends that.
    mutating func resumeOthers() {
        others = DatabaseReplication()
        settings = settings.filter { $0.value != others }
    }

    /// Databases that are paused by themselves, ascending.
    var paused: [String] {
        settings.filter(\.value.isPaused).keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
