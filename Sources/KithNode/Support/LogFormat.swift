import Glibc

/// How a line of the log is written.
package enum LogFormat: Sendable {
    /// `2026-11-30T12:34:56.789Z warning mesh: a sentence key=value key="a value"`
    case text
    /// The same without the time, and with the priority as `<3>` to `<7>` for the level, which the journal takes away.
    case journal
    /// `{"time":…,"level":…,"area":…,"message":…,"key":"value"}`
    case json

    /// The one for people that suits standard error: the journal's where that is what it is connected to.
    ///
    /// The variable alone proves nothing, because children inherit it: it names the device and inode of the stream.
    package static func ofStandardError(
        environment: NodeDirectory.Environment = NodeDirectory.processEnvironment, descriptor: Int32 = STDERR_FILENO
    ) -> LogFormat {
        let parts = environment("JOURNAL_STREAM")?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        var status = stat()
        guard parts.count == 2, let device = UInt64(parts[0]), let inode = UInt64(parts[1]),
            fstat(descriptor, &status) == 0, UInt64(status.st_dev) == device, UInt64(status.st_ino) == inode
        else { return .text }
        return .journal
    }

    /// The line with its end. Nothing in it can end a line or steer a terminal.
    package func line(_ event: LogEvent, time: Int64) -> [UInt8] {
        let text =
            switch self {
            case .text: "\(Timestamp.text(ofMilliseconds: time)) \(event.level.rawValue) \(Self.words(event))"
            case .journal: "<\(event.level.priority)>\(Self.words(event))"
            case .json: String(decoding: Self.object(event, time: time), as: UTF8.self)
            }
        return Array((text + "\n").utf8)
    }

    private static func words(_ event: LogEvent) -> String {
        var words = "\(event.area.rawValue): \(Shown.line(event.sentence, limit: LogLimits.valueCharacters))"
        for (key, value) in event.fields {
            words += " \(key)=\(quoted(Shown.line(value, limit: LogLimits.valueCharacters)))"
        }
        return words
    }

    /// As it is where it is one word, else between quotes.
    private static func quoted(_ value: String) -> String {
        let isWord = !value.isEmpty && !value.contains { $0 == " " || $0 == "\"" || $0 == "=" || $0 == "\\" }
        if isWord { return value }
        return "\"" + value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    private static func object(_ event: LogEvent, time: Int64) -> [UInt8] {
        var object = JSONObjectWriter()
        object.add("time", time: time)
        object.add("level", event.level.rawValue)
        object.add("area", event.area.rawValue)
        object.add("message", Shown.line(event.sentence, limit: LogLimits.valueCharacters))
        for (key, value) in event.fields { object.add(key, Shown.line(value, limit: LogLimits.valueCharacters)) }
        return object.bytes
    }
}

extension Log.Level {
    /// As syslog counts.
    fileprivate var priority: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .info: 6
        case .debug, .trace: 7
        }
    }
}
