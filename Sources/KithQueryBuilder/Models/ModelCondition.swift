import KithQuery

/// A condition on a model, written with key paths: `\.status == .pending`.
public struct ModelCondition<Model>: Sendable {
    /// The condition on a document.
    let term: @Sendable (RowTerm<Model>) -> RowTerm<Bool>

    init(_ term: @escaping @Sendable (RowTerm<Model>) -> RowTerm<Bool>) { self.term = term }
}

/// The field that a key path reads.
public typealias ModelField<Model, Value> = any KeyPath<Model, Value> & Sendable

/// Whether a field has a value; with nil, whether it is missing or NULL.
public func == <Model, Value: Encodable & Sendable>(
    field: ModelField<Model, Value>, value: Value
) -> ModelCondition<Model> { ModelCondition { $0[dynamicMember: field] == value } }

/// Whether a field has another value, which one without a value has not; with nil, whether it has one.
public func != <Model, Value: Encodable & Sendable>(
    field: ModelField<Model, Value>, value: Value
) -> ModelCondition<Model> { ModelCondition { $0[dynamicMember: field] != value } }

/// `field < value` in the order of values.
public func < <Model, Value: Encodable & QueryOrdered & Sendable>(
    field: ModelField<Model, Value>, value: Value
) -> ModelCondition<Model> { ModelCondition { $0[dynamicMember: field] < value } }

/// `field <= value` in the order of values.
public func <= <Model, Value: Encodable & QueryOrdered & Sendable>(
    field: ModelField<Model, Value>, value: Value
) -> ModelCondition<Model> { ModelCondition { $0[dynamicMember: field] <= value } }

/// `field > value` in the order of values.
public func > <Model, Value: Encodable & QueryOrdered & Sendable>(
    field: ModelField<Model, Value>, value: Value
) -> ModelCondition<Model> { ModelCondition { $0[dynamicMember: field] > value } }

/// `field >= value` in the order of values.
public func >= <Model, Value: Encodable & QueryOrdered & Sendable>(
    field: ModelField<Model, Value>, value: Value
) -> ModelCondition<Model> { ModelCondition { $0[dynamicMember: field] >= value } }

extension ModelCondition {
    /// `a AND b`.
    public static func && (left: Self, right: Self) -> Self { Self { left.term($0) && right.term($0) } }

    /// `a OR b`.
    public static func || (left: Self, right: Self) -> Self { Self { left.term($0) || right.term($0) } }

    /// `NOT a`.
    public static prefix func ! (operand: Self) -> Self { Self { !operand.term($0) } }
}
