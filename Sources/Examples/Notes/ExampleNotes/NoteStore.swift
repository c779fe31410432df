import Foundation
import Kith

/// The notes of a database: what a program can do with them. All that it writes is on disk when a call returns.
public struct NoteStore: Sendable {
    private let database: Database
    private let notes: ModelCollection<Note>
    private let machine: String
    private let now: @Sendable () -> Date

    /// Makes the indexes where they are not there yet.
    /// - Parameters:
    ///   - database: alone or of a node: it makes no difference here.
    ///   - machine: the name that its texts go by.
    ///   - now: the clock.
    public init(
        _ database: Database, on machine: String, now: @escaping @Sendable () -> Date = { Date() }
    ) async throws {
        self.database = database
        self.machine = machine
        self.now = now
        notes = try database.collection(of: Note.self, type: "note")
        try await database.createIndex(DatabaseIndex("by-date", on: "type", "updatedAt"))
        // Of an object all the texts in it.
        try await database.createIndex(DatabaseIndex("words", fullTextOf: "title", "texts", language: .english))
    }

    /// The notes that a search finds, newest first.
    /// - Parameter typed: words and tags as a person types them; all notes where there are none.
    public func found(by typed: String) -> ModelQuery<Note> {
        let search = Search(typed)
        var query = notes.order(\.updatedAt, .descending)
        for tag in search.tags { query = query.where { _ in Field("doc.tags")[tag] == true } }
        if let words = search.match { query = query.where { _ in Field.match("words", words) } }
        return query
    }

    /// A note; nil where there is none of that id.
    public func note(_ id: Note.ID) async throws -> Note? { try await notes.get(id) }

    /// Makes a note.
    public func create(title: String) async throws -> Note {
        let note = Note(title: title, at: now())
        try await notes.save(note)
        return note
    }

    /// Gives a note another title.
    /// - Returns: the note as it is now; nil where it is gone.
    public func rename(_ id: Note.ID, to title: String) async throws -> Note? {
        let time = now()
        return try await notes.update(id) { note in
            note.title = title
            note.updatedAt = time
        }
    }

    /// Gives a note these tags and no others. Only those that are new or gone are written, so what another machine does with
    /// others stands.
    /// - Returns: the note as it is now; nil where it is gone.
    public func tag(_ id: Note.ID, with tags: [String]) async throws -> Note? {
        let time = now()
        return try await notes.update(id) { note in
            note.tags = Dictionary(tags.map { ($0, true) }) { first, _ in first }
            note.updatedAt = time
        }
    }

    /// Writes the text of a note as it was read: what came since is not replaced, and where the note was deleted since, it is
    /// there again, with what was written.
    /// - Returns: the note as it is now.
    public func write(_ text: String, to read: Note) async throws -> Note {
        let time = now()
        return try await database.write { [notes, machine] batch in
            var note = try batch.get(read.id, in: notes) ?? read
            note.write(text, over: read.texts.keys, on: machine, at: time)
            try batch.save(note, in: notes)
            return note
        }
    }

    /// Deletes a note everywhere.
    public func delete(_ id: Note.ID) async throws { try await notes.delete(id) }
}
