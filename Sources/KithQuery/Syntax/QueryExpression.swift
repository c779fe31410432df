import KithDocument

/// An expression of a query, as a tree. What makes one is `SQLParser`, `MangoSelector`, and code of its own.
///
/// Chains of one operator are flat, so that a tree is no deeper than what was nested in the text.
package struct QueryExpression: Sendable {
    package var kind: Kind
    package var position: SourcePosition

    package init(_ kind: Kind, at position: SourcePosition = .none) {
        self.kind = kind
        self.position = position
    }

    package indirect enum Kind: Sendable, Equatable {
        /// MISSING, NULL, a boolean, a number or a string. Arrays and objects are constructors.
        case literal(QueryValue)
        case parameter(QueryParameter)
        /// A variable (an alias of FROM, JOIN, UNNEST, LET, ANY), or a field of the only source; `QueryChecker` decides.
        case identifier(String)
        case path(QueryExpression, [PathStep])
        case array([QueryExpression])
        case object([ObjectMember])
        case negation(QueryExpression)
        case not(QueryExpression)
        /// Two operands or more.
        case and([QueryExpression])
        case or([QueryExpression])
        /// `+` and `-`, or `*`, `/` and `%`: one term or more.
        case sum(QueryExpression, [ArithmeticTerm])
        case product(QueryExpression, [ArithmeticTerm])
        /// `||`: two operands or more.
        case concatenation([QueryExpression])
        case comparison(ComparisonOperator, QueryExpression, QueryExpression)
        case like(QueryExpression, pattern: QueryExpression, escape: QueryExpression?, isNegated: Bool)
        case between(QueryExpression, low: QueryExpression, high: QueryExpression, isNegated: Bool)
        case membership(QueryExpression, in: QueryExpression, isNegated: Bool)
        case test(QueryExpression, ValueTest, isNegated: Bool)
        case cases(CaseExpression)
        case quantified(QuantifiedExpression)
        case exists(QueryExpression)
        case collated(QueryExpression, QueryCollation)
        /// Upper case. Whether there is such a function is checked later.
        case call(String, [QueryExpression])
        /// COUNT(*) has no argument.
        case aggregate(AggregateFunction, QueryExpression?, isDistinct: Bool)
        /// META(alias), or META() of the only source.
        case metadata(String?)
        /// MATCH(index, text): whether the document is among what a full-text index finds. With several sources an index is
        /// named with the alias of one and a point before it.
        case match(index: String, text: QueryExpression)
        /// RANK(index): how well it fits.
        case rank(index: String)
        /// HIGHLIGHT(index, field, before, after): the text of a field with marks before and after what was found.
        case highlight(index: String, field: String, before: QueryExpression, after: QueryExpression)
    }
}

/// `$name`, or `$1`, `?`.
package enum QueryParameter: Sendable, Hashable {
    case named(String)
    /// From 1.
    case positional(Int)

    /// As it is written.
    package var text: String {
        switch self {
        case .named(let name): "$\(name)"
        case .positional(let number): "$\(number)"
        }
    }
}

extension QueryParameter {
    /// Names are their bytes: `String` takes NFC and NFD for one.
    package static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.named(let one), .named(let other)): one.hasSameBytes(as: other)
        case (.positional(let one), .positional(let other)): one == other
        default: false
        }
    }
}

/// A step of a path.
package enum PathStep: Sendable, Equatable {
    /// `.name`
    case member(String)
    /// `[expression]`: an element of an array by its number, from the end where it is below zero; or a member of an object
    /// by its name.
    case element(QueryExpression)
    /// `[*]`: the rest of the path of every element, those apart where it is MISSING.
    case each

    package static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.member(let one), .member(let other)): one.hasSameBytes(as: other)
        case (.element(let one), .element(let other)): one == other
        case (.each, .each): true
        default: false
        }
    }
}

package struct ObjectMember: Sendable, Equatable {
    package var key: String
    package var value: QueryExpression

    package init(_ key: String, _ value: QueryExpression) {
        self.key = key
        self.value = value
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.key.hasSameBytes(as: right.key) && left.value == right.value
    }
}

package struct ArithmeticTerm: Sendable, Equatable {
    package var operation: ArithmeticOperator
    package var operand: QueryExpression

    package init(_ operation: ArithmeticOperator, _ operand: QueryExpression) {
        self.operation = operation
        self.operand = operand
    }
}

package enum ArithmeticOperator: String, Sendable {
    case plus = "+"
    case minus = "-"
    case times = "*"
    case divided = "/"
    case remainder = "%"
}

package enum ComparisonOperator: String, Sendable, CaseIterable {
    case equal = "="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="

    /// Whether it holds for values that stand so.
    package func holds(_ order: ValueOrder) -> Bool {
        switch self {
        case .equal: order == .equal
        case .notEqual: order != .equal
        case .less: order == .less
        case .lessOrEqual: order != .greater
        case .greater: order == .greater
        case .greaterOrEqual: order != .less
        }
    }

    /// What is TRUE where this one is FALSE.
    var opposite: ComparisonOperator {
        switch self {
        case .equal: .notEqual
        case .notEqual: .equal
        case .less: .greaterOrEqual
        case .lessOrEqual: .greater
        case .greater: .lessOrEqual
        case .greaterOrEqual: .less
        }
    }
}

/// What comes after IS.
package enum ValueTest: String, Sendable, CaseIterable {
    case null = "NULL"
    case missing = "MISSING"
    case valued = "VALUED"
}

/// CASE operand WHEN value THEN ..., or CASE WHEN condition THEN ...
package struct CaseExpression: Sendable, Equatable {
    package var operand: QueryExpression?
    package var branches: [CaseBranch]
    package var otherwise: QueryExpression?

    package init(operand: QueryExpression?, branches: [CaseBranch], otherwise: QueryExpression?) {
        self.operand = operand
        self.branches = branches
        self.otherwise = otherwise
    }
}

package struct CaseBranch: Sendable, Equatable {
    package var when: QueryExpression
    package var then: QueryExpression

    package init(when: QueryExpression, then: QueryExpression) {
        self.when = when
        self.then = then
    }
}

/// ANY variable IN array SATISFIES condition END.
package struct QuantifiedExpression: Sendable, Equatable {
    package enum Quantifier: String, Sendable, CaseIterable {
        case any = "ANY"
        case every = "EVERY"
        /// EVERY of an array that is not empty.
        case anyAndEvery = "ANY AND EVERY"
    }

    package var quantifier: Quantifier
    package var variable: String
    package var array: QueryExpression
    package var condition: QueryExpression

    package init(
        _ quantifier: Quantifier, _ variable: String, in array: QueryExpression, satisfies condition: QueryExpression
    ) {
        self.quantifier = quantifier
        self.variable = variable
        self.array = array
        self.condition = condition
    }
}

/// What strings are compared without.
package struct QueryCollation: Sendable, Hashable {
    package var ignoresCase: Bool
    package var ignoresDiacritics: Bool

    package init(ignoresCase: Bool, ignoresDiacritics: Bool) {
        self.ignoresCase = ignoresCase
        self.ignoresDiacritics = ignoresDiacritics
    }
}

package enum AggregateFunction: String, Sendable, CaseIterable {
    case count = "COUNT"
    case sum = "SUM"
    case average = "AVG"
    case minimum = "MIN"
    case maximum = "MAX"
    case arrayAggregate = "ARRAY_AGG"
}
