import KithQueryBuilder
import Testing

/// Whole queries without a model.
@Suite struct DocumentQueryTests {
    @Test func `A query of all clauses`() throws {
        let query = DocumentQuery(from: "people", as: "p")
            .join("cities", as: "c", on: Field("p.city") == Field.metadata(.id, of: "c"))
            .unnest(Field("p.tags"), as: "tag")
            .where(Field("p.age") >= .parameter("minimum"))
            .where(Field("tag") != "secret")
            .group(by: Field("c.name"))
            .having(Field.rowCount > 2)
            .select(Field("c.name").named("city"), Field.rowCount.named("people"))
            .order(Field.rowCount, .descending)
            .limit(10)
        try expect(
            query,
            is: """
                SELECT c.name AS city, COUNT(*) AS people FROM people AS p JOIN cities AS c ON p.city = META(c).id
                UNNEST p.tags AS tag WHERE p.age >= $minimum AND tag != 'secret' GROUP BY c.name
                HAVING COUNT(*) > 2 ORDER BY COUNT(*) DESC LIMIT 10
                """)
    }

    @Test func `Sources, and what is put beside them`() throws {
        let people = DocumentQuery(from: "people")
        try expect(people, is: "SELECT * FROM people")
        try expect(DocumentQuery(from: "my db", as: "order"), is: "SELECT * FROM `my db` AS `order`")
        try expect(
            people.leftJoin("cities", on: Field("people.city") == Field("cities.name")),
            is: "SELECT * FROM people LEFT JOIN cities ON people.city = cities.name")
        try expect(people.crossJoin("cities", as: "c"), is: "SELECT * FROM people CROSS JOIN cities AS c")
        try expect(people.leftUnnest(Field("tags"), as: "t"), is: "SELECT * FROM people LEFT UNNEST tags AS t")
        try expect(
            people.binding("double", to: Field("age") * 2).where(Field("double") > 80),
            is: "SELECT * FROM people LET double = age * 2 WHERE double > 80")
    }

    @Test func `Columns, order and bounds`() throws {
        let people = DocumentQuery(from: "people")
        try expect(
            people.select(Field("name"), Field("city.name").named("city")).distinct(),
            is: "SELECT DISTINCT name, city.name AS city FROM people")
        try expect(
            people.select(value: Field("name")).order(Field("age"), .descending, nils: .last).order(Field("name")),
            is: "SELECT RAW name FROM people ORDER BY age DESC NULLS LAST, name")
        try expect(
            people.order(Field("age"), nils: .first).limit(.parameter("n")).offset(20),
            is: "SELECT * FROM people ORDER BY age NULLS FIRST LIMIT $n OFFSET 20")
        try expect(
            people.select(Field("age").sum(), Field("age").sum(distinct: true).named("s")),
            is: "SELECT SUM(age), SUM(DISTINCT age) AS s FROM people")
    }

    @Test func `Aggregates and groups`() throws {
        let (age, city) = (Field("age"), Field("city"))
        let grouped = DocumentQuery(from: "people").group(by: city.named("c"), Field("team"))
        try expect(
            grouped.having(age.average() > 30 && city.ofGroup != "x").having(Field("team") != "y")
                .select(
                    Field("c"), age.minimum(), age.maximum().named("b"), age.counted().named("n"),
                    age.counted(distinct: true).named("m"), age.collected().named("all")
                ).order(Field("c")).order(age.sum(), .descending, nils: .last).limit(3).offset(1),
            is: """
                SELECT c, MIN(age), MAX(age) AS b, COUNT(age) AS n, COUNT(DISTINCT age) AS m, ARRAY_AGG(age) AS `all`
                FROM people GROUP BY city AS c, team HAVING AVG(age) > 30 AND city != 'x' AND team != 'y'
                ORDER BY c, SUM(age) DESC NULLS LAST LIMIT 3 OFFSET 1
                """)
        try expect(
            DocumentQuery(from: "people").group().having(Field.rowCount > 1).select(value: age.sum() / 2),
            is: "SELECT RAW SUM(age) / 2 FROM people HAVING COUNT(*) > 1")
    }

    @Test func `What makes no sense is an error with the checker's words`() {
        let people = DocumentQuery(from: "people")
        #expect(fault(of: people.limit(-1)) == "LIMIT is not an integer from 0 on")
        #expect(fault(of: people.crossJoin("people"))?.hasPrefix("two things are named people") == true)
        #expect(fault(of: people.select(Field("a"), Field.rowCount))?.contains("neither in GROUP BY") == true)
    }
}
