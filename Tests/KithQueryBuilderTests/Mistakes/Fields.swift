import Foundation
import KithQueryBuilder

func fields(_ tasks: ModelCollection<TodoItem>) {
    // A field that the model does not have, as a key path and in a closure.
    // error: cannot infer key path type from context | cannot convert value of type 'ModelCondition<Model>'
    _ = tasks.where(\.titel == "x")
    // error: has no dynamic member 'titel' using key path from root type 'TodoItem'
    _ = tasks.where { $0.titel == "x" }
    // A case that the enum does not have.
    // error: type 'TodoItem.Status' has no member 'paused'
    _ = tasks.where(\.status == .paused)
    // A field that is no condition.
    // error: cannot convert value of type 'QueryTerm<String, RowLevel>' to closure result type 'RowTerm<Bool>'
    _ = tasks.where { $0.title }
}
