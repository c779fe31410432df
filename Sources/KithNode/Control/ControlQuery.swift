import KithDocument
import KithQuery
import KithStore
import KithSystem

/// A query as it is asked over the control socket, and by the command where no node runs.
package struct ControlQuery: Sendable {
    package let text: String
    let parameters: ParameterValues

    /// Reads `{"query": TEXT, "parameters": {NAME: VALUE}}`.
    /// - Throws: `usage` for what is none.
    package init(body: [UInt8]) throws(ControlError) {
        let object: JSONObject
        do throws(DocumentError) { object = try JSONValue(parsing: body).object ?? JSONObject() } catch {
            throw ControlError(.usage, "what is asked can't be read: \(error.message)")
        }
        guard let text = object["query"]?.string else {
            throw ControlError(.usage, #"what is asked is an object: {"query": TEXT, "parameters": {NAME: VALUE}}"#)
        }
        for (name, _) in object where !["query", "parameters"].contains(name) {
            throw ControlError(.usage, "a query has no member \(Shown.name(name)); it has query and parameters")
        }
        let values = object["parameters"] ?? .object(JSONObject())
        guard let named = values.object else {
            throw ControlError(.usage, "the parameters of a query are an object: {NAME: VALUE}")
        }
        try self.init(text, parameters: named)
    }

    /// - Parameter parameters: by their names without `$`; those by number have one from 1 on.
    /// - Throws: `usage` where the numbers have gaps.
    package init(_ text: String, parameters: JSONObject) throws(ControlError) {
        self.text = text
        var positional: [Int: JSONValue] = [:]
        for (name, value) in parameters { if let number = Int(name), number > 0 { positional[number] = value } }
        let numbers = 1..<(positional.count + 1)
        guard numbers.allSatisfy({ positional[$0] != nil }) else {
            throw ControlError(.usage, "parameters by number are 1, 2 and so on, without gaps")
        }
        self.parameters = ParameterValues(parameters, positional: numbers.compactMap { positional[$0] })
    }

    /// Asks the query and tells its answer, a line of docs/control.md each, with its end.
    /// - Parameters:
    ///   - isUnwanted: asked every few milliseconds of work; true ends it.
    ///   - tell: false ends it.
    /// - Throws: `StoreError` as `StoreReader.query` and `QueryCursor.next`.
    func answer(
        by reader: StoreReader, isUnwanted: @escaping () -> Bool, tell: ([UInt8]) -> Bool
    ) throws(StoreError) {
        let query = try reader.prepare(text)
        let now = SystemClock().wallMilliseconds
        let cursor = try reader.query(
            query, parameters: parameters, now: now, offset: LocalTime.offsetMinutes(at: now),
            bounds: QueryBounds(isUnwanted: isUnwanted))
        defer { cursor.close() }
        // What is wrong with the first row is told as what is wrong with the query: by an error, and not after a line.
        var next = try cursor.next()
        guard tell(Self.columns(query.checked)) else { return }
        while let row = next {
            guard tell(Self.line(row)) else { return }
            next = try cursor.next()
        }
    }

    private static func columns(_ query: CheckedQuery) -> [UInt8] {
        var object = JSONObjectWriter()
        switch query.statement.selection {
        case .raw: object.add("columns", json: nil)
        case .columns: object.add("columns", strings: query.columnNames.filter { !$0.isEmpty })
        }
        return object.bytes + newline
    }

    private static func line(_ row: QueryRow) -> [UInt8] {
        var object = JSONObjectWriter()
        object.add("row", json: row.value.element.canonicalBytes)
        return object.bytes + newline
    }
}

extension QueryExplanation {
    /// One JSON object.
    package var json: [UInt8] {
        var object = JSONObjectWriter()
        object.add("sql", sql)
        object.add("plan", strings: plan)
        object.add("indexes", strings: indexes)
        object.add("suggestion", strings: suggestion)
        object.add("notes", strings: notes)
        return object.bytes
    }
}

extension IndexListing {
    /// One JSON object: the definition, when it was made and last used, and its size.
    package var json: [UInt8] { json(of: definition.json.object ?? JSONObject()) }

    /// The same with the definition covered.
    func json(covering definition: JSONObject) -> [UInt8] { json(of: definition) }

    private func json(of definition: JSONObject) -> [UInt8] {
        var object = definition
        object["created_at"] = .string(Timestamp.text(ofMilliseconds: created))
        object["last_used_at"] = lastUsed.map { .string(Timestamp.text(ofMilliseconds: $0)) } ?? .null
        object["bytes"] = bytes.map { .number($0) } ?? .null
        return JSONValue.object(object).canonicalBytes
    }
}

extension IndexDefinition {
    /// Reads a definition as the control interface takes it.
    /// - Throws: `usage` for what is none; `invalid` with the place in the expression that is wrong.
    package init(named name: String, body: [UInt8]) throws(ControlError) {
        let given: JSONObject
        do throws(DocumentError) { given = try JSONValue(parsing: body).object ?? JSONObject() } catch {
            throw ControlError(.usage, "the definition of index \(Shown.name(name)) can't be read: \(error.message)")
        }
        var object = given
        object["name"] = .string(name)
        do throws(QueryError) { try self.init(json: .object(object)) } catch {
            throw ControlError(.invalid, "index \(Shown.name(name)): \(error.message)")
        }
        // What was not understood must not be left out in silence.
        let taken = json.object ?? JSONObject()
        for (member, value) in given where member != "name" {
            guard let mine = taken[member], mine.array?.count == value.array?.count else {
                throw ControlError(
                    .usage, "the definition of index \(Shown.name(name)) has no member \(Shown.name(member)) like that")
            }
        }
    }
}

private let newline = [UInt8(ascii: "\n")]
