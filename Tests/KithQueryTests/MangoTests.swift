import KithDocument
import KithQuery
import KithTestSupport
import Testing

/// Mango selectors against what CouchDB's matching gives, written down again as a plain matcher.
@Suite struct MangoTests {
    private func fits(_ selector: JSONValue, _ body: JSONValue) throws -> Bool {
        try QueryEvaluator().isTrue(
            try MangoQuery.filter(selector), of: QueryDocument(DocumentMetadata(id: "x", revision: "1-a"), body.object!)
        )
    }

    @Test(arguments: [
        ("{}", "{}", true), (#"{"a":1}"#, #"{"a":1.0}"#, true), (#"{"a":{"b":1}}"#, #"{"a":{"b":1,"c":2}}"#, true),
        (#"{"a.b":1}"#, #"{"a":{"b":1}}"#, true), (#"{"a\\.b":1}"#, #"{"a.b":1}"#, true),
        (#"{"\\$a":1}"#, #"{"$a":1}"#, true), (#"{"a":{}}"#, #"{"a":{}}"#, true),
        (#"{"a":{}}"#, #"{"a":{"b":1}}"#, false), (#"{"a":[1]}"#, #"{"a":[1]}"#, true),
        (#"{"a":null}"#, #"{"a":null}"#, true), (#"{"a":null}"#, "{}", false),
        (#"{"a":{"$ne":1}}"#, "{}", false), (#"{"a":{"$ne":1}}"#, #"{"a":null}"#, true),
        (#"{"$not":{"a":1}}"#, "{}", false), (#"{"a":{"$lt":1}}"#, #"{"a":null}"#, true),
        (#"{"a":{"$gt":1}}"#, #"{"a":"x"}"#, true),
        (#"{"a":{"$gt":null}}"#, #"{"a":false}"#, true), (#"{"a":{"$gte":null}}"#, #"{"a":null}"#, true),
        (#"{"a":{"$lte":null}}"#, #"{"a":false}"#, false), (#"{"a":{"$gt":1,"$lt":3}}"#, #"{"a":2}"#, true),
        (#"{"a":{"$exists":false}}"#, "{}", true), (#"{"a":{"$exists":true}}"#, #"{"a":null}"#, true),
        (#"{"$not":{"a":{"$exists":true}}}"#, "{}", true), (#"{"a.b":{"$exists":false}}"#, #"{"a":{}}"#, true),
        (#"{"a":{"$in":[1,null]}}"#, #"{"a":null}"#, true), (#"{"a":{"$in":[1,2]}}"#, #"{"a":[3,2]}"#, true),
        (#"{"a":{"$in":[[1]]}}"#, #"{"a":[1]}"#, true), (#"{"a":{"$in":[]}}"#, #"{"a":1}"#, false),
        (#"{"a":{"$nin":[]}}"#, #"{"a":1}"#, true),
        (#"{"a":{"$nin":[1]}}"#, "{}", false), (#"{"a":{"$nin":[1]}}"#, #"{"a":[1]}"#, false),
        (#"{"a":{"$nin":[1]}}"#, #"{"a":null}"#, true), (#"{"a":{"$size":2}}"#, #"{"a":[1,2]}"#, true),
        (#"{"a":{"$size":2}}"#, #"{"a":"ab"}"#, false),
        (#"{"a":{"$mod":[3,1]}}"#, #"{"a":7}"#, true), (#"{"a":{"$mod":[3,1]}}"#, #"{"a":7.5}"#, false),
        (#"{"a":{"$mod":[3,-1]}}"#, #"{"a":-7}"#, true), (#"{"a":{"$regex":"^x+$"}}"#, #"{"a":"xx"}"#, true),
        (#"{"a":{"$not":{"$regex":"^x"}}}"#, #"{"a":5}"#, true),
        (#"{"a":{"$not":{"$regex":"^x"}}}"#, "{}", false), (#"{"a":{"$beginsWith":"x"}}"#, #"{"a":"xy"}"#, true),
        (#"{"a":{"$type":"null"}}"#, #"{"a":null}"#, true), (#"{"a":{"$type":"array"}}"#, #"{"a":[]}"#, true),
        (#"{"a":{"$all":[1,2]}}"#, #"{"a":[2,3,1]}"#, true), (#"{"a":{"$all":[]}}"#, #"{"a":[]}"#, false),
        (#"{"a":{"$all":[[1]]}}"#, #"{"a":[1]}"#, true), (#"{"a":{"$all":[null]}}"#, #"{"a":[null]}"#, true),
        (#"{"a":{"$elemMatch":{"$gte":80,"$lt":85}}}"#, #"{"a":[70,82]}"#, true),
        (#"{"a":{"$elemMatch":{"b":1,"c":2}}}"#, #"{"a":[{"b":1},{"b":1,"c":2}]}"#, true),
        (#"{"a":{"$elemMatch":{"b":{"$elemMatch":{"$eq":1}}}}}"#, #"{"a":[{"b":[1]}]}"#, true),
        (#"{"a":{"$allMatch":{"$gt":1}}}"#, #"{"a":[2,3]}"#, true),
        (#"{"a":{"$allMatch":{"$gt":1}}}"#, #"{"a":[]}"#, false),
        (#"{"a":{"$keyMapMatch":{"$eq":"b"}}}"#, #"{"a":{"b":1}}"#, true),
        (#"{"a":{"$keyMapMatch":{"$eq":"b"}}}"#, #"{"a":["b"]}"#, false),
        (#"{"$or":[{"a":1},{"b":2}]}"#, #"{"b":2}"#, true), (#"{"$nor":[{"a":1},{"b":2}]}"#, #"{"a":2,"b":3}"#, true),
        (#"{"$nor":[{"a":1},{"b":2}]}"#, #"{"a":2}"#, false), (#"{"$or":[]}"#, "{}", true),
        (#"{"$not":{"$or":[]}}"#, "{}", true),
        (#"{"a":{"$or":[{"$lt":1},{"$gt":5},3]}}"#, #"{"a":3}"#, true), (#"{"a.1":5}"#, #"{"a":[4,5]}"#, true),
        (#"{"a.1":5}"#, #"{"a":{"1":5}}"#, true), (#"{"_id":"x"}"#, "{}", true), (#"{"_rev":{"$gt":"1"}}"#, "{}", true),
        (#"{"_deleted":true}"#, "{}", false), (#"{"_deleted":{"$exists":false}}"#, "{}", true),
    ]) func fitsAsInCouchDB(selector: String, body: String, expected: Bool) throws {
        let selector = try JSONValue(parsing: selector)
        let sql = try MangoQuery.condition(selector).sql
        #expect(try fits(selector, try JSONValue(parsing: body)) == expected, "\(selector): \(sql)")
    }

    @Test(arguments: [
        (#"5"#, "selector", "a selector is an object"),
        (#"{"a":{"$gte2":1}}"#, "selector.a.$gte2", "there is no operator $gte2: expected one of"),
        (#"{"$or":[{"a":1},{"b":{"$in":5}}]}"#, "selector.$or[1].b.$in", "$in takes an array"),
        (#"{"$gt":5}"#, "selector.$gt", "$gt needs a field"),
        (#"{"$and":[5]}"#, "selector.$and[0]", "expected an object"),
        (#"{"$and":{}}"#, "selector.$and", "takes an array"),
        (#"{"a":{"$not":5}}"#, "selector.a.$not", "takes an object"),
        (#"{"a":{"$regex":"("}}"#, "selector.a.$regex", "expected )"),
        (#"{"a":{"$mod":[0,1]}}"#, "selector.a.$mod", "not 0"),
        (#"{"a":{"$size":-1}}"#, "selector.a.$size", "from 0 on"),
        (#"{"a":{"$type":"date"}}"#, "selector.a.$type", "one of null, boolean"),
        (#"{"a":{"$exists":1}}"#, "selector.a.$exists", "true or false"), (#"{"a..b":1}"#, "selector.a..b", "is empty"),
        (#"{"_attachments":1}"#, "selector._attachments", "can't be asked for"),
        (#"{"a":{"$text":"x"}}"#, "selector.a.$text", "not supported"),
    ]) func errorsNameThePath(selector: String, path: String, part: String) throws {
        let selector = try JSONValue(parsing: selector)
        do throws(QueryError) {
            _ = try MangoQuery.condition(selector)
            Issue.record("\(selector) was taken")
        } catch {
            guard case .selector(let message, path) = error else {
                Issue.record("\(selector): \(error)")
                return
            }
            #expect(message.contains(part), "\(message)")
        }
    }

    @Test func aQueryIsAStatement() throws {
        let query = try MangoQuery(
            [
                "selector": ["year": ["$gt": 2010]], "fields": ["_id", "title", "by.name"],
                "sort": [["year": "desc"], "title"], "limit": 2, "skip": 1, "use_index": "x",
            ])
        let statement = query.statement(from: "films")
        #expect(
            statement.sql
                == "SELECT RAW {'_id': META(document).id, 'title': document.title, 'by': MISSINGIF({'name': document.by.name}, {})} FROM films AS document WHERE document.year > 2010 ORDER BY document.year DESC, document.title LIMIT 2 OFFSET 1"
                .replacing("document.by.name", with: "document.`by`.name"))
        #expect(try QueryStatement(parsing: statement.sql) == statement)
        let bodies: [JSONValue] = [
            ["year": 2009], ["year": 2011, "title": "B", "by": ["name": "N"]], ["year": 2011, "title": "C"],
            ["year": 2012, "title": "A"],
        ]
        let documents = bodies.enumerated().map { QueryDocument(DocumentMetadata(id: "\($0)"), $1.object!) }
        let rows = try QueryEvaluator().rows(of: try statement.checked(), documents: { _ in documents })
        #expect(
            rows.map { $0.value.json } == [
                ["_id": "1", "title": "B", "by": ["name": "N"]], ["_id": "2", "title": "C"],
            ])
        let whole = try MangoQuery(["selector": [:]]).statement(from: "films")
        #expect(
            try QueryEvaluator().rows(of: try whole.checked(), documents: { _ in [documents[0]] })[0].value.json == [
                "_id": "0", "_rev": "", "year": 2009,
            ])
        for wrong: JSONValue in [
            5, [:], ["selector": [:], "limit": -1], ["selector": [:], "sort": "a"],
            ["selector": [:], "sort": [["a": "up"]]], ["selector": [:], "fields": [5]],
            ["selector": [:], "feilds": []],
        ] {
            #expect(throws: QueryError.self, "\(wrong)") { try MangoQuery(wrong) }
        }
    }

    /// Random selectors over random documents, against the matcher.
    @Test(arguments: 0..<20) func agreesWithAPlainMatcher(seed: UInt64) throws {
        var selectors = RandomSelectors(seed: seed)
        var fitting = 0
        for _ in 0..<200 {
            let selector = selectors.selector(depth: 3)
            let condition = try MangoQuery.condition(selector)
            #expect(try QueryExpression(parsing: condition.sql) == condition)
            let filter = try MangoQuery.filter(selector)
            for _ in 0..<10 {
                let body = selectors.body()
                let expected = MangoModel.matches(selector, body)
                let found = try QueryEvaluator().isTrue(
                    filter, of: QueryDocument(DocumentMetadata(id: "x"), body.object!))
                #expect(found == expected, "\(selector) of \(body): \(condition.sql)")
                fitting += found ? 1 : 0
            }
        }
        #expect(fitting > 20)
    }

    @Test func deepSelectorsAreErrors() {
        var selector: JSONValue = ["a": 1]
        for _ in 0..<400 { selector = ["$not": selector] }
        #expect(throws: QueryError.self) { try MangoQuery.condition(selector) }
        #expect(throws: QueryError.self) {
            try MangoQuery.condition(["$or": .array((0..<6000).map { ["a": .number($0)] })])
        }
        #expect(throws: QueryError.self) { try MangoQuery.condition([String(repeating: "a.", count: 400) + "a": 1]) }
    }
}
