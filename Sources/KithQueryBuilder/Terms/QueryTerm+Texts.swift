import KithQuery

extension QueryTerm where Value: QueryText {
    private func like(_ pattern: String, isNegated: Bool) -> QueryTerm<Bool, Level> {
        QueryTerm<Bool, Level>(.like(expression, pattern: .string(pattern), escape: nil, isNegated: isNegated), fault)
    }

    /// `LIKE pattern`: `%` is any text, `_` any character, and both are meant as such after `\`.
    public func like(_ pattern: String) -> QueryTerm<Bool, Level> { like(pattern, isNegated: false) }

    /// `NOT LIKE pattern`.
    public func notLike(_ pattern: String) -> QueryTerm<Bool, Level> { like(pattern, isNegated: true) }

    /// Whether a text is somewhere in it, with `%` and `_` meant as such.
    public func contains(_ text: String) -> QueryTerm<Bool, Level> { like("%\(text.escapedForLike)%") }

    /// Whether it begins with a text, in which `%` and `_` are meant as such.
    public func starts(with text: String) -> QueryTerm<Bool, Level> { like("\(text.escapedForLike)%") }

    /// Whether it ends with a text, in which `%` and `_` are meant as such.
    public func ends(with text: String) -> QueryTerm<Bool, Level> { like("%\(text.escapedForLike)") }

    private func collated(_ change: (inout QueryCollation) -> Void) -> Self {
        var collation = QueryCollation(ignoresCase: false, ignoresDiacritics: false)
        var operand = expression
        if case .collated(let inner, let known) = expression.kind { (operand, collation) = (inner, known) }
        change(&collation)
        return Self(.collated(operand, collation), fault)
    }

    /// In whose comparison, `contains` and order case does not count.
    public var ignoringCase: Self { collated { $0.ignoresCase = true } }

    /// In whose comparison, `contains` and order the marks on letters do not count.
    public var ignoringDiacritics: Self { collated { $0.ignoresDiacritics = true } }

    /// This text and then another.
    public func appending<Other: QueryText>(_ other: QueryTerm<Other, Level>) -> Self {
        concatenated(other.expression, other.fault)
    }

    /// This text and then another: `a || b`.
    public func appending(_ text: String) -> Self { concatenated(.string(text), nil) }

    private func concatenated(_ other: QueryExpression, _ otherFault: QueryBuilderError?) -> Self {
        let operands = if case .concatenation(let operands) = expression.kind { operands } else { [expression] }
        return Self(.concatenation(operands + [other]), fault ?? otherFault)
    }

    /// Characters as Unicode counts code points.
    public var length: QueryTerm<Int, Level> { call("LENGTH") }

    /// In lower case.
    public func lowercased() -> Self { call("LOWER") }

    /// In upper case.
    public func uppercased() -> Self { call("UPPER") }
    /// Without spaces at both ends.
    public func trimmed() -> Self { call("TRIM") }
}

extension QueryTerm {
    func call<Result>(_ name: String) -> QueryTerm<Result, Level> {
        QueryTerm<Result, Level>(.call(name, [expression]), fault)
    }
}

extension String {
    /// With what LIKE gives a meaning meant as such.
    fileprivate var escapedForLike: String {
        var escaped = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if scalar == "%" || scalar == "_" || scalar == "\\" { escaped.append("\\") }
            escaped.append(scalar)
        }
        return String(escaped)
    }
}
