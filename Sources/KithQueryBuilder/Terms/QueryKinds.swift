#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The level of terms that are values of one row.
public enum RowLevel: Sendable {}

/// The level of terms that are values of a group of rows: aggregates, and what is made of them.
public enum GroupLevel: Sendable {}

/// The type of fields without a model: it can be compared with anything.
public enum DynamicValue: Sendable {}

/// Types whose order in documents is the one that is meant: numbers, texts, dates, booleans, and optionals of them. Arrays and objects are
/// not among them.
///
/// A type of one's own that is kept as a number or a text may be given it.
public protocol QueryOrdered {}

/// Numbers, and optionals of them.
public protocol QueryNumber: QueryOrdered {}

/// Texts, and optionals of them.
public protocol QueryText: QueryOrdered {}

/// Arrays and sets, and optionals of them.
public protocol QueryArray {
    /// What stands in them.
    associatedtype QueryElement
}

extension DynamicValue: QueryNumber, QueryText, QueryArray {
    /// What stands in it.
    public typealias QueryElement = DynamicValue
}

extension Optional: QueryOrdered where Wrapped: QueryOrdered {}
extension Optional: QueryNumber where Wrapped: QueryNumber {}
extension Optional: QueryText where Wrapped: QueryText {}
extension Optional: QueryArray where Wrapped: QueryArray {
    /// What stands in it.
    public typealias QueryElement = Wrapped.QueryElement
}

extension Array: QueryArray {
    /// What stands in it.
    public typealias QueryElement = Element
}
extension Set: QueryArray {
    /// What stands in it.
    public typealias QueryElement = Element
}

extension String: QueryText {}
extension Bool: QueryOrdered {}
extension Date: QueryOrdered {}
extension UUID: QueryOrdered {}
extension URL: QueryOrdered {}

extension Int: QueryNumber {}
extension Int8: QueryNumber {}
extension Int16: QueryNumber {}
extension Int32: QueryNumber {}
extension Int64: QueryNumber {}
extension Int128: QueryNumber {}
extension UInt: QueryNumber {}
extension UInt8: QueryNumber {}
extension UInt16: QueryNumber {}
extension UInt32: QueryNumber {}
extension UInt64: QueryNumber {}
extension UInt128: QueryNumber {}
extension Float: QueryNumber {}
extension Double: QueryNumber {}
