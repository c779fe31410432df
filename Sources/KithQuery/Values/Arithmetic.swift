import KithDocument

/// Arithmetic on numbers. Integers are exact while all is within 64 bits; otherwise doubles, and NULL where the result is
/// no number (a division by 0, infinities).
enum Arithmetic {
    static func apply(_ operation: ArithmeticOperator, _ left: JSONNumber, _ right: JSONNumber) -> QueryValue {
        if let mine = left.integer, let its = right.integer, let result = integers(operation, mine, its) {
            return result
        }
        let (mine, its) = (left.double, right.double)
        switch operation {
        case .plus: return .number(mine + its)
        case .minus: return .number(mine - its)
        case .times: return .number(mine * its)
        case .divided: return its == 0 ? .null : .number(mine / its)
        case .remainder: return its == 0 ? .null : .number(mine.truncatingRemainder(dividingBy: its))
        }
    }

    /// Nil where the result is not an integer of 64 bits.
    private static func integers(_ operation: ArithmeticOperator, _ left: Int64, _ right: Int64) -> QueryValue? {
        let (result, overflow): (Int64, Bool)
        switch operation {
        case .plus: (result, overflow) = left.addingReportingOverflow(right)
        case .minus: (result, overflow) = left.subtractingReportingOverflow(right)
        case .times: (result, overflow) = left.multipliedReportingOverflow(by: right)
        case .divided:
            guard right != 0 else { return .null }
            // A quotient that is no integer is a double.
            guard left.remainderReportingOverflow(dividingBy: right).partialValue == 0 else { return nil }
            (result, overflow) = left.dividedReportingOverflow(by: right)
        case .remainder:
            guard right != 0 else { return .null }
            (result, overflow) = (right == -1 ? 0 : left % right, false)
        }
        return overflow ? nil : .number(result)
    }

    /// Exact for all integers, of any size.
    static func negated(_ number: JSONNumber) -> JSONNumber {
        if number.text == "0" { return number }
        return JSONNumber(canonical: number.text.hasPrefix("-") ? String(number.text.dropFirst()) : "-" + number.text)
    }
}

extension JSONNumber {
    /// Whether its text has neither point nor exponent.
    var isWrittenAsInteger: Bool { !text.utf8.contains { $0 == 0x2E || $0 | 0x20 == 0x65 } }

    /// The value where it is an integer that a place or a count can be.
    var count: Int? { integer.flatMap { Int(exactly: $0) } }
}
