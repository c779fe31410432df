import KithNode

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension KithLog {
    /// Something that happened.
    public struct Entry: Sendable {
        /// What it is about, by name: `peer`, `database`, `reason` ...
        public struct Field: Hashable, Sendable {
            /// The same for what is the same.
            public let name: String
            /// One line.
            public let value: String
        }

        /// When.
        public let time: Date
        /// How much it matters.
        public let level: Level
        /// What it is about.
        public let domain: Domain
        /// What happened, in few words that are the same each time it does.
        public let message: String
        /// To what, and why; in order.
        public let fields: [Field]
        /// All of it on one line, as in a file, without its end.
        public let line: String

        init(_ event: LogEvent, milliseconds: Int64) {
            time = Date(milliseconds: milliseconds)
            level = Level(rawValue: event.level.rawValue) ?? .trace
            domain = Domain(rawValue: event.area.rawValue) ?? .node
            message = event.sentence
            fields = event.fields.map { Field(name: $0.key, value: $0.value) }
            line = String(decoding: LogFormat.text.line(event, time: milliseconds).dropLast(), as: UTF8.self)
        }
    }

    /// Where events go.
    public struct Sink: Sendable {
        let output: Log.Output
        let flush: @Sendable () async -> Void

        /// Standard error, a line each; with the priorities of the journal where that is what it is connected to. What can't be
        /// written without waiting is lost.
        public static let console: Sink = {
            let format = LogFormat.ofStandardError()
            return Sink(
                output: { event, time, _ in Log.writeToStandardError(format.line(event, time: time)) }, flush: {})
        }()

        /// A file that begins anew when it is full. The present lines are in it, those before in files with `.1`, `.2` and so on
        /// behind its name. Lines are written soon after they were told, by a queue of its own, and not synchronised.
        /// - Parameters:
        ///   - url: its name, in a folder that is there.
        ///   - maximumBytes: of one file; at least 64 KiB.
        ///   - keeping: full files that stay; the oldest goes.
        /// - Throws: `KithError` `disk` where the file can't be written.
        public static func file(_ url: URL, maximumBytes: Int = 1 << 20, keeping: Int = 5) throws(KithError) -> Sink {
            let file: LogFile
            do throws(NodeError) { file = try LogFile(url.path, most: maximumBytes, kept: keeping) } catch {
                throw KithError(.disk, url.path, error.message)
            }
            return Sink(output: { _, _, line in file.write(line) }, flush: { await file.flush() })
        }

        /// A function of the program's own: called on a queue of its own, one event at a time and in order. It may block; when
        /// a thousand events wait for it others are lost, and the log tells how many.
        public static func custom(_ take: @escaping @Sendable (Entry) -> Void) -> Sink {
            let handler = LogHandler { event, time in take(Entry(event, milliseconds: time)) }
            return Sink(
                output: { event, time, _ in handler.write(event, time: time) }, flush: { await handler.flush() })
        }
    }
}
