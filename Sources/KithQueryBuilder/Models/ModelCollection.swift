import KithCoding
import KithQuery

/// The documents of one type of a database, as values of a model.
///
/// A model is declared by nothing more than its type: the collection finds out in the beginning which field each key path reads
/// (docs/querying.md says how).
public struct ModelCollection<Model: Codable & Identifiable & Sendable>: Sendable {
    package let coding: ModelCoding<Model>
    /// The name of the source in FROM.
    package let source: String
    /// What runs its queries; nil where there is no database.
    package var database: (any Sendable)?

    /// - Parameters:
    ///   - model: the type of the values.
    ///   - type: what the member `type` of the documents is; nil where all documents of the database are of this model.
    ///   - examples: two values or more that differ in every field, where the library can't make values up.
    /// - Throws: `DocumentCodingError` with the path, for a model of which values can't be made up, encoded or decoded, or whose
    ///   `id` is no text.
    public init(
        of model: Model.Type = Model.self, type: String?, examples: [Model] = []
    ) throws(DocumentCodingError) {
        coding = try ModelCoding(type: type, examples: examples)
        source = "_"
    }

    /// All of them.
    public var all: ModelQuery<Model> { ModelQuery(self) }

    /// The document of the collection in a query.
    func term(as alias: String) -> RowTerm<Model> {
        RowTerm<Model>(.identifier(alias), fault: nil, cursor: ModelCursor(fields: coding, variable: alias))
    }

    /// Whether a document of the source is of this collection.
    func membership(of alias: String) -> RowTerm<Bool>? {
        coding.type.map { type in
            let member = QueryExpression(.path(.identifier(alias), [.member(ModelCoding<Model>.typeKey)]))
            return RowTerm<Bool>(.comparison(.equal, member, .string(type)), nil)
        }
    }

    /// Names of the variables in queries of models.
    static var alias: String { "doc" }
    static var joinedAlias: String { "other" }
    static var elementAlias: String { "element" }
}
