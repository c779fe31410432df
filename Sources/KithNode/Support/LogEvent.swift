/// One line of the log before it is written.
package struct LogEvent: Sendable {
    package var level: Log.Level
    package var area: Log.Area
    package var sentence: String
    package var fields: [(key: String, value: String)]

    /// What makes two events the same: at info and above what happened and to which peer, whatever the rest says; an
    /// attempt only when all of it is equal, because who reads attempts wants the reasons.
    var key: String {
        let varying = level <= .info ? fields.filter { Self.subjects.contains($0.key) } : fields
        return varying.reduce(into: "\(area.rawValue) \(sentence)") { $0 += "\u{0}\($1.key)\u{0}\($1.value)" }
    }

    /// The fields that say to whom or what it happened.
    private static let subjects: Set<String> = ["peer", "database", "code"]
}
