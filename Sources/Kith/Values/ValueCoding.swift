import KithCoding
import KithDocument
import KithNode

/// Values of types in documents, with errors that name the document.
enum ValueCoding {
    /// - Parameters:
    ///   - place: the path of the JSON in the document; empty for all of it.
    ///   - isRow: whether it is a row of a query and no document.
    /// - Throws: `KithError` `decoding`.
    static func value<Value: Decodable>(
        _ type: Value.Type, from json: KithDocument.JSONValue, of document: String, at place: String = "",
        isRow: Bool = false
    ) throws(KithError) -> Value {
        do { return try DocumentDecoder().value(type, from: json) } catch {
            throw refused(type, document, error, at: place, isRow: isRow)
        }
    }

    /// A document that is no value of a type.
    static func refused(
        _ type: Any.Type, _ document: String, _ error: DocumentCodingError, at place: String = "", isRow: Bool = false
    ) -> KithError {
        let subject = Shown.name(document)
        let path = place + error.path
        return KithError(
            .decoding, subject,
            "\(isRow ? "" : "document ")\(subject) is no \(type): \(path.isEmpty ? "it" : Shown.name(path)) \(error.reason)"
        )
    }

    /// - Throws: `KithError` `invalid`.
    static func json(of value: some Encodable, in document: String) throws(KithError) -> KithDocument.JSONValue {
        do { return try DocumentEncoder().json(of: value) } catch { throw refused(value: value, document, error) }
    }

    /// What a value makes of the fields of a document.
    /// - Throws: `KithError` `invalid`, also for what does not encode as an object.
    static func object(
        _ object: JSONObject, updatedFrom value: some Encodable, of document: String
    ) throws(KithError) -> JSONObject {
        let change: FieldChanges.Change
        do { change = try DocumentEncoder().change(of: value) } catch { throw refused(value: value, document, error) }
        switch change {
        case .members(let changes): return changes.applied(to: object)
        // An enumeration with values is one of its cases and not two; other whole values say nothing of other members.
        case .set(.object(let whole)):
            let isCase = Mirror(reflecting: value).displayStyle == .enum
            return isCase ? whole : FieldChanges(setting: whole).applied(to: object)
        default:
            throw KithError(
                .invalid, Shown.name(document),
                "document \(Shown.name(document)): \(type(of: value)) does not encode as an object, and a document is one"
            )
        }
    }

    /// A value that is no document.
    static func refused(
        value: some Encodable, _ document: String, _ error: DocumentCodingError
    ) -> KithError {
        let path = error.path.isEmpty ? "it" : Shown.name(error.path)
        return KithError(
            .invalid, Shown.name(document),
            "document \(Shown.name(document)): \(type(of: value)) does not encode: \(path) \(error.reason)")
    }
}
