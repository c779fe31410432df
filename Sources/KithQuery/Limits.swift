import KithDocument

/// The bounds of queries; docs/query.md names those that people meet.
package enum QueryLimits {
    /// Longest text of a query in bytes of UTF-8: 256 KiB, far above what is written by hand; large values are parameters.
    package static let textBytes = 256 << 10
    /// Deepest nesting of expressions, selectors and calls: small enough for a 512 KiB stack, with debug builds.
    package static let depth = 50
    /// Deepest tree: what goes down it needs some stack for each level, and a queue's thread has 512 KiB.
    static let treeDepth = 64
    /// Most expressions in one query, so that what is made of it stays small.
    package static let expressions = 20_000
    /// Deepest nesting of a Mango selector: each level takes some levels of expressions.
    package static let selectorDepth = 16
    /// Most conditions of a Mango selector, each of which takes some expressions.
    package static let selectorConditions = 5000
    /// Most joins and unnestings of one query: SQLite joins 64 tables.
    package static let sources = 32
    /// Digits of the longest integer that is read back from a key: what a document has room for.
    package static let keyDigits = DocumentLimits.documentBytes
    /// Longest pattern of a regular expression in bytes.
    package static let patternBytes = 4096
    /// Most steps of a compiled pattern: matching costs this times the characters of the text.
    package static let patternSteps = 2000
    /// Steps that matching one text may take in all, and more of them for each character: looking for every match can cost
    /// the square of the text's length.
    package static let patternWork = 1_000_000
    package static let patternWorkPerCharacter = 50
    /// Highest count in `{n,m}` of a pattern.
    package static let patternRepeats = 1000
    /// Deepest nesting of groups in a pattern.
    package static let patternDepth = 50
    /// Compiled patterns that one query keeps.
    static let cachedPatterns = 64
    /// Longest string that a function makes in bytes: what a document has room for.
    package static let stringBytes = DocumentLimits.documentBytes
    /// Most elements of an array that a function makes from numbers (ARRAY_RANGE, ARRAY_REPEAT, DATE_RANGE_STR ...).
    package static let madeElements = 100_000
    /// Expressions evaluated between two looks at whether the query is still wanted: well under a millisecond.
    package static let stepsBetweenLooks: UInt64 = 1024
    /// Deepest nesting of what is evaluated for SQLite, with the variables of LET in their place: somewhat above what can be
    /// written, and still for a 512 KiB stack.
    static let closedDepth = 64
    /// Fields and parameters in one expression that is evaluated for SQLite, whose functions take 127 arguments.
    static let expressionInputs = 120
    /// Values that a row of SQLite has for one row of a result: it knows 2,000 columns.
    static let rowValues = 1_000
    /// Expressions of one index.
    static let indexExpressions = 8
    /// Most words and phrases that one MATCH looks for, and the most words between those of NEAR.
    static let matchPhrases = 200
    /// Deepest nesting of what MATCH looks for: the parser of FTS5 has room for a hundred pieces at a time.
    static let matchDepth = 8
    static let matchDistance = 1_000
    /// Longest literal that stands in SQL itself, in bytes of its key; longer ones are bound.
    static let literalBytes = 256
    /// Rows that one query may hold at once while the evaluator joins, groups or sorts.
    package static let rows = 1_000_000
}
