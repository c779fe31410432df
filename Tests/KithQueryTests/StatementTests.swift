import KithDocument
import KithQuery
import KithTestSupport
import Testing

/// Whole queries over a few documents.
@Suite struct StatementTests {
    private static let people = [
        #"{"name":"Ada","age":36,"city":{"name":"London"},"tags":["math","poet"],"boss":null}"#,
        #"{"name":"Bob","age":41,"city":{"name":"Paris"},"tags":[],"boss":"p1"}"#,
        #"{"name":"bea","age":41,"city":{"name":"London"},"tags":["poet"],"boss":"p1"}"#,
        #"{"name":"Cem","age":"unknown","tags":"math"}"#,
        #"{"name":"Dan","age":null,"city":{},"tags":["math","math"],"boss":"p9"}"#,
    ]

    private func documents(_ name: String) throws(QueryError) -> [QueryDocument] {
        guard name == "people" else { throw .running("there is no source named \(name)") }
        return Self.people.enumerated().map { index, text in
            QueryDocument(
                DocumentMetadata(id: "p\(index + 1)", revision: "1-a", sequence: UInt64(index + 1), edited: 1000),
                try! JSONValue(parsing: text).object!)
        }
    }

    private func result(
        _ text: String, _ parameters: ParameterValues = ParameterValues()
    ) throws -> String {
        let query = try QueryStatement(parsing: text).checked()
        let rows = try QueryEvaluator(parameters: parameters).rows(of: query, documents: documents)
        return rows.map { $0.value.json?.description ?? "MISSING" }.joined(separator: " ")
    }

    @Test(arguments: [
        ("SELECT RAW name FROM people WHERE age = 41", #""Bob" "bea""#),
        ("SELECT RAW name FROM people WHERE age != 41", #""Ada" "Cem""#),
        ("SELECT RAW name FROM people WHERE NOT age = 41", #""Ada" "Cem""#),
        ("SELECT RAW name FROM people WHERE city IS MISSING OR age IS NULL", #""Cem" "Dan""#),
        (
            "SELECT name, city.name AS city FROM people LIMIT 2 OFFSET 2",
            #"{"city":"London","name":"bea"} {"name":"Cem"}"#
        ),
        ("SELECT RAW name FROM people ORDER BY name", #""Ada" "Bob" "Cem" "Dan" "bea""#),
        ("SELECT RAW name FROM people ORDER BY name COLLATE NOCASE DESC", #""Dan" "Cem" "Bob" "bea" "Ada""#),
        ("SELECT RAW name FROM people ORDER BY age, name DESC", #""Dan" "Ada" "bea" "Bob" "Cem""#),
        ("SELECT RAW name FROM people ORDER BY boss NULLS LAST, name", #""Bob" "bea" "Dan" "Cem" "Ada""#),
        ("SELECT RAW name FROM people ORDER BY boss DESC NULLS FIRST, name", #""Ada" "Cem" "Dan" "Bob" "bea""#),
        ("SELECT DISTINCT city.name FROM people", #"{"name":"London"} {"name":"Paris"} {}"#),
        ("SELECT RAW tag FROM people UNNEST tags AS tag", #""math" "poet" "poet" "math" "math""#),
        (
            "SELECT p.name, tag FROM people AS p LEFT UNNEST p.tags AS tag WHERE tag IS MISSING",
            #"{"name":"Bob"} {"name":"Cem"}"#
        ),
        (
            "SELECT city.name AS city, COUNT(*) AS n, AVG(age) AS age FROM people GROUP BY city.name ORDER BY n DESC, city",
            #"{"age":null,"n":2} {"age":38.5,"city":"London","n":2} {"age":41,"city":"Paris","n":1}"#
        ),
        (
            "SELECT COUNT(*), COUNT(age), COUNT(DISTINCT age), SUM(age), MIN(age), MAX(age) FROM people",
            #"{"$1":5,"$2":4,"$3":3,"$4":118,"$5":36,"$6":"unknown"}"#
        ),
        ("SELECT COUNT(*) AS n, ARRAY_AGG(name) AS names FROM people WHERE FALSE", #"{"n":0,"names":[]}"#),
        ("SELECT name FROM people WHERE FALSE GROUP BY name", ""),
        (
            "SELECT tag, ARRAY_AGG(DISTINCT p.name) AS names FROM people p UNNEST p.tags tag GROUP BY tag HAVING COUNT(*) > 2",
            #"{"names":["Ada","Dan"],"tag":"math"}"#
        ),
        (
            "SELECT p.name, b.name AS boss FROM people p JOIN people b ON p.boss = META(b).id",
            #"{"boss":"Ada","name":"Bob"} {"boss":"Ada","name":"bea"}"#
        ),
        (
            "SELECT p.name, b.name AS boss, META(b).id FROM people p LEFT JOIN people b ON p.boss = META(b).id ORDER BY p.name LIMIT 2",
            #"{"name":"Ada"} {"boss":"Ada","id":"p1","name":"Bob"}"#
        ),
        ("SELECT COUNT(*) AS n FROM people a CROSS JOIN people b", #"{"n":25}"#),
        ("SELECT META().id, META().sequence, META().expires FROM people LIMIT 1", #"{"id":"p1","sequence":1}"#),
        (
            "SELECT * FROM people p WHERE p.name = 'Bob'",
            #"{"p":{"age":41,"boss":"p1","city":{"name":"Paris"},"name":"Bob","tags":[]}}"#
        ),
        (
            "SELECT p.*, 1 AS one FROM people p WHERE p.name = 'Cem'",
            #"{"age":"unknown","name":"Cem","one":1,"tags":"math"}"#
        ),
        (
            "SELECT RAW first FROM people LET first = SUBSTR(name, 0, 1), low = LOWER(first) WHERE low = 'b'",
            #""B" "b""#
        ), ("SELECT RAW name FROM people WHERE ANY t IN tags SATISFIES t = 'poet' END", #""Ada" "bea""#),
        (
            "SELECT UPPER(name) AS n, COUNT(*) FROM people GROUP BY SUBSTR(LOWER(name), 0, 1) AS c, UPPER(name) HAVING c = 'b' ORDER BY n",
            #"{"$2":1,"n":"BEA"} {"$2":1,"n":"BOB"}"#
        ),
        (
            "SELECT c.name, COUNT(*) AS n FROM people GROUP BY city AS c HAVING c.name IS VALUED ORDER BY n DESC",
            #"{"n":2,"name":"London"} {"n":1,"name":"Paris"}"#
        ),
        (
            "SELECT name COLLATE NOCASE AS n, COUNT(*) FROM people GROUP BY SUBSTR(name, 0, 1) COLLATE NOCASE, name COLLATE NOCASE LIMIT 1",
            #"{"$2":1,"n":"Ada"}"#
        ),
        ("SELECT 1 + 1 AS two", #"{"two":2}"#), ("SELECT RAW name FROM people WHERE tags", ""),
        ("SELECT RAW EVERY t IN tags SATISFIES t = 'math' END FROM people", "false true false null true"),
    ]) func gives(text: String, expected: String) throws {
        #expect(try result(text) == expected, "\(text)")
    }

    @Test func parametersAreValues() throws {
        let values = ParameterValues(["name": "' OR TRUE --", "n": 1], positional: ["Ada", 41])
        #expect(try result("SELECT RAW name FROM people WHERE name = $name", values) == "")
        #expect(try result("SELECT RAW name FROM people WHERE name = ? OR age = ?", values) == #""Ada" "Bob" "bea""#)
        #expect(try result("SELECT RAW name FROM people LIMIT $n", values) == #""Ada""#)
        #expect(throws: QueryError.text("the parameter $none has no value", line: 1, column: 39)) {
            try result("SELECT RAW name FROM people WHERE a = $none", values)
        }
        #expect(throws: QueryError.text("LIMIT is not an integer from 0 on", line: 1, column: 35)) {
            try result("SELECT RAW name FROM people LIMIT $name", values)
        }
        #expect(throws: QueryError.running("there is no source named t")) { try result("SELECT 1 FROM t") }
    }

    /// Queries that make sense, over random documents: a result or an error, never a trap, and LIMIT cuts the same rows.
    @Test(arguments: 0..<20) func randomQueriesDontTrap(seed: UInt64) throws {
        var trees = RandomTrees(seed: seed)
        trees.functions.removeAll { $0 == "NOPE" }
        trees.names = ["a", "b", "c"]
        var all: [QueryDocument] = []
        for index in 0..<6 {
            let body = JSONObject(["a", "b", "c"].map { ($0, trees.values.json(depth: 2)) })
            all.append(QueryDocument(DocumentMetadata(id: "\(index)"), body))
        }
        let parameters = ParameterValues(["p": 1], positional: [1, "a", .null])
        var count = 0
        for _ in 0..<300 {
            guard let query = try? trees.statement().checked() else { continue }
            let documents = all
            if (try? QueryEvaluator(parameters: parameters).rows(of: query, documents: { _ in documents })) != nil {
                count += 1
            }
        }
        #expect(count > 0)
    }
}
