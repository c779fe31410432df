import KithQuery
import KithQueryBuilder
import Testing

/// That a query built in Swift is the tree of a text, and prints as one that reads as the same tree.
func expect(
    _ query: some BuiltQuery, is text: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let statement = try query.statement
    #expect(try statement == QueryStatement(parsing: text), "\(statement.sql)", sourceLocation: sourceLocation)
    let sql = try query.sql
    #expect(try statement == QueryStatement(parsing: sql), "\(sql)", sourceLocation: sourceLocation)
}

/// The same of a term, as what a query selects.
func expect<Value, Level>(
    _ term: QueryTerm<Value, Level>, is text: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let query = DocumentQuery(from: "db").select(value: term)
    try expect(query, is: "SELECT RAW (\(text)) FROM db", sourceLocation: sourceLocation)
}

/// The reason why a query can't be.
func fault(of query: some BuiltQuery) -> String? {
    do throws(QueryBuilderError) {
        return "no fault: \(try query.sql)"
    } catch {
        return error.description
    }
}
