import Foundation
import KithQueryBuilder

// What is right, so that the mistakes beside it are known to fail for what is wrong with them.
func right(_ tasks: ModelCollection<TodoItem>, _ people: ModelCollection<Person>, now: Date) {
    _ = tasks.where(\.status == .pending).order(\.dueDate)
    _ = tasks.where { $0.status == .pending && $0.title.contains("100%") }.order(\.isPinned, .descending).limit(3)
    _ = tasks.where { $0.dueDate < now && $0.title.length > 3 && $0.tags.contains("x") }
    _ = tasks.group { [$0.status] }.having { $0.priority.sum() > 3 }.select { [$0.status, $0.priority.average()] }
    _ = tasks.join(people) { task, person in task.ownerID == person.id }.select { task, person in [person.name] }
    _ = DocumentQuery(from: "x").where(Field("a") > 3).group(by: Field("b")).having(Field.rowCount > 2)
}
