import KithDocument

// What array indexes are used for: a condition that is TRUE only where an element of an array is as it says narrows the
// documents to those that the index has with such an element. The condition itself stays.
extension SQLTranslator {
    /// For `wanted IN array`, and for ARRAY_CONTAINS, which takes NULL as a value: so keys are compared, and no NULL apart.
    mutating func elementBound(
        of wanted: QueryExpression, in array: QueryExpression
    ) throws(QueryError) -> String? {
        guard isConstant(wanted), case .field(let source, let way) = slot(array), sources[source].isDocument else {
            return nil
        }
        guard let index = arrays.first(where: { $0.holds(way) && $0.isElement([]) && covers($0, source) }) else {
            return nil
        }
        return bound(source, index, ["key = \(try value(wanted))"])
    }

    /// For ANY.
    mutating func elementBound(_ quantified: QuantifiedExpression) throws(QueryError) -> String? {
        guard quantified.quantifier != .every, case .field(let source, let way) = slot(quantified.array),
            sources[source].isDocument
        else { return nil }
        let element = closer.table.expression(.indexedElement)
        let terms = quantified.condition.conjuncts
        let slots = closer.table.slots
        return try bound(source, way) { index in
            terms.compactMap { term in
                let replaced = term.replaced { part in
                    part.way(from: quantified.variable).flatMap { index.isElement($0) ? element : nil }
                }
                return Self.isOfElement(replaced, slots) ? replaced : nil
            }
        }
    }

    /// For the conditions on what UNNEST gives.
    mutating func elementBounds(_ conjuncts: [QueryExpression]) throws(QueryError) -> [String] {
        var bounds: [String] = []
        for (number, source) in sources.enumerated() {
            guard let array = source.array, sources[array.source].isDocument else { continue }
            let element = closer.table.expression(.indexedElement)
            let slots = closer.table.slots
            let found = try bound(array.source, array.way) { index in
                conjuncts.compactMap { term in
                    let replaced = term.replaced { part in
                        guard let slot = part.slot, case .field(number, let way) = slots[slot], index.isElement(way)
                        else { return nil }
                        return element
                    }
                    return Self.isOfElement(replaced, slots) ? replaced : nil
                }
            }
            if let found { bounds.append(found) }
        }
        return bounds
    }

    /// The documents that an index of the array has with an element for which the conditions hold; nil where no index
    /// has any for them.
    private mutating func bound(
        _ source: Int, _ way: [CanonicalStep], _ conditions: (IndexedArray) -> [QueryExpression]
    ) throws(QueryError) -> String? {
        for index in arrays where index.holds(way) && covers(index, source) {
            let terms = conditions(index)
            if terms.isEmpty { continue }
            let notes = notesWishes
            notesWishes = false
            defer { notesWishes = notes }
            var parts: [String] = []
            for term in terms { parts.append(try condition(term)) }
            return bound(source, index, parts)
        }
        return nil
    }

    private mutating func bound(_ source: Int, _ index: IndexedArray, _ terms: [String]) -> String {
        if !usedArrays.contains(index.name) { usedArrays.append(index.name) }
        return "\(sources[source].prefix)number IN (SELECT number FROM \(index.table) WHERE \(SQLText.and(terms)))"
    }

    /// Whether the query takes no document of the source that a partial index leaves out.
    private func covers(_ index: IndexedArray, _ source: Int) -> Bool {
        index.conditions.allSatisfy { condition in
            conditions.contains(Array(condition.replacing(IndexedArray.prefix, with: sources[source].prefix).utf8))
        }
    }

    /// Whether a condition is one on an element of an index and on nothing else, such as an index can be searched for.
    private static func isOfElement(_ condition: QueryExpression, _ slots: [QuerySlot]) -> Bool {
        switch condition.kind {
        case .comparison(let operation, _, _): if operation == .notEqual { return false }
        case .between(_, _, _, false), .membership(_, _, false): break
        default: return false
        }
        var (hasElement, isClosed) = (false, true)
        condition.visit { part in
            if case .identifier = part.kind { isClosed = false }
            guard let slot = part.slot else { return }
            switch slots[slot] {
            case .indexedElement: hasElement = true
            case .parameter, .constant: break
            default: isClosed = false
            }
        }
        return hasElement && isClosed
    }
}

extension QueryExpression {
    /// The conditions of an AND, or the one.
    var conjuncts: [QueryExpression] {
        if case .and(let operands) = kind { operands.flatMap(\.conjuncts) } else { [self] }
    }

    /// The plain way from a variable that this is; nil for all else.
    fileprivate func way(from variable: String) -> [CanonicalStep]? {
        switch kind {
        case .identifier(let name): return name.hasSameBytes(as: variable) ? [] : nil
        case .path(let base, let steps):
            guard case .identifier(let name) = base.kind, name.hasSameBytes(as: variable) else { return nil }
            let plain = steps.compactMap(\.plain)
            return plain.count == steps.count ? plain : nil
        default: return nil
        }
    }
}
