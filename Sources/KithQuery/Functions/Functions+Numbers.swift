import Glibc
import KithDocument

extension QueryFunction {
    private static func number(
        _ name: String, _ parameters: String, _ summary: String, _ example: String, _ result: String,
        _ body: @escaping Body
    ) -> QueryFunction {
        QueryFunction(name, parameters, summary, example, result, in: .number, body)
    }

    private static func real(
        _ name: String, _ parameters: String, _ summary: String, _ example: String, _ result: String,
        _ body: @escaping @Sendable (Double) -> Double
    ) -> QueryFunction {
        number(name, parameters, summary, example, result) { $0.real(body) }
    }

    static let numbers: [QueryFunction] = [
        number("ABS", "number", "The number without its sign, exactly.", "ABS(-3)", "3") { arguments in
            guard let number = arguments.number(0) else { return .null }
            return .number(number.text.hasPrefix("-") ? Arithmetic.negated(number) : number)
        },
        number("SIGN", "number", "-1, 0 or 1.", "SIGN(-2.5)", "-1") { arguments in
            guard let number = arguments.number(0) else { return .null }
            return .number(number.order(to: JSONNumber(0)).rawValue)
        },
        number("DIV", "dividend, divisor", "The quotient, as / gives it; NULL for a divisor of 0.", "DIV(7, 2)", "3.5")
        {
            guard let one = $0.number(0), let other = $0.number(1) else { return .null }
            return Arithmetic.apply(.divided, one, other)
        },
        number(
            "IDIV", "dividend, divisor", "The quotient without what is behind its point; NULL for a divisor of 0.",
            "IDIV(-7, 2)", "-3"
        ) { arguments in
            guard let one = arguments.number(0), let other = arguments.number(1) else { return .null }
            if let left = one.integer, let right = other.integer, right != 0 {
                let (quotient, overflow) = left.dividedReportingOverflow(by: right)
                if !overflow { return .number(quotient) }
            }
            guard case .number(let quotient) = Arithmetic.apply(.divided, one, other) else { return .null }
            return .number(quotient.rounded(places: 0, .down))
        },
        real("SQRT", "number", "The square root; NULL below zero.", "SQRT(9)", "3") { $0.squareRoot() },
        number("POWER", "base, exponent", "The base to the power of the exponent.", "POWER(2, 10)", "1024") {
            arguments in
            guard let base = arguments.number(0), let exponent = arguments.number(1) else { return .null }
            return .number(pow(base.double, exponent.double))
        },
        real("EXP", "number", "e to the power of the number.", "EXP(0)", "1") { exp($0) },
        real("LN", "number", "The natural logarithm; NULL for 0 and below.", "LN(1)", "0") { log($0) },
        real("LOG", "number", "The logarithm to base 10; NULL for 0 and below.", "LOG(1000)", "3") { log10($0) },
        number("BITAND", "integer, integer, ...", "The bits that are set in all.", "BITAND(12, 10)", "8") {
            $0.bits { $0 & $1 }
        },
        number("BITOR", "integer, integer, ...", "The bits that are set in one.", "BITOR(12, 10)", "14") {
            $0.bits { $0 | $1 }
        },
        number(
            "BITXOR", "integer, integer, ...", "The bits that are set in an odd number of them.", "BITXOR(12, 10)", "6"
        ) {
            $0.bits { $0 ^ $1 }
        },
        number("BITNOT", "integer", "All its 64 bits turned round.", "BITNOT(0)", "-1") { arguments in
            arguments.number(0)?.integer.map { .number(~$0) } ?? .null
        },
        number(
            "BITSHIFT", "integer, count", "Its 64 bits moved to the left, or to the right for a count below zero.",
            "BITSHIFT(1, 4)", "16"
        ) { arguments in
            guard let integer = arguments.number(0)?.integer, let count = arguments.count(1) else { return .null }
            return .number(
                count >= 0 ? integer << count : Int64(bitPattern: UInt64(bitPattern: integer) >> count.magnitude))
        },
    ]

    static let roundings: [QueryFunction] = [
        number("FLOOR", "number", "The greatest integer that is not above it.", "FLOOR(-1.5)", "-2") { arguments in
            guard let number = arguments.number(0) else { return .null }
            return number.isWrittenAsInteger ? .number(number) : .number(number.double.rounded(.down))
        },
        number("CEIL", "number", "The least integer that is not below it.", "CEIL(-1.5)", "-1") { arguments in
            guard let number = arguments.number(0) else { return .null }
            return number.isWrittenAsInteger ? .number(number) : .number(number.double.rounded(.up))
        },
        number(
            "ROUND", "number[, places]",
            "The nearest number with so many decimal places, halves away from zero. The places are 0 where none are given, and left of the point below zero.",
            "ROUND(1.005, 2)", "1.01"
        ) { $0.rounded(.halfUp) },
        number("ROUND_EVEN", "number[, places]", "The same, halves to the even digit.", "ROUND_EVEN(2.5)", "2") {
            $0.rounded(.halfEven)
        },
        number("TRUNC", "number[, places]", "The number without the further decimal places.", "TRUNC(-1.29, 1)", "-1.2")
        {
            $0.rounded(.down)
        },
    ]

    static let trigonometry: [QueryFunction] = [
        real("SIN", "radians", "The sine.", "SIN(0)", "0") { sin($0) },
        real("COS", "radians", "The cosine.", "COS(0)", "1") { cos($0) },
        real("TAN", "radians", "The tangent.", "TAN(0)", "0") { tan($0) },
        real("ASIN", "number", "The angle in radians whose sine it is; NULL beyond -1 and 1.", "ASIN(0)", "0") {
            asin($0)
        },
        real("ACOS", "number", "The angle in radians whose cosine it is; NULL beyond -1 and 1.", "ACOS(1)", "0") {
            acos($0)
        },
        real("ATAN", "number", "The angle in radians whose tangent it is.", "ATAN(0)", "0") { atan($0) },
        number("ATAN2", "y, x", "The angle in radians of the point to the x axis.", "ATAN2(0, 1)", "0") { arguments in
            guard let y = arguments.number(0), let x = arguments.number(1) else { return .null }
            return .number(atan2(y.double, x.double))
        },
        real("DEGREES", "radians", "The angle in degrees.", "DEGREES(PI())", "180") { $0 * 180 / .pi },
        real("RADIANS", "degrees", "The angle in radians.", "RADIANS(180) = PI()", "TRUE") { $0 * .pi / 180 },
        number("PI", "", "π.", "PI()", "3.141592653589793") { _ in .number(Double.pi) },
        number("E", "", "The base of the natural logarithm.", "E()", "2.718281828459045") { _ in .number(exp(1.0)) },
    ]
}

extension FunctionArguments {
    fileprivate func bits(_ combine: (Int64, Int64) -> Int64) -> QueryValue {
        var result: Int64?
        for value in values {
            guard let integer = value.number?.integer else { return .null }
            result = result.map { combine($0, integer) } ?? integer
        }
        return .number(orNull: result)
    }

    fileprivate func rounded(_ rule: DecimalRounding) -> QueryValue {
        guard let number = number(0) else { return .null }
        let places = has(1) ? count(1) : 0
        guard let places, (-400...400).contains(places) else { return .null }
        return .number(number.rounded(places: places, rule))
    }
}
