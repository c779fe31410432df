import Foundation
import KithQueryBuilder
import Testing

/// Queries of models: key paths are the fields of documents.
@Suite struct ModelQueryTests {
    private let tasks = try! ModelCollection(of: TodoItem.self, type: "todo")
    private let people = try! ModelCollection(of: Person.self, type: "person")
    private let now = Date(timeIntervalSince1970: 0)

    private func expect(
        _ query: ModelQuery<TodoItem>, where condition: String, then rest: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let text = "SELECT META(doc).id AS id, doc AS body FROM _ AS doc WHERE doc.type = 'todo'"
        try KithQueryBuilderTests.expect(
            query, is: text + (condition.isEmpty ? "" : " AND \(condition)") + " \(rest)",
            sourceLocation: sourceLocation)
    }

    @Test func `Conditions with key paths`() throws {
        try expect(tasks.all, where: "")
        try expect(
            tasks.where(\.status == .pending).order(\.dueDate), where: "doc.status = 'pending'",
            then: "ORDER BY doc.due")
        try expect(tasks.where(\.priority > 2), where: "doc.priority > 2")
        try expect(tasks.where(\.dueDate == nil), where: "doc.due IS NOT VALUED")
        try expect(tasks.where(\.dueDate != nil), where: "doc.due IS VALUED")
        try expect(tasks.where(\.dueDate <= now), where: "doc.due <= '1970-01-01T00:00:00.000Z'")
        try expect(tasks.where(\.id == "t1"), where: "META(doc).id = 't1'")
        try expect(tasks.where(\.owner?.name == "Ada"), where: "doc.owner.name = 'Ada'")
        try expect(
            tasks.where(\.owner == TodoItem.Person(name: "Ada")), where: "doc.owner = {'name': 'Ada'}")
        try expect(tasks.where(\.tags == ["a"]), where: "doc.tags = ['a']")
        try expect(
            tasks.where(\.status != .done && \.priority >= 1 && !(\.isPinned == true)),
            where: "doc.status != 'done' AND doc.priority >= 1 AND NOT doc.isPinned = TRUE")
        try expect(
            tasks.where(\.status == .done || \.priority < 1).where(\.title == "x"),
            where: "(doc.status = 'done' OR doc.priority < 1) AND doc.title = 'x'")
    }

    @Test func `Conditions with closures`() throws {
        try expect(
            tasks.where { $0.status == .pending && $0.title.contains("100%") },
            where: #"doc.status = 'pending' AND doc.title LIKE '%100\%%'"#)
        try expect(tasks.where { !$0.isPinned }, where: "NOT doc.isPinned")
        try expect(tasks.where { $0.isPinned }, where: "doc.isPinned")
        try expect(tasks.where { $0.dueDate < now }, where: "doc.due < '1970-01-01T00:00:00.000Z'")
        try expect(tasks.where { $0.dueDate.untyped < $0.createdAt.untyped }, where: "doc.due < doc.createdAt")
        try expect(tasks.where { $0.status.isIn([.pending, .done]) }, where: "doc.status IN ['pending', 'done']")
        try expect(tasks.where { $0.priority.isBetween(1, 3) }, where: "doc.priority BETWEEN 1 AND 3")
        try expect(tasks.where { $0.owner.name == "Ada" }, where: "doc.owner.name = 'Ada'")
        try expect(tasks.where { $0.owner.team == nil }, where: "doc.owner.team IS NOT VALUED")
        try expect(tasks.where { $0.priority * 2 + 1 > 5 }, where: "doc.priority * 2 + 1 > 5")
        try expect(tasks.where { $0.tags.contains("home") }, where: "'home' IN doc.tags")
        try expect(tasks.where { $0.tags.count > 1 }, where: "ARRAY_LENGTH(doc.tags) > 1")
        try expect(tasks.where { $0.id.starts(with: "t") }, where: "META(doc).id LIKE 't%'")
        try expect(tasks.where { $0.priority == .parameter("p") }, where: "doc.priority = $p")
        try expect(
            tasks.where { ($0.owner.name ?? "nobody").ignoringCase == "ADA" },
            where: "IFMISSINGORNULL(doc.owner.name, 'nobody') COLLATE NOCASE = 'ADA'")
        try expect(tasks.where { $0.status.rawValue.starts(with: "p") }, where: "doc.status LIKE 'p%'")
    }

    @Test func `Conditions on elements`() throws {
        try expect(
            tasks.where { $0.lines.any { $0.price > 5 } }, where: "ANY item IN doc.lines SATISFIES item.price > 5 END")
        try expect(
            tasks.where { task in task.lines.every { $0.notes.any { $0 == task.title } } },
            where: """
                EVERY item IN doc.lines SATISFIES ANY item2 IN item.notes SATISFIES item2 = doc.title END END
                """)
    }

    @Test func `Order and bounds`() throws {
        try expect(
            tasks.where(\.status == .pending).order(\.isPinned, .descending).order(\.dueDate, nils: .last)
                .order { $0.title.ignoringCase }.limit(20).offset(40),
            where: "doc.status = 'pending'",
            then: """
                ORDER BY doc.isPinned DESC, doc.due NULLS LAST, doc.title COLLATE NOCASE LIMIT 20 OFFSET 40
                """)
        try expect(
            tasks.order(\.status.rawValue).limit(.parameter("n")), where: "", then: "ORDER BY doc.status LIMIT $n")
        try KithQueryBuilderTests.expect(
            tasks.where(\.priority > 1).order(\.title).limit(3).counting,
            is: "SELECT RAW COUNT(*) FROM _ AS doc WHERE doc.type = 'todo' AND doc.priority > 1")
    }

    @Test func `A collection of all documents has no condition of its own`() throws {
        let all = try ModelCollection(of: Person.self, type: nil)
        try KithQueryBuilderTests.expect(all.all, is: "SELECT META(doc).id AS id, doc AS body FROM _ AS doc")
    }

    @Test func `Columns, groups, joins and elements`() throws {
        try KithQueryBuilderTests.expect(
            tasks.where(\.status == .done).group { [$0.owner.name] }
                .having { $0.priority.average() > 1 }
                .order(.descending) { _ in Field.rowCount }
                .select {
                    [$0.owner.name.named("name"), $0.priority.average().named("priority"), Field.rowCount.named("n")]
                },
            is: """
                SELECT doc.owner.name AS name, AVG(doc.priority) AS priority, COUNT(*) AS n FROM _ AS doc
                WHERE doc.type = 'todo' AND doc.status = 'done' GROUP BY doc.owner.name HAVING AVG(doc.priority) > 1
                ORDER BY COUNT(*) DESC
                """)
        try KithQueryBuilderTests.expect(
            tasks.join(people) { task, person in task.ownerID == person.id }
                .where { task, person in person.team == "blue" && task.priority > 1 }
                .order { _, person in person.name }
                .limit(3)
                .select { task, person in [task.title, person.name] },
            is: """
                SELECT doc.title, other.name FROM _ AS doc JOIN _ AS other ON other.type = 'person' AND
                doc.ownerID = META(other).id WHERE doc.type = 'todo' AND other.team = 'blue' AND doc.priority > 1
                ORDER BY other.name LIMIT 3
                """)
        try KithQueryBuilderTests.expect(
            tasks.unnest(\.tags).group { _, tag in [tag] }.select { _, tag in [tag, Field.rowCount.named("n")] },
            is: """
                SELECT element, COUNT(*) AS n FROM _ AS doc UNNEST doc.tags AS element WHERE doc.type = 'todo' GROUP BY element
                """)
        try KithQueryBuilderTests.expect(
            tasks.unnest(\.lines).where { $1.price > 5 }.select { [$1.price.sum().named("sum")] },
            is: """
                SELECT SUM(element.price) AS sum FROM _ AS doc UNNEST doc.lines AS element
                WHERE doc.type = 'todo' AND element.price > 5
                """)
        try KithQueryBuilderTests.expect(
            tasks.select { [$0.id, $0.title.length.named("length")] },
            is: "SELECT META(doc).id, LENGTH(doc.title) AS length FROM _ AS doc WHERE doc.type = 'todo'")
    }

    @Test func `What is no field is an error that names the key path`() {
        for query in [
            tasks.where(\.isOverdue == true), tasks.where { $0.isOverdue }, tasks.order(\.isOverdue),
            tasks.where { $0.owner.name.hashValue == 1 }, tasks.where { $0.title.count == 1 },
        ] {
            let fault = fault(of: query)
            #expect(fault?.contains("is no field that TodoItem keeps") == true, "\(fault ?? "")")
            #expect(fault?.hasPrefix("\\") == true, "\(fault ?? "")")
        }
    }
}
