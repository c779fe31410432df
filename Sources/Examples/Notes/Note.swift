import Foundation

/// A note as it stands in the database, laid out so that edits made apart merge (docs/example-notes.md, "The model").
public struct Note: Codable, Identifiable, Hashable, Sendable {
    /// Random: two machines never make the same.
    public var id: String
    /// One line. Of two edits made apart the later shows.
    public var title: String
    /// The text, by when and where it was written. More than one where machines wrote apart and nobody has settled it yet.
    public var texts: [String: String]
    /// An object by key, so that tags added apart are all there; the values mean nothing.
    public var tags: [String: Bool]
    /// Written once.
    public var createdAt: Date
    /// Of the last edit.
    public var updatedAt: Date

    /// A new note without a text.
    public init(id: String = UUID().uuidString.lowercased(), title: String, at time: Date) {
        self.id = id
        self.title = title
        texts = [:]
        tags = [:]
        createdAt = time
        updatedAt = time
    }

    /// An object that lost its last member in a merge may be missing, so these two have a default.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        id = try fields.decode(String.self, forKey: .id)
        title = try fields.decode(String.self, forKey: .title)
        texts = try fields.decodeIfPresent([String: String].self, forKey: .texts) ?? [:]
        tags = try fields.decodeIfPresent([String: Bool].self, forKey: .tags) ?? [:]
        createdAt = try fields.decode(Date.self, forKey: .createdAt)
        updatedAt = try fields.decode(Date.self, forKey: .updatedAt)
    }
}

extension Note {
    /// One text of a note.
    public struct Version: Hashable, Sendable {
        /// When and where it was written.
        public let key: String
        /// What was written.
        public let text: String
    }

    /// The different texts, newest first: the same order on every machine.
    public var versions: [Version] {
        var versions: [Version] = []
        for (key, text) in texts.sorted(by: { $0.key > $1.key }) where !versions.contains(where: { $0.text == text }) {
            versions.append(Version(key: key, text: text))
        }
        return versions
    }

    /// Whether machines wrote different texts, not knowing of each other.
    public var isInConflict: Bool { versions.count > 1 }

    /// The text; where there are several, all of them one after the other.
    public var text: String { versions.map(\.text).joined(separator: "\n\n") }

    /// The tags in an order that is the same everywhere.
    public var tagNames: [String] { tags.keys.sorted() }

    /// Writes the text in the place of those that the writer has seen. Others stay: nobody has read them yet.
    /// - Parameters:
    ///   - text: all of it.
    ///   - seen: the keys of the versions that it was written over.
    ///   - machine: where.
    ///   - time: when.
    public mutating func write(_ text: String, over seen: some Sequence<String>, on machine: String, at time: Date) {
        for key in seen { texts[key] = nil }
        texts["\(Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(time)) \(machine)"] = text
    }
}
