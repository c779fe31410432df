import KithQuery

/// A field by its path, without a model.
public typealias Field = QueryTerm<DynamicValue, RowLevel>

extension QueryTerm where Value == DynamicValue, Level == RowLevel {
    /// A field, or a variable: `Field("city.name")`, `Field("lines[0].price")`, `Field("lines[*].price")`. Names are taken as they
    /// are between points and brackets; others are subscripts.
    public init(_ path: String) {
        let (expression, fault) = FieldPathReader.expression(path)
        self.init(expression, fault: fault)
    }

    /// What the database knows of a document.
    public enum Metadata: String, Sendable, CaseIterable {
        case id, revision, sequence, deleted, expires
        /// Milliseconds since 1970.
        case edited
    }

    /// `META().id` and others.
    /// - Parameters:
    ///   - name: what is asked for.
    ///   - alias: that of the source, where there are several.
    public static func metadata(_ name: Metadata, of alias: String? = nil) -> Field {
        Field(.path(QueryExpression(.metadata(alias)), [.member(name.rawValue)]), nil)
    }

    /// Whether a full-text index finds the document.
    public static func match(_ index: String, _ words: String) -> RowTerm<Bool> {
        RowTerm<Bool>(.match(index: index, text: .string(words)), nil)
    }

    /// How well it fits.
    public static func rank(_ index: String) -> RowTerm<Double> { RowTerm<Double>(.rank(index: index), nil) }

    /// The text of a field with marks around what was found; nothing in the text is escaped.
    ///
    ///     notes.where(Field.match("words", typed)).select { [$0.title, Field.highlight("words", "text").named("shown")] }
    ///
    /// - Parameters:
    ///   - index: the full-text index that `match` asks.
    ///   - field: one of its fields, as the index was given it: `text`, `author.name`.
    ///   - before: what is set before what was found.
    ///   - after: what is set behind it.
    public static func highlight(
        _ index: String, _ field: String, before: String = "<b>", after: String = "</b>"
    ) -> RowTerm<String> {
        RowTerm<String>(
            .highlight(index: index, field: field, before: .string(before), after: .string(after)), nil)
    }
}

extension QueryTerm where Value == DynamicValue {
    /// A member by a name of whatever characters.
    public subscript(_ name: String) -> Self { Self(expression.appending(.member(name)), fault: fault) }
}

/// Reads the paths of `Field`.
private enum FieldPathReader {
    static func expression(_ path: String) -> (QueryExpression, QueryBuilderError?) {
        var rest = path[...]
        var steps: [PathStep] = []
        var root: QueryExpression?
        repeat {
            let name = rest.prefix { $0 != "." && $0 != "[" }
            rest = rest.dropFirst(name.count)
            if name.isEmpty { return wrong(path, "has a name without characters") }
            if root == nil { root = .identifier(String(name)) } else { steps.append(.member(String(name))) }
            while rest.first == "[" {
                let inside = rest.dropFirst().prefix { $0 != "]" }
                rest = rest.dropFirst(inside.count + 1)
                guard rest.first == "]" else { return wrong(path, "has a [ without ]") }
                rest = rest.dropFirst()
                if inside == "*" {
                    steps.append(.each)
                } else if let index = Int(inside) {
                    steps.append(.element(.literal(.number(index))))
                } else {
                    return wrong(path, "has no number or * between brackets")
                }
            }
            guard rest.isEmpty || rest.first == "." else { return wrong(path, "goes on after ] without a point") }
            if rest.first == "." {
                rest = rest.dropFirst()
                if rest.isEmpty { return wrong(path, "ends with a point") }
            }
        } while !rest.isEmpty
        guard let root, !steps.isEmpty else { return (root ?? .literal(.missing), nil) }
        return (QueryExpression(.path(root, steps)), nil)
    }

    private static func wrong(_ path: String, _ reason: String) -> (QueryExpression, QueryBuilderError?) {
        (.literal(.missing), QueryBuilderError("the path \"\(path)\" \(reason)"))
    }
}
