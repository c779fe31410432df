import KithDocument

/// Writes closed expressions as SQLite's SQL.
///
/// `value` gives an expression whose result is the key of the value (`ValueKey`), or SQL's NULL for MISSING; `json` its
/// canonical text; `condition` a condition that is true for SQLite exactly where it is TRUE. Comparisons, AND, OR, IN and
/// IS are SQL's own, so that SQLite can use indexes; all else is evaluated by `kq_eval`, `kq_show` and `kq_test`, whose
/// first argument is the expression as SQL++, with the fields that it takes behind it.
struct SQLTranslator {
    var closer: QueryCloser
    /// What is the name of each source's columns: `d0.` of documents, `u1.` of elements, nothing where an index is defined.
    var sources: [Source] = []
    /// What rows are grouped by, closed.
    var groups: [QueryExpression] = []
    var arrays: [IndexedArray] = []
    var texts: [IndexedText] = []
    /// The MATCH of the first source that its documents come by, which RANK and HIGHLIGHT are about: a slot.
    var joinedMatch: Int?
    /// Whether rows are made of several: of them HIGHLIGHT can't be asked.
    var joinsRows = false
    /// Indexes that were put to use, those of values apart.
    var usedArrays: [String] = []
    /// Whether there may be documents that expire.
    var hidesExpired = false
    private(set) var bindings: [SQLBinding] = []
    /// What is evaluated for SQLite, by its text.
    private(set) var expressions: [[UInt8]: QueryExpression] = [:]
    /// The conditions that stand at the top, as the bytes of SQL, for array indexes that are partial.
    var conditions: Set<[UInt8]> = []
    /// Notes what an index could serve, while what is translated stands at the top.
    var wishes: [IndexWish] = []
    var notesWishes = false

    struct Source {
        let prefix: String
        let isDocument: Bool
        /// The slots' way to the array where it is UNNEST's, within the document it is of.
        var array: (source: Int, way: [CanonicalStep])?
    }

    init(_ closer: QueryCloser) { self.closer = closer }

    func slot(_ expression: QueryExpression) -> QuerySlot? { expression.slot.map { closer.table.slots[$0] } }

    // What is bound.

    mutating func bind(_ binding: SQLBinding) -> String {
        if let known = bindings.firstIndex(of: binding) { return "?\(known + 1)" }
        bindings.append(binding)
        return "?\(bindings.count)"
    }

    // Keys.

    /// The key of the value; SQL's NULL for MISSING.
    mutating func value(_ expression: QueryExpression) throws(QueryError) -> String {
        switch expression.kind {
        case .literal(let value): return literal(value)
        case .collated(let operand, _): return try self.value(operand)
        default: break
        }
        guard let number = expression.slot else { return try call("kq_eval", expression) }
        switch closer.table.slots[number] {
        case .field(let source, let way):
            return "kq_get(\(body(of: source)), \(SQLText.literal(CanonicalJSON.way(way))))"
        case .parameter, .constant: return bind(.key(number))
        case .group(let group): return try value(groups[group])
        case .aggregate(let function, let argument, let isDistinct):
            return try aggregate(function, argument, isDistinct: isDistinct)
        case .metadata(let source, "id"): return "kq_string(\(sources[source].prefix)id)"
        case .metadata, .match, .rank, .highlight: return "kq_get(\(try json(expression)), '')"
        case .indexedElement: return "key"
        }
    }

    private mutating func literal(_ value: QueryValue) -> String {
        if value.isMissing { return "NULL" }
        let key = ValueKey(value).bytes
        if key.count <= QueryLimits.literalBytes || !closer.allowsBinding { return SQLText.blob(key) }
        let slot = closer.table.expression(.constant(QueryExpression(.literal(value))))
        return bind(.key(slot.slot!))
    }

    /// The key of the value as it is compared.
    mutating func folded(
        _ expression: QueryExpression, _ collation: QueryCollation
    ) throws(QueryError) -> String {
        if collation == .exact { return try value(expression) }
        if let literal = expression.literal { return self.literal(collation.folded(literal)) }
        return "kq_fold(\(try value(expression)), \(collation.code))"
    }

    func body(of source: Int) -> String { sources[source].prefix + (sources[source].isDocument ? "body" : "value") }

    // Texts.

    /// The canonical text of the value; SQL's NULL for MISSING.
    mutating func json(_ expression: QueryExpression) throws(QueryError) -> String {
        switch expression.kind {
        case .literal(let value): return value.json.map { SQLText.literal($0.description) } ?? "NULL"
        case .collated(let operand, _): return try json(operand)
        default: break
        }
        guard let number = expression.slot else { return try call("kq_show", expression) }
        switch closer.table.slots[number] {
        case .field(let source, []): return body(of: source)
        case .field(let source, let way):
            return "kq_json(\(body(of: source)), \(SQLText.literal(CanonicalJSON.way(way))))"
        case .metadata(let source, let name): return metadata(sources[source].prefix, name)
        case .parameter, .constant: return bind(.json(number))
        case .group(let group): return try json(groups[group])
        case .aggregate(let function, let argument, let isDistinct):
            return "kq_value(\(try aggregate(function, argument, isDistinct: isDistinct)))"
        case .indexedElement: return "kq_value(key)"
        case .match, .rank, .highlight: return try fullText(number)
        }
    }

    private func metadata(_ prefix: String, _ name: String?) -> String {
        switch name {
        case "id": "kq_quote(\(prefix)id)"
        case "revision": "kq_revision(\(prefix)revision)"
        case "sequence": "CAST(\(prefix)sequence AS TEXT)"
        case "deleted": "CASE WHEN \(prefix)number IS NOT NULL THEN 'false' END"
        case "edited": "kq_edited(\(prefix)tree, \(prefix)revision)"
        case "expires": expires(prefix)
        case nil: "kq_meta(\(prefix)id, \(prefix)revision, \(prefix)sequence, \(prefix)tree, \(expires(prefix)))"
        default: "NULL"
        }
    }

    private func expires(_ prefix: String) -> String {
        "CASE WHEN \(prefix)flags & 16 THEN kq_json(\(prefix)body, '\(Expiry.key)') END"
    }

    // Aggregates.

    private mutating func aggregate(
        _ function: AggregateFunction, _ argument: QueryExpression?, isDistinct: Bool
    ) throws(QueryError) -> String {
        guard let argument else { return "kq_get(CAST(count(*) AS TEXT), '')" }
        let collation = argument.collation
        switch function {
        case .count:
            let key = try folded(argument, isDistinct ? collation : .exact)
            return "kq_get(CAST(count(\(isDistinct ? "DISTINCT " : "")nullif(\(key), \(SQLText.null))) AS TEXT), '')"
        case .minimum where collation == .exact, .maximum where collation == .exact:
            let name = function == .minimum ? "min" : "max"
            return "coalesce(\(name)(nullif(\(try value(argument)), \(SQLText.null))), \(SQLText.null))"
        default:
            let kind = AggregateKind(function, isDistinct: isDistinct, collation)
            // Of no rows SQLite asks nobody what kind of aggregate it is.
            let none = AggregateValue.of(function, []).element.description
            return "kq_get(coalesce(kq_aggregate(\(kind.code), \(try json(argument))), \(SQLText.literal(none))), '')"
        }
    }

    // What SQL can't say.

    /// A call of a function that evaluates the expression.
    mutating func call(_ function: String, _ expression: QueryExpression) throws(QueryError) -> String {
        let slots = expression.slots
        guard slots.count <= QueryLimits.expressionInputs else {
            throw .at(
                expression.position,
                "one expression takes more than \(QueryLimits.expressionInputs) fields and parameters")
        }
        let local = expression.replaced { part in
            part.slot.flatMap { slots.firstIndex(of: $0) }.map { QueryExpression(.parameter(.positional($0 + 1))) }
        }
        let text = local.sql
        // Of an index the text is all that stands in the file.
        if !closer.allowsBinding, (try? QueryExpression(parsing: text)) != local {
            throw .at(expression.position, "the expression of an index is too long to be read again from its text")
        }
        expressions[Array(text.utf8)] = local
        var arguments = [SQLText.literal(text)]
        for slot in slots { arguments.append(try json(QueryExpression(.parameter(.positional(slot + 1))))) }
        return "\(function)(\(arguments.joined(separator: ", ")))"
    }
}
