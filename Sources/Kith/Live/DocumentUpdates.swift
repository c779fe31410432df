import KithNode
import KithQueryBuilder

/// A document as it is now, and then as each change leaves it; nil while nothing of its id lives.
///
///     for try await note in database.updates(of: "milk") { show(note) }
///
/// A reader that is slow gets the newest. The iteration ends with its task, and when the database is closed.
public struct DocumentUpdates<Value: Sendable>: AsyncSequence, Sendable {
    /// The document, or what it is a value of.
    public typealias Element = Value?

    let database: Database
    let id: String
    let decode: @Sendable (Document) throws(KithError) -> Value?

    /// Follows the document from now on.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// One reader of the document.
    public struct Iterator: AsyncIteratorProtocol {
        private let updates: DocumentUpdates
        private var follower: DatabaseFollower
        private var moment: DatabaseMoment?
        private var last: Document??

        init(_ updates: DocumentUpdates) {
            self.updates = updates
            follower = DatabaseFollower(updates.database)
        }

        /// The document when it is another than the last time; nil in the place of an element when the task was cancelled or
        /// the database closed.
        /// - Throws: `KithError`: `decoding` for a document that is no value of the type; what the disk gives. It may be called
        ///   again, and gives the next one.
        public mutating func next() async throws -> Value?? {
            while let now = try await follower.moment(after: moment) {
                let id = updates.id
                let document = try await updates.database.reading { try $0.document(id) }
                moment = now
                let isSame = last.map { $0 == document && $0?.conflicts == document?.conflicts } ?? false
                if isSame { continue }
                last = .some(document)
                return .some(try document.flatMap { (document) throws(KithError) in try updates.decode(document) })
            }
            return nil
        }
    }
}

extension Database {
    /// Follows a document.
    public func updates(of id: String) -> DocumentUpdates<Document> {
        DocumentUpdates(database: self, id: id) { $0 }
    }
}

extension ModelCollection {
    /// Follows a model; nil while there is none of its id in this collection.
    /// - Throws: `KithError` `invalid` for a collection without a database.
    public func updates(of id: Model.ID) throws(KithError) -> DocumentUpdates<Model> {
        let collection = self
        return DocumentUpdates(database: try home(), id: try documentID(id)) { (document) throws(KithError) in
            guard collection.coding.isMember(document.body.object) else { return nil }
            return try collection.model(document.id, document.body.object)
        }
    }
}
