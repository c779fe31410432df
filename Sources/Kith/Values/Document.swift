import KithDocument
import KithNode
import KithStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A document: an id and a JSON object. A value; it may cross threads and be kept as long as one likes.
///
///     var note = Document(id: "hello", ["title": "Milk"])
///     note["createdAt"] = .date(.now)
///     note = try await database.save(note)
///     note.string("title")
///
/// A document remembers the object that it was read with. `save` writes what was changed since, so fields that somebody
/// else has changed meanwhile, or that this program does not know, stay (`SaveRule`).
public struct Document: Sendable, Identifiable {
    /// 1 to 512 bytes of UTF-8, without NUL, not beginning with `_`. Compared as bytes by the database.
    public let id: String
    /// The revision that was read or saved, `3-` and 32 hex digits; nil for a document that is new.
    public internal(set) var revision: String?
    /// The document's place in the order of changes of this database, on this node alone; 0 for a new one.
    public internal(set) var sequence: UInt64 = 0
    /// When it was last edited, by the clock of whoever did, made later than all edits that were known there: a merge is
    /// as late as the latest edit in it. Nil for a new document, and for one that was loaded as initial data.
    public internal(set) var editedAt: Date?
    /// The other revisions that live, the highest first: not empty where a conflict waits for somebody to settle it.
    public internal(set) var conflicts: [String] = []

    /// As it was read or saved.
    var base = DocumentBody.empty
    var body: DocumentBody

    /// A new document. Saved over one that is there, it changes the fields that it has and leaves the others.
    /// - Parameters:
    ///   - id: nil for a new one that nobody else has.
    ///   - fields: an object; of anything else no document can be saved.
    public init(id: String? = nil, _ fields: JSONValue = [:]) {
        self.id = id ?? UUID().uuidString.lowercased()
        body = DocumentBody(value: fields)
    }

    /// A new document of JSON text.
    /// - Throws: `KithError` `invalid` with line and column, and for a text that is no object.
    public init(id: String? = nil, json: String) throws(KithError) {
        let id = id ?? UUID().uuidString.lowercased()
        do throws(DocumentError) { body = DocumentBody(bytes: try CanonicalJSON.object(from: Array(json.utf8))) } catch
        {
            throw KithError(error, of: id)
        }
        self.id = id
    }

    init(_ stored: StoredDocument, editTime: UInt64?) {
        id = stored.id.string
        body = DocumentBody(bytes: stored.body)
        note(stored, editTime: editTime)
    }

    /// What the database has of it becomes what it was read with.
    mutating func note(_ stored: StoredDocument, editTime: UInt64?) {
        revision = stored.revision.description
        sequence = stored.sequence
        conflicts = stored.conflicts.map(\.description)
        editedAt = editTime.flatMap { time in
            time == 0 ? nil : Date(timeIntervalSince1970: Double(Stamp.milliseconds(ofTime: time)) / 1_000)
        }
        body = DocumentBody(bytes: stored.body)
        base = body
    }

    // MARK: Fields

    /// A field of the document; setting nil removes it.
    /// - Complexity: O(log n) to read, O(n) to set.
    public subscript(key: String) -> JSONValue? {
        get { body.object[key].map { JSONValue($0) } }
        set {
            var object = body.object
            object[key] = newValue?.tree
            let isObject = body.isObject
            body = DocumentBody(object: object)
            body.isObject = isObject
        }
    }

    /// When the document expires: it is hidden from then on, everywhere by the clock that is there, and dropped after a day.
    /// The field `_expires`, so it replicates and merges as others do; nil for never.
    public var expiresAt: Date? {
        get { Expiry.time(of: body.bytes).map { Date(milliseconds: $0) } }
        set {
            self[Expiry.key] = newValue.map { date in
                .int(Int64(exactly: (max(0, date.timeIntervalSince1970) * 1_000).rounded()) ?? .max)
            }
        }
    }

    /// The names of its fields, ascending by their bytes.
    public var keys: [String] { body.object.keys }

    /// All its fields as one value. Set to what is no object, the document can't be saved.
    public var value: JSONValue {
        get { JSONValue(.object(body.object)) }
        set { body = DocumentBody(value: newValue) }
    }

    /// The canonical JSON text.
    public var json: String { String(decoding: body.bytes, as: UTF8.self) }

    /// Whether it was changed since it was read or saved.
    public var isChanged: Bool { revision == nil || body.bytes != base.bytes }

    /// A document that was changed in its place stays the one that it is.
    /// - Throws: `KithError` `invalid` where it has another id.
    func requireID(_ id: String) throws(KithError) {
        guard !self.id.utf8.elementsEqual(id.utf8) else { return }
        throw KithError(
            .invalid, id,
            "document \(Shown.name(id)) was to be changed, and became another: save that one by itself")
    }

    // Nil for a field that is not there, or is something else.

    /// A field that is text; nil for others.
    public func string(_ key: String) -> String? { self[key]?.string }
    /// A field that is an integer and fits; nil for others.
    public func int(_ key: String) -> Int? { self[key]?.int }
    /// A field that is a number, as the nearest double; nil for others.
    public func double(_ key: String) -> Double? { self[key]?.double }
    /// A field that is true or false; nil for others.
    public func bool(_ key: String) -> Bool? { self[key]?.bool }
    /// A field that is a time of RFC 3339 in UTC; nil for others.
    public func date(_ key: String) -> Date? { self[key]?.date }
    /// A field that is an array; nil for others.
    public func array(_ key: String) -> [JSONValue]? { self[key]?.array }
}

/// By id, revision and fields.
extension Document: Hashable {
    /// Equal ids by their bytes, equal revisions, equal fields.
    public static func == (left: Self, right: Self) -> Bool {
        left.id.utf8.elementsEqual(right.id.utf8) && left.revision == right.revision
            && left.body.bytes == right.body.bytes
    }

    /// By id and revision.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(revision)
    }
}
