import KithDocument

/// What an expression takes from outside: a field of a row, a parameter, what a group has.
enum QuerySlot: Equatable, Sendable {
    /// A value within a source, which is a document or an element of UNNEST.
    case field(source: Int, [CanonicalStep])
    /// META() of a source, or a member of it.
    case metadata(source: Int, String?)
    case parameter(QueryParameter)
    /// What is the same for all rows, and made once when the query begins.
    case constant(QueryExpression)
    case group(Int)
    case aggregate(AggregateFunction, QueryExpression?, isDistinct: Bool)
    /// An element as an array index holds it.
    case indexedElement
    /// What a full-text index knows: whether it finds a source's document with these words, how well the document fits, and
    /// the text of a field with marks.
    case match(source: Int, index: String, QueryExpression)
    case rank(source: Int, index: String)
    case highlight(source: Int, index: String, field: String, before: QueryExpression, after: QueryExpression)

    /// Whether it is the same for all rows.
    var isConstant: Bool {
        switch self {
        case .parameter, .constant: true
        default: false
        }
    }
}

/// The slots of one query, each once. An expression names them by `.parameter(.positional(number + 1))`.
struct SlotTable: Sendable {
    private(set) var slots: [QuerySlot] = []
    /// Where a slot came from in the text.
    private(set) var positions: [SourcePosition] = []
    /// By the bytes of their names: `String` takes NFC and NFD for one.
    private var named: [[UInt8]: Int] = [:]

    mutating func expression(_ slot: QuerySlot, at position: SourcePosition = .none) -> QueryExpression {
        QueryExpression(.parameter(.positional(number(of: slot, at: position) + 1)), at: position)
    }

    mutating func number(of slot: QuerySlot, at position: SourcePosition = .none) -> Int {
        let name = Self.name(of: slot)
        if let known = name.map({ named[$0] }) ?? slots.firstIndex(of: slot) { return known }
        if let name { named[name] = slots.count }
        slots.append(slot)
        positions.append(position)
        return slots.count - 1
    }

    private static func name(of slot: QuerySlot) -> [UInt8]? {
        switch slot {
        case .field(let source, let steps): Array("\(source) \(CanonicalJSON.way(steps))".utf8)
        case .parameter(let parameter): Array(parameter.text.utf8)
        default: nil
        }
    }
}

extension QueryExpression {
    /// The number of the slot that it is; of closed expressions.
    var slot: Int? {
        if case .parameter(.positional(let number)) = kind { number - 1 } else { nil }
    }

    var isMissing: Bool {
        if case .literal(.missing) = kind { true } else { false }
    }

    var literal: QueryValue? {
        if case .literal(let value) = kind { value } else { nil }
    }

    /// The slots in it, in their order.
    var slots: [Int] {
        var slots: [Int] = []
        var seen: Set<Int> = []
        visit { expression in
            if let slot = expression.slot, seen.insert(slot).inserted { slots.append(slot) }
        }
        return slots
    }

    func visit(_ body: (QueryExpression) -> Void) {
        body(self)
        for child in children { child.visit(body) }
    }

    /// With other expressions in the place of some.
    func replaced(_ change: (QueryExpression) -> QueryExpression?) -> QueryExpression {
        if let changed = change(self) { return changed }
        let children = children
        return children.isEmpty ? self : replacing(children: children.map { $0.replaced(change) })
    }
}
