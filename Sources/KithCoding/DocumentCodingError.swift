/// A value can't become a document, or a document is no value of the type.
///
/// Says where and why, and never what stands there: a document's content belongs in no error.
public struct DocumentCodingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The document's id, where there is a document yet.
    public package(set) var documentID: String?
    /// Where in the value, as a JSON Pointer (RFC 6901); empty for the whole.
    public let path: String
    /// Why, as the end of a sentence that begins with the path: `is a string, expected a number`.
    public let reason: String

    package init(documentID: String? = nil, path: String, reason: String) {
        self.documentID = documentID
        self.path = path
        self.reason = reason
    }

    /// One sentence for people.
    public var description: String {
        let place = path.isEmpty ? "the whole" : path
        return documentID.map { "document \"\($0)\": \(place) \(reason)" } ?? "\(place) \(reason)"
    }
}

/// A reason in our own words, as it travels through a type's own code: what others say may quote the document.
struct OwnReason: Error {
    let text: String
}

extension DocumentCodingError {
    /// From whatever a type's own code threw.
    init(_ error: any Error) {
        switch error {
        case let error as DocumentCodingError: self = error
        case let error as DecodingError: self.init(error)
        case EncodingError.invalidValue(_, let context):
            self.init(context, "can't be encoded")
        default: self.init(path: "", reason: "is refused by its type (\(type(of: error)))")
        }
    }

    private init(_ error: DecodingError) {
        switch error {
        case .typeMismatch(let type, let context): self.init(context, "is no \(type)")
        case .valueNotFound(let type, let context): self.init(context, "is null, expected \(type)")
        case .keyNotFound(let key, let context):
            self.init(context, appending: key, "is missing")
        case .dataCorrupted(let context): self.init(context, "is refused by its type")
        @unknown default: self.init(path: "", reason: "can't be decoded")
        }
    }

    private init(_ context: DecodingError.Context, appending key: (any CodingKey)? = nil, _ reason: String) {
        self.init(
            path: (context.codingPath + (key.map { [$0] } ?? [])).pointer,
            reason: (context.underlyingError as? OwnReason)?.text ?? reason)
    }

    private init(_ context: EncodingError.Context, _ reason: String) {
        self.init(
            path: context.codingPath.pointer, reason: (context.underlyingError as? OwnReason)?.text ?? reason)
    }
}

extension [any CodingKey] {
    /// As a JSON Pointer (RFC 6901).
    var pointer: String {
        map { key in
            let name = key.intValue.map { String($0) } ?? key.stringValue
            return "/" + name.escapedForPointer
        }.joined()
    }
}

extension String {
    /// A name as it stands in a JSON Pointer.
    package var escapedForPointer: String {
        String(flatMap { $0 == "~" ? "~0" : $0 == "/" ? "~1" : String($0) })
    }
}

/// The key of an element of an array, and of what a class keeps of its superclass.
struct PlaceKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(index: Int) { (stringValue, intValue) = (String(index), index) }
    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init?(intValue: Int) { self.init(index: intValue) }

    static let superclass = PlaceKey(stringValue: "super")
}
