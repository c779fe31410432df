import KithDocument

/// Writes a tree as SQL++, with no more parentheses than it takes to be read as the same tree.
struct SQLPrinter {
    private(set) var text = ""

    /// How tight what is written binds.
    enum Level: Int, Comparable {
        case or, and, not, comparison, concatenation, sum, product, negation, suffix, primary

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    static func level(of expression: QueryExpression) -> Level {
        switch expression.kind {
        case .or: .or
        case .and: .and
        case .not: .not
        case .comparison, .like, .between, .membership, .test: .comparison
        case .concatenation: .concatenation
        case .sum: .sum
        case .product: .product
        case .negation: .negation
        case .literal(.number(let number)) where number.text.hasPrefix("-"): .negation
        case .exists, .collated: .suffix
        default: .primary
        }
    }

    mutating func write(_ piece: String) { text += piece }

    /// - Parameter least: what binds looser stands between parentheses.
    mutating func write(_ expression: QueryExpression, _ least: Level = .or) {
        guard Self.level(of: expression) < least else { return write(expression.kind) }
        text += "("
        write(expression.kind)
        text += ")"
    }

    mutating func write(_ expressions: [QueryExpression], separator: String, _ least: Level = .or) {
        for (index, expression) in expressions.enumerated() {
            if index > 0 { text += separator }
            write(expression, least)
        }
    }

    /// Where a `-` or a digit at the beginning would be read as something else.
    mutating func writeGuarded(_ expression: QueryExpression, _ least: Level, against isUnfit: (Character) -> Bool) {
        var inner = SQLPrinter()
        inner.write(expression, least)
        text += inner.text.first.map(isUnfit) == true ? "(\(inner.text))" : inner.text
    }

    private mutating func write(_ kind: QueryExpression.Kind) {
        switch kind {
        case .literal(let value): write(value)
        case .parameter(let parameter): text += parameter.text
        case .identifier(let name): text += SQLWords.quoted(name)
        case .path(let base, let steps): write(base, steps)
        case .array(let elements):
            text += "["
            write(elements, separator: ", ")
            text += "]"
        case .object(let members): write(members)
        case .negation(let operand):
            text += "-"
            writeGuarded(operand, .negation) { $0 == "-" || $0.isNumber || $0 == "." }
        case .not(let operand):
            text += "NOT "
            write(operand, .not)
        case .and(let operands): write(operands, separator: " AND ", .not)
        case .or(let operands): write(operands, separator: " OR ", .and)
        case .concatenation(let operands): write(operands, separator: " || ", .sum)
        case .sum(let first, let terms): write(first, terms, .product)
        case .product(let first, let terms): write(first, terms, .negation)
        case .exists(let operand):
            text += "EXISTS "
            write(operand, .suffix)
        case .collated(let operand, let collation):
            write(operand, .primary)
            text +=
                " COLLATE (\(collation.ignoresCase ? "NOCASE" : "CASE") \(collation.ignoresDiacritics ? "NODIAC" : "DIAC"))"
        case .comparison, .like, .between, .membership, .test: writeCondition(kind)
        case .cases(let cases): write(cases)
        case .quantified(let quantified): write(quantified)
        case .call(let name, let arguments):
            text += "\(name)("
            write(arguments, separator: ", ")
            text += ")"
        case .aggregate(let function, let argument, let isDistinct): write(function, argument, isDistinct)
        case .metadata(let alias): text += "META(\(alias.map { SQLWords.quoted($0) } ?? ""))"
        case .match(let index, let words):
            text += "MATCH(\(Self.indexName(index)), "
            write(words)
            text += ")"
        case .rank(let index): text += "RANK(\(Self.indexName(index)))"
        case .highlight(let index, let field, let before, let after):
            text += "HIGHLIGHT(\(Self.indexName(index)), \(SQLWords.literal(field)), "
            write([before, after], separator: ", ")
            text += ")"
        }
    }

    /// The name of an index, with the alias of a source before it where there is one.
    private static func indexName(_ name: String) -> String {
        guard let point = name.lastIndex(of: ".") else { return SQLWords.quoted(name) }
        return
            "\(SQLWords.quoted(String(name[..<point]))).\(SQLWords.quoted(String(name[name.index(after: point)...])))"
    }

    private mutating func write(_ value: QueryValue) {
        switch value {
        case .missing: text += "MISSING"
        case .null: text += "NULL"
        case .bool(let bool): text += bool ? "TRUE" : "FALSE"
        case .number(let number): text += number.text
        case .string(let string): text += SQLWords.literal(string)
        case .array, .object: write(QueryExpression.constant(value.element))
        }
    }

    private mutating func write(_ base: QueryExpression, _ steps: [PathStep]) {
        let isPath = if case .path = base.kind { true } else { false }
        if isPath { text += "(" }
        write(base, .primary)
        if isPath { text += ")" }
        for step in steps {
            switch step {
            case .member(let name): text += ".\(SQLWords.quoted(name))"
            case .each: text += "[*]"
            case .element(let index):
                text += "["
                write(index)
                text += "]"
            }
        }
    }

    private mutating func write(_ members: [ObjectMember]) {
        text += "{"
        for (index, member) in members.enumerated() {
            if index > 0 { text += ", " }
            text += "\(SQLWords.literal(member.key)): "
            write(member.value)
        }
        text += "}"
    }

    private mutating func write(_ first: QueryExpression, _ terms: [ArithmeticTerm], _ least: Level) {
        write(first, least)
        for term in terms {
            text += " \(term.operation.rawValue) "
            write(term.operand, least)
        }
    }

    private mutating func writeCondition(_ kind: QueryExpression.Kind) {
        switch kind {
        case .comparison(let operation, let left, let right):
            write(left, .concatenation)
            text += " \(operation.rawValue) "
            write(right, .concatenation)
        case .like(let value, let pattern, let escape, let isNegated):
            write(value, .concatenation)
            text += isNegated ? " NOT LIKE " : " LIKE "
            write(pattern, .concatenation)
            guard let escape else { return }
            text += " ESCAPE "
            write(escape, .concatenation)
        case .between(let value, let low, let high, let isNegated):
            write(value, .concatenation)
            text += isNegated ? " NOT BETWEEN " : " BETWEEN "
            write(low, .concatenation)
            text += " AND "
            write(high, .concatenation)
        case .membership(let value, let array, let isNegated):
            write(value, .concatenation)
            text += isNegated ? " NOT IN " : " IN "
            write(array, .concatenation)
        case .test(let value, let test, let isNegated):
            write(value, .concatenation)
            text += " IS \(isNegated ? "NOT " : "")\(test.rawValue)"
        default: preconditionFailure("no condition: \(kind)")
        }
    }

    private mutating func write(_ cases: CaseExpression) {
        text += "CASE"
        if let operand = cases.operand {
            text += " "
            write(operand)
        }
        for branch in cases.branches {
            text += " WHEN "
            write(branch.when)
            text += " THEN "
            write(branch.then)
        }
        if let otherwise = cases.otherwise {
            text += " ELSE "
            write(otherwise)
        }
        text += " END"
    }

    private mutating func write(_ quantified: QuantifiedExpression) {
        text += "\(quantified.quantifier.rawValue) \(SQLWords.quoted(quantified.variable)) IN "
        write(quantified.array)
        text += " SATISFIES "
        write(quantified.condition)
        text += " END"
    }

    private mutating func write(_ function: AggregateFunction, _ argument: QueryExpression?, _ isDistinct: Bool) {
        text += "\(function.rawValue)(\(isDistinct ? "DISTINCT " : "")"
        if let argument { write(argument) } else { text += "*" }
        text += ")"
    }
}

extension QueryExpression {
    /// As SQL++, which reads as the same tree.
    package var sql: String {
        var printer = SQLPrinter()
        printer.write(self)
        return printer.text
    }
}
