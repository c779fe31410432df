import KithDocument

/// Writes expressions without what they say of documents: fields are numbered, texts and numbers covered. For reports that
/// others read: what an index is like is seen, and not what it is about. One name has one number throughout.
package struct NameCover {
    private var numbers: [[UInt8]: Int] = [:]

    package init() {}

    /// An expression in SQL++, covered: `f1`, `LOWER(f2.f3)`, `f4 = '?' AND f5 > 0`; `?` for what is none.
    package mutating func cover(_ text: String) -> String {
        guard let expression = try? QueryExpression(parsing: text) else { return "?" }
        return covered(expression).sql
    }

    /// The definition of an index, its name and kind apart.
    package mutating func cover(_ definition: IndexDefinition) -> JSONObject {
        var object = definition.json.object ?? JSONObject()
        for (member, value) in object where !["name", "kind"].contains(member) { object[member] = covered(value) }
        return object
    }

    private mutating func covered(_ value: JSONValue) -> JSONValue {
        if let text = value.string { return .string(cover(text)) }
        guard let elements = value.array else { return value }
        var all: [JSONValue] = []
        for element in elements { all.append(covered(element)) }
        return .array(all)
    }

    private mutating func covered(_ expression: QueryExpression) -> QueryExpression {
        var children: [QueryExpression] = []
        for child in expression.children { children.append(covered(child)) }
        var result = expression.replacing(children: children)
        switch result.kind {
        case .literal(let value):
            if value.string != nil { result.kind = .literal(.string("?")) }
            if value.number != nil { result.kind = .literal(.number(0)) }
        case .parameter(.named(let name)): result.kind = .parameter(.named(number(name)))
        case .identifier(let name): result.kind = .identifier(number(name))
        case .path(let base, let steps):
            // Members of META() are Kith's.
            if case .metadata = base.kind { break }
            var covered: [PathStep] = []
            for step in steps {
                if case .member(let name) = step { covered.append(.member(number(name))) } else { covered.append(step) }
            }
            result.kind = .path(base, covered)
        case .object(let members):
            var covered: [ObjectMember] = []
            for member in members { covered.append(ObjectMember(number(member.key), member.value)) }
            result.kind = .object(covered)
        case .quantified(let quantified):
            result.kind = .quantified(
                QuantifiedExpression(
                    quantified.quantifier, number(quantified.variable), in: quantified.array,
                    satisfies: quantified.condition))
        default: break
        }
        return result
    }

    private mutating func number(_ name: String) -> String {
        let key = Array(name.utf8)
        let number = numbers[key] ?? numbers.count + 1
        numbers[key] = number
        return "f\(number)"
    }
}
