import KithDocument

/// A document as queries see it.
package struct QueryDocument: Sendable {
    package var metadata: DocumentMetadata
    package var body: JSONObject

    package init(_ metadata: DocumentMetadata, _ body: JSONObject) {
        self.metadata = metadata
        self.body = body
    }
}

/// What META() has.
package struct DocumentMetadata: Sendable, Equatable {
    package var id: String
    package var revision: String
    package var sequence: UInt64
    package var isDeleted: Bool
    /// When it expires, in milliseconds since 1970.
    package var expires: Int64?
    /// When it was last edited, in milliseconds since 1970.
    package var edited: Int64?

    package init(
        id: String, revision: String = "", sequence: UInt64 = 0, isDeleted: Bool = false, expires: Int64? = nil,
        edited: Int64? = nil
    ) {
        self.id = id
        self.revision = revision
        self.sequence = sequence
        self.isDeleted = isDeleted
        self.expires = expires
        self.edited = edited
    }

    /// The names of its members, as META() has them.
    package static let names = ["id", "revision", "sequence", "deleted", "expires", "edited"]

    package var value: QueryValue {
        let members: [(String, JSONValue?)] = [
            ("id", .string(id)), ("revision", .string(revision)), ("sequence", .number(sequence)),
            ("deleted", .bool(isDeleted)), ("expires", expires.map { .number($0) }),
            ("edited", edited.map { .number($0) }),
        ]
        return .object(JSONObject(members.compactMap { name, value in value.map { (name, $0) } }))
    }
}

/// The values of parameters.
package struct ParameterValues: Sendable {
    private var named = JSONObject()
    private var positional: [QueryValue] = []

    package init(_ named: JSONObject = JSONObject(), positional: [JSONValue] = []) {
        self.named = named
        self.positional = positional.map { QueryValue($0) }
    }

    /// What an expression has in the place of all that it takes from outside; some may be MISSING.
    init(slots: [QueryValue]) { positional = slots }

    /// - Throws: `QueryError` where there is none.
    func value(of parameter: QueryParameter, at position: SourcePosition) throws(QueryError) -> QueryValue {
        let value: QueryValue? =
            switch parameter {
            case .named(let name): named[name].map { QueryValue($0) }
            case .positional(let number): positional.indices.contains(number - 1) ? positional[number - 1] : nil
            }
        guard let value else { throw .at(position, "the parameter \(parameter.text) has no value") }
        return value
    }
}

/// What names mean where an expression is evaluated.
struct QueryScope {
    struct Variable {
        let name: String
        let value: QueryValue
        var metadata: DocumentMetadata?
    }

    /// The rows of a group, with what they have in common.
    final class Group {
        let keys: [(key: QueryExpression, value: QueryValue)]
        let rows: [QueryScope]

        init(keys: [(key: QueryExpression, value: QueryValue)], rows: [QueryScope]) {
            self.keys = keys
            self.rows = rows
        }
    }

    private(set) var variables: [Variable] = []
    var group: Group?

    func variable(_ name: String) -> Variable? { variables.last { $0.name.hasSameBytes(as: name) } }

    func with(_ name: String, _ value: QueryValue, _ metadata: DocumentMetadata? = nil) -> QueryScope {
        var scope = self
        scope.variables.append(Variable(name: name, value: value, metadata: metadata))
        return scope
    }

    func with(_ name: String, _ document: QueryDocument) -> QueryScope {
        with(name, .object(document.body), document.metadata)
    }
}
