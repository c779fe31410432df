import KithCoding
import KithDocument
import KithQuery

/// A part of a query that has a value: a field, a constant, a comparison, the result of a function.
///
/// - `Value` is the type that the value has in documents; `DynamicValue` where nothing is known of it.
/// - `Level` is `RowLevel` for what each row has, `GroupLevel` for what only groups of rows have.
///
/// Building one costs little and can't fail: what is wrong with it, if the compiler does not see it, is thrown when the query
/// is run or asked for its `sql`.
@dynamicMemberLookup
public struct QueryTerm<Value, Level>: Sendable {
    package let expression: QueryExpression
    package let fault: QueryBuilderError?
    /// Where in a model it is, for what is in it.
    let cursor: ModelCursor?

    package init(_ expression: QueryExpression, fault: QueryBuilderError? = nil) {
        self.init(expression, fault: fault, cursor: nil)
    }

    init(_ expression: QueryExpression, fault: QueryBuilderError?, cursor: ModelCursor?) {
        self.expression = expression
        self.fault = fault
        self.cursor = cursor
    }

    init(_ kind: QueryExpression.Kind, _ fault: QueryBuilderError?) { self.init(QueryExpression(kind), fault: fault) }

    /// A constant, bound where the query is run: `.value(18)`.
    public static func value(_ value: Value) -> Self where Value: Encodable {
        let (expression, fault) = constant(value)
        return Self(expression, fault: fault)
    }

    /// A value that is given when the query is run: `.parameter("minimum")` is `$minimum`.
    public static func parameter(_ name: String) -> Self { Self(.parameter(.named(name)), nil) }

    /// The same for comparisons with terms of any type.
    public var untyped: QueryTerm<DynamicValue, Level> { QueryTerm<DynamicValue, Level>(expression, fault: fault) }
}

/// A value of one row.
public typealias RowTerm<Value> = QueryTerm<Value, RowLevel>

/// A value of a group of rows.
public typealias GroupTerm<Value> = QueryTerm<Value, GroupLevel>

/// The tree of a Swift value; nil is NULL.
func constant(_ value: some Encodable) -> (expression: QueryExpression, fault: QueryBuilderError?) {
    do throws(DocumentCodingError) {
        return (.constant(try DocumentEncoder().json(of: value)), nil)
    } catch {
        return (.literal(.null), QueryBuilderError("a value in a query: \(error)"))
    }
}

extension QueryTerm where Level == RowLevel {
    /// The term as one of a group, which it is where the group is by it.
    public var ofGroup: QueryTerm<Value, GroupLevel> { QueryTerm<Value, GroupLevel>(expression, fault: fault) }
}

/// A place in a model from which names lead on.
struct ModelCursor: Sendable {
    let fields: any ModelFields
    /// From the model on.
    var steps: [ModelStep] = []
    /// The variable from which the path begins: a document, or an element of an array.
    var variable: String

    var expression: QueryExpression { .identifier(variable) }

    /// The expression of what a key path leads to.
    func member(_ keyPath: any AnyKeyPath & Sendable) -> (QueryExpression, QueryBuilderError?, ModelCursor) {
        var cursor = self
        cursor.steps.append(.member(keyPath))
        do throws(DocumentCodingError) {
            let place = try fields.place(of: cursor.steps)
            if !steps.contains(.element), fields.isID(place) {
                return (QueryExpression(.path(QueryExpression(.metadata(variable)), [.member("id")])), nil, cursor)
            }
            return (QueryExpression(.path(expression, place.map { .member($0) })), nil, cursor)
        } catch {
            return (.literal(.missing), QueryBuilderError("\(error)"), cursor)
        }
    }

    /// For an element of the array that is here, as a variable.
    func element(as variable: String) -> ModelCursor {
        ModelCursor(fields: fields, steps: steps + [.element], variable: variable)
    }
}

extension QueryTerm {
    private func member<Member>(_ keyPath: any AnyKeyPath & Sendable) -> QueryTerm<Member, Level> {
        guard let cursor else {
            let fault = QueryBuilderError("\(keyPath): only fields of models have members; see the functions of terms")
            return QueryTerm<Member, Level>(.literal(.missing), fault: fault)
        }
        let (expression, fault, inner) = cursor.member(keyPath)
        return QueryTerm<Member, Level>(expression, fault: self.fault ?? fault, cursor: inner)
    }

    /// A field of a model: `$0.title`.
    public subscript<Member>(
        dynamicMember keyPath: any KeyPath<Value, Member> & Sendable
    ) -> QueryTerm<Member, Level> { member(keyPath) }

    /// A field of what may be nil: `$0.owner.name`.
    public subscript<Wrapped, Member>(
        dynamicMember keyPath: any KeyPath<Wrapped, Member> & Sendable
    ) -> QueryTerm<Member?, Level> where Value == Wrapped? { member(keyPath) }

    /// A field, which may be nil itself, of what may be nil.
    public subscript<Wrapped, Member>(
        dynamicMember keyPath: any KeyPath<Wrapped, Member?> & Sendable
    ) -> QueryTerm<Member?, Level> where Value == Wrapped? { member(keyPath) }
}
