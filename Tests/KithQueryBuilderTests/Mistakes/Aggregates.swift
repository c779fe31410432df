import Foundation
import KithQueryBuilder

func aggregates(_ tasks: ModelCollection<TodoItem>) {
    // An aggregate in WHERE.
    // error: cannot convert value of type 'QueryTerm<Bool, GroupLevel>' to closure result type 'RowTerm<Bool>'
    _ = tasks.where { $0.priority.sum() > 3 }
    // error: cannot convert value of type 'QueryTerm<Bool, GroupLevel>' to expected argument type 'RowTerm<Bool>'
    _ = DocumentQuery(from: "x").where(Field.rowCount > 2)
    // An aggregate of an aggregate.
    // error: value of type 'QueryTerm<Int, GroupLevel>' has no dynamic member 'sum' | cannot call value of non-function type
    _ = tasks.where { $0.priority.sum().sum() == 3 }
    // The sum of texts.
    // error: has no dynamic member 'sum' using key path from root type 'String' | cannot call value of non-function type
    _ = tasks.where { $0.title.sum() > 3 }
    // Groups by an aggregate.
    // error: cannot convert value of type
    _ = DocumentQuery(from: "x").group(by: Field("a").sum())
}
