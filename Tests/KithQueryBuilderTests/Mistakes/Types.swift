import Foundation
import KithQueryBuilder

func types(_ tasks: ModelCollection<TodoItem>) {
    // A number compared with a text.
    // error: cannot convert value of type 'String' to expected argument type 'Int'
    _ = tasks.where(\.priority == "1")
    // error: cannot convert value of type 'QueryTerm<Int, RowLevel>'
    _ = tasks.where { $0.priority == "1" }
    // A date compared with a text.
    // error: cannot convert value of type 'QueryTerm<Date?, RowLevel>'
    _ = tasks.where { $0.dueDate == "2026-11-30" }
    // Fields of two types.
    // error: cannot convert value of type 'QueryTerm<String, RowLevel>' to expected argument type
    _ = tasks.where { $0.owner == $0.title }
    // Which of two objects is the greater.
    // error: requires that 'TodoItem.Person' conform to 'QueryOrdered'
    _ = tasks.where { $0.owner > $0.owner }
    // An order by an array.
    // error: requires that 'Array<String>' conform to 'QueryOrdered'
    _ = tasks.order(\.tags)
    // An element of another type.
    // error: cannot convert value of type 'Int' to expected argument type 'Array<String>.QueryElement'
    _ = tasks.where { $0.tags.contains(3) }
    // The elements of a text.
    // error: requires that 'String' conform to 'QueryArray'
    _ = tasks.unnest(\.title)
    // Calculating with a text.
    // error: cannot convert value of type 'QueryTerm<String, RowLevel>'
    _ = tasks.where { $0.title + 1 == 3 }
}
