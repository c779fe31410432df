import KithDocument

/// A query as SQLite answers it: SQL, what is bound in it, and how a row of its result becomes one of the query's.
///
/// Rows have the canonical texts of the fields that the columns of the query are made of; the columns are made of them
/// by the evaluator.
package struct TranslatedQuery: Sendable {
    package let sql: String
    let bindings: [SQLBinding]
    /// What SQLite has evaluated, by its text: known beforehand, so that nothing is read twice.
    package let expressions: [[UInt8]: QueryExpression]
    let table: SlotTable
    /// The slot of each column of SQLite's rows.
    let columns: [Int]
    package var columnCount: Int { columns.count }
    let selection: Selection
    /// The query's columns where each is a column of SQLite's row as it stands there, with the place of that; else nil.
    package let plainColumns: [PlainColumn]?
    /// Whether a row is a value and no object: RAW.
    package var isRaw: Bool {
        if case .raw = selection { true } else { false }
    }
    /// What an index could serve.
    package let wishes: [IndexWish]
    /// The array indexes that it uses.
    package let usedArrays: [String]
    /// Whether which rows come is not said: LIMIT without an order.
    package let isArbitrary: Bool

    /// What an index on the first source would have that could help: what is compared for equality, then one thing that is
    /// compared otherwise or sorted by.
    package var suggestedIndex: [String] {
        guard let source = wishes.map(\.source).min() else { return [] }
        let wishes = wishes.filter { $0.source == source }
        let equal = wishes.filter { $0.use == .equality }.map(\.expression)
        let other = wishes.filter { wish in
            wish.use != .equality && !equal.contains { $0.hasSameBytes(as: wish.expression) }
        }.min { $0.use < $1.use }
        return Array((equal + (other.map { [$0.expression] } ?? [])).prefix(QueryLimits.indexExpressions))
    }

    enum Selection: Sendable {
        case raw(QueryExpression)
        case columns([Column])
    }

    enum Column: Sendable {
        case members(QueryExpression)
        case value(String, QueryExpression)
    }

    package struct PlainColumn: Sendable {
        package let name: String
        package let place: Int
    }

    /// What is the same for all rows of one run.
    package struct Constants {
        /// By slot.
        fileprivate let values: [QueryValue]
    }

    /// Makes what is the same for all rows, and what is bound.
    /// - Parameter bind: called for each place of the SQL, from 0 on.
    /// - Throws: `QueryError` where a parameter has no value, or what is the same for all rows can't be made.
    package func begin(
        _ parameters: ParameterValues, _ context: FunctionContext, _ bind: (Int, SQLValue) -> Void
    ) throws(QueryError) -> Constants {
        var constants = [QueryValue](repeating: .missing, count: table.slots.count)
        for (number, slot) in table.slots.enumerated() {
            if case .parameter(let parameter) = slot {
                constants[number] = try parameters.value(of: parameter, at: table.positions[number])
            }
        }
        // These are made of parameters, and of others before them.
        for (number, slot) in table.slots.enumerated() {
            if case .constant(let expression) = slot {
                let evaluator = QueryEvaluator(parameters: ParameterValues(slots: constants), context: context)
                constants[number] = try evaluator.constant(expression)
            }
        }
        for (place, binding) in bindings.enumerated() {
            bind(place, try value(of: binding, constants, parameters, context))
        }
        return Constants(values: constants)
    }

    private func value(
        of binding: SQLBinding, _ constants: [QueryValue], _ parameters: ParameterValues, _ context: FunctionContext
    ) throws(QueryError) -> SQLValue {
        switch binding {
        case .key(let slot): return constants[slot].isMissing ? .null : .blob(ValueKey(constants[slot]).bytes)
        case .comparand(let slot, let collation):
            guard constants[slot].isValued else { return .null }
            return .blob(ValueKey(collation.folded(constants[slot])).bytes)
        case .json(let slot): return constants[slot].json.map { .text($0.canonicalBytes) } ?? .null
        case .text(let slot): return constants[slot].string.map { .text(Array($0.utf8)) } ?? .null
        case .now: return .integer(context.now)
        case .string(let expression):
            let value = try Self.constant(expression, constants, context)
            return value.string.map { .text(Array($0.utf8)) } ?? .null
        case .match(let expression, let fields):
            let value = try Self.constant(expression, constants, context)
            guard value.isValued else { return .null }
            guard let text = value.string else {
                throw .at(expression.position, "MATCH looks for a string, and this is of type \(value.typeName)")
            }
            do throws(MatchFault) { return .text(Array(try MatchParser.fts(text, fields: fields).utf8)) } catch {
                throw .at(
                    expression.position,
                    "at character \(error.place) of the text that MATCH looks for: \(error.message)")
            }
        case .count(let expression, let clause):
            let evaluator = QueryEvaluator(parameters: parameters, context: context)
            guard let count = try evaluator.constant(expression).number?.count, count >= 0 else {
                throw .at(expression.position, "\(clause) is not an integer from 0 on")
            }
            return .integer(Int64(count))
        }
    }

    private static func constant(
        _ expression: QueryExpression, _ constants: [QueryValue], _ context: FunctionContext
    ) throws(QueryError) -> QueryValue {
        try QueryEvaluator(parameters: ParameterValues(slots: constants), context: context).constant(expression)
    }

    /// A row of the result.
    /// - Parameter values: of the columns of SQLite's row.
    package func row(
        _ values: [QueryValue], _ constants: Constants, _ context: FunctionContext
    ) throws(QueryError) -> QueryRow {
        var slots = constants.values
        for (column, value) in zip(columns, values) { slots[column] = value }
        switch selection {
        case .raw(let expression):
            return QueryRow(
                columns: [QueryRow.Column(name: "", value: try value(of: expression, slots, context))], isRaw: true)
        case .columns(let columns):
            var row = QueryRow(columns: [])
            for column in columns {
                switch column {
                case .members(let expression):
                    for (key, member) in try value(of: expression, slots, context).object ?? JSONObject() {
                        row.columns.append(QueryRow.Column(name: key, value: QueryValue(member)))
                    }
                case .value(let name, let expression):
                    row.columns.append(QueryRow.Column(name: name, value: try value(of: expression, slots, context)))
                }
            }
            return row
        }
    }

    private func value(
        of expression: QueryExpression, _ slots: [QueryValue], _ context: FunctionContext
    ) throws(QueryError) -> QueryValue {
        if let slot = expression.slot { return slots[slot] }
        return try QueryEvaluator(parameters: ParameterValues(slots: slots), context: context).constant(expression)
    }
}
