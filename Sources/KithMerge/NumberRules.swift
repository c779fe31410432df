internal import KithDocument

/// `max`: the greatest number.
package struct GreatestNumber: ValueRule {
    package static let name = "max"

    package init() {}

    package func takes(_ value: [UInt8]) -> Bool { DecimalText.isNumber(value) }

    package func join(_ values: [[UInt8]]) -> [UInt8] { numbers(values).max()?.text ?? [] }
}

/// `min`: the least number.
package struct LeastNumber: ValueRule {
    package static let name = "min"

    package init() {}

    package func takes(_ value: [UInt8]) -> Bool { DecimalText.isNumber(value) }

    package func join(_ values: [[UInt8]]) -> [UInt8] { numbers(values).min()?.text ?? [] }
}

private func numbers(_ values: [[UInt8]]) -> [DecimalText] { values.compactMap { DecimalText(canonical: $0) } }
