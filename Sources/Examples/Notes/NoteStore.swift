import Foundation
import Kith

/// A note as it was saved a moment ago.
public struct SavedNote: Hashable, Sendable {
    /// The note.
    public let note: Note
    /// The number of that change in the database: live results that have seen it have at least this `sequence`.
    public let sequence: UInt64
}

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
    public func create(title: String) async throws -> SavedNote {
        let note = Note(title: title, at: now())
        return SavedNote(note: note, sequence: try await notes.save(note).sequence)
    }

    /// Gives a note another title.
    /// - Returns: nil where the note is gone.
    public func rename(_ id: Note.ID, to title: String) async throws -> SavedNote? {
        try await change(id) { note, _ in note.title = title }
    }

    /// Gives a note these tags and no others. Only those that are new or gone are written, so what another machine does with
    /// others stands.
    /// - Returns: nil where the note is gone.
    public func tag(_ id: Note.ID, with tags: [String]) async throws -> SavedNote? {
        try await change(id) { note, _ in note.tags = Dictionary(tags.map { ($0, true) }) { first, _ in first } }
    }

    /// Writes the text of a note as it was read: what came since is not replaced, and where the note was deleted since, it is
    /// there again, with what was written.
    /// - Returns: the note as it is now.
    public func write(_ text: String, to read: Note) async throws -> SavedNote? {
        try await change(read.id, or: read) { [machine] note, time in
            note.write(text, over: read.texts.keys, on: machine, at: time)
        }
    }

    /// Reads a note, changes it and saves it, with nobody writing in between.
    /// - Parameters:
    ///   - id: of the note.
    ///   - lost: what is changed where there is no note of that id any more; nil for nothing.
    ///   - change: is given the note and the time.
    /// - Returns: nil where nothing was changed.
    private func change(
        _ id: Note.ID, or lost: Note? = nil, _ change: @escaping @Sendable (inout Note, Date) -> Void
    ) async throws -> SavedNote? {
        let time = now()
        return try await database.write { [notes] batch in
            guard var note = try batch.get(id, in: notes) ?? lost else { return nil }
            change(&note, time)
            note.updatedAt = time
            return SavedNote(note: note, sequence: try batch.save(note, in: notes).sequence)
        }
    }

    /// Deletes a note everywhere.
    public func delete(_ id: Note.ID) async throws { try await notes.delete(id) }
}
