import CSQLite
import KithDocument
import KithQuery

/// The functions of queries on one connection (docs/query.md, "How it is run").
///
/// They depend on their arguments alone, as indexes need it, but for the time of a query that `context` has. None of them
/// fails within SQLite: what can't be evaluated is MISSING, so that a write can't fail for an index on it, and is noted for
/// who reads.
final class QueryFunctions {
    /// Of the query that runs now.
    var context: FunctionContext
    /// Where no query runs: of what is written.
    let idle = FunctionContext()
    /// The first failure since it was last cleared.
    private(set) var failure: QueryError?
    /// Calls so far: how far the building of an index is.
    fileprivate(set) var calls: UInt64 = 0
    private var compiled: [[UInt8]: CompiledExpression] = [:]

    init() { context = idle }

    func clearFailure() { failure = nil }

    func note(_ error: QueryError) { if failure == nil { failure = error } }

    /// Takes expressions that are read already.
    func know(_ expressions: [[UInt8]: QueryExpression]) {
        if expressions.isEmpty { return }
        if compiled.count + expressions.count > Limits.compiledExpressions { compiled.removeAll() }
        for (text, expression) in expressions where compiled[text] == nil {
            compiled[text] = CompiledExpression(expression)
        }
    }

    fileprivate func expression(_ text: UnsafeRawBufferPointer) -> CompiledExpression? {
        let key = Array(text)
        if let known = compiled[key] { return known }
        guard let expression = CompiledExpression(text: String(decoding: key, as: UTF8.self)) else { return nil }
        if compiled.count >= Limits.compiledExpressions { compiled.removeAll() }
        compiled[key] = expression
        return expression
    }

    // Making them known.

    private typealias Call = @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

    /// - Parameter handle: a connection that is closed before this object goes.
    func register(on handle: OpaquePointer) -> Int32 {
        let scalars: [(String, Int32, Call)] = [
            ("kq_get", 2, { FunctionCall($0, $1, $2).get() }), ("kq_json", 2, { FunctionCall($0, $1, $2).json() }),
            ("kq_eval", -1, { FunctionCall($0, $1, $2).evaluate(as: .key) }),
            ("kq_show", -1, { FunctionCall($0, $1, $2).evaluate(as: .json) }),
            ("kq_test", -1, { FunctionCall($0, $1, $2).evaluate(as: .truth) }),
            ("kq_fold", 2, { FunctionCall($0, $1, $2).fold() }), ("kq_value", 1, { FunctionCall($0, $1, $2).value() }),
            ("kq_string", 1, { FunctionCall($0, $1, $2).string(asKey: true) }),
            ("kq_quote", 1, { FunctionCall($0, $1, $2).string(asKey: false) }),
            ("kq_revision", 1, { FunctionCall($0, $1, $2).revision() }),
            ("kq_edited", 2, { FunctionCall($0, $1, $2).edited() }),
            ("kq_words", 1, { FunctionCall($0, $1, $2).words() }),
            ("kq_double", 1, { FunctionCall($0, $1, $2).double() }),
            ("kq_meta", 5, { FunctionCall($0, $1, $2).metadata() }),
        ]
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
        let state = Unmanaged.passUnretained(self).toOpaque()
        for (name, count, call) in scalars {
            let code = sqlite3_create_function_v2(handle, name, count, flags, state, call, nil, nil, nil)
            if code != SQLITE_OK { return code }
        }
        let code = sqlite3_create_function_v2(
            handle, "kq_aggregate", 2, flags, state, nil, { FunctionCall($0, $1, $2).step() },
            { FunctionCall($0, 0, nil).finish() }, nil)
        if code != SQLITE_OK { return code }
        let elements = ArrayElements.register(on: handle)
        return elements == SQLITE_OK ? FullText.register(on: handle) : elements
    }
}

/// An argument that SQLite keeps for the rows of a statement.
private final class KeptValue {
    let value: QueryValue
    init(_ value: QueryValue) { self.value = value }
}

/// One call by SQLite: its arguments and where its result goes.
private struct FunctionCall {
    enum Result {
        case key, json, truth
    }

    let context: OpaquePointer
    let count: Int
    let values: UnsafeMutablePointer<OpaquePointer?>?

    init(_ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?) {
        self.context = context!
        self.count = Int(count)
        self.values = values
    }

    var functions: QueryFunctions {
        Unmanaged<QueryFunctions>.fromOpaque(sqlite3_user_data(context)).takeUnretainedValue()
    }

    /// The bytes of a text or blob, valid during the call; nil for SQL's NULL.
    func bytes(_ index: Int) -> UnsafeRawBufferPointer? {
        guard let value = values?[index], sqlite3_value_type(value) != SQLITE_NULL else { return nil }
        let start = sqlite3_value_blob(value)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
    }

    func giveNothing() { sqlite3_result_null(context) }

    func give(text: [UInt8]) {
        guard let count = count(of: text) else { return }
        text.withUnsafeBytes { kith_result_text_copy(context, $0.baseAddress, count) }
    }

    /// Nil for what is longer than anything that SQLite has, which is noted and MISSING.
    private func count(of bytes: [UInt8]) -> Int32? {
        if let count = Int32(exactly: bytes.count) { return count }
        functions.note(.running("a value of \(bytes.count) bytes is more than SQLite has room for"))
        giveNothing()
        return nil
    }

    func give(key: ValueKey) {
        guard let count = count(of: key.bytes) else { return }
        key.bytes.withUnsafeBytes { kith_result_blob_copy(context, $0.baseAddress, count) }
    }

    func give(json value: QueryValue) {
        guard let json = value.json else { return giveNothing() }
        give(text: json.canonicalBytes)
    }

    // Fields.

    /// Where the value stands that the second argument leads to in the first one.
    private func find() -> UnsafeRawBufferPointer? {
        functions.calls &+= 1
        guard let json = bytes(0), let way = bytes(1), let range = CanonicalJSON.find(way, in: json) else { return nil }
        return UnsafeRawBufferPointer(rebasing: json[range])
    }

    func get() {
        guard let json = find() else { return giveNothing() }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: ValueKey.capacity(ofJSON: json.count)) { buffer in
            let count = ValueKey.write(json: json, to: buffer.baseAddress!)
            kith_result_blob_copy(context, buffer.baseAddress, Int32(count))
        }
    }

    func json() {
        guard let json = find() else { return giveNothing() }
        kith_result_text_copy(context, json.baseAddress, Int32(json.count))
    }

    // Expressions.

    func evaluate(as result: Result) {
        functions.calls &+= 1
        do throws(QueryError) {
            guard let expression = expression() else { throw .running("SQLite asks for what is no expression") }
            var inputs: [QueryValue] = []
            inputs.reserveCapacity(count)
            for index in 1..<max(1, count) { inputs.append(input(index)) }
            let value = try expression.value(inputs, functions.context)
            switch result {
            case .truth: sqlite3_result_int(context, value.isTrue ? 1 : 0)
            case .json: give(json: value)
            case .key: if value.isMissing { giveNothing() } else { give(key: ValueKey(value)) }
            }
        } catch {
            functions.note(error)
            giveNothing()
        }
    }

    /// An argument as a value. What is long and the same for all rows, as a parameter is, is kept by SQLite: of `x IN $list` the
    /// list is read once.
    private func input(_ index: Int) -> QueryValue {
        guard let json = bytes(index) else { return .missing }
        if json.count < Limits.keptArgumentBytes { return QueryValue(JSONValue(canonical: json) ?? .null) }
        if let kept = sqlite3_get_auxdata(context, Int32(index)) {
            return Unmanaged<KeptValue>.fromOpaque(kept).takeUnretainedValue().value
        }
        let value = QueryValue(JSONValue(canonical: json) ?? .null)
        sqlite3_set_auxdata(context, Int32(index), Unmanaged.passRetained(KeptValue(value)).toOpaque()) {
            if let kept = $0 { Unmanaged<KeptValue>.fromOpaque(kept).release() }
        }
        return value
    }

    /// The first argument, kept by SQLite for the rows of a statement.
    private func expression() -> CompiledExpression? {
        if let kept = sqlite3_get_auxdata(context, 0) {
            return Unmanaged<CompiledExpression>.fromOpaque(kept).takeUnretainedValue()
        }
        guard count > 0, let text = bytes(0), let expression = functions.expression(text) else { return nil }
        sqlite3_set_auxdata(context, 0, Unmanaged.passRetained(expression).toOpaque()) {
            if let kept = $0 { Unmanaged<CompiledExpression>.fromOpaque(kept).release() }
        }
        return expression
    }

    func fold() {
        functions.calls &+= 1
        guard let key = bytes(0), let code = values?[1] else { return giveNothing() }
        give(key: QueryCollation(code: Int(sqlite3_value_int(code))).folded(ValueKey(bytes: Array(key))))
    }

    func value() {
        guard let key = bytes(0) else { return giveNothing() }
        give(json: ValueKey(bytes: Array(key)).value ?? .missing)
    }

    // What stands in columns.

    func string(asKey: Bool) {
        functions.calls &+= 1
        guard let text = bytes(0) else { return giveNothing() }
        let value = QueryValue.string(String(decoding: text, as: UTF8.self))
        if asKey { give(key: ValueKey(value)) } else { give(json: value) }
    }

    private func revision(_ index: Int) -> RevisionID? { bytes(index).flatMap { RevisionID(column: Array($0)) } }

    func revision() { give(json: revision(0).map { .string($0.description) } ?? .missing) }

    /// When the revision was edited: the highest time in its version.
    private func edited(tree: Int, _ revision: RevisionID?) -> Int64? {
        guard let bytes = bytes(tree), let revision, let tree = try? RevisionTree(encoded: Array(bytes)) else {
            return nil
        }
        return tree.version(of: revision).map { Stamp.milliseconds(ofTime: $0.highestTime) }
    }

    func edited() { give(json: edited(tree: 0, revision(1)).map { .number($0) } ?? .missing) }

    func metadata() {
        guard let id = bytes(0), let sequence = values?[2] else { return giveNothing() }
        let revision = revision(1)
        let metadata = DocumentMetadata(
            id: String(decoding: id, as: UTF8.self), revision: revision?.description ?? "",
            sequence: UInt64(bitPattern: sqlite3_value_int64(sequence)),
            expires: bytes(4).flatMap { Int64(String(decoding: $0, as: UTF8.self)) },
            edited: edited(tree: 3, revision))
        give(json: metadata.value)
    }

    // Full text.

    func words() {
        guard let json = bytes(0), let words = JSONValue(canonical: json).flatMap({ IndexedText.words(of: $0) }) else {
            return giveNothing()
        }
        give(text: Array(words.utf8))
    }

    func double() {
        guard let value = values?[0] else { return giveNothing() }
        give(json: .number(sqlite3_value_double(value)))
    }

    // Aggregates.

    /// What a group has so far.
    private final class Group {
        var accumulator: AggregateAccumulator

        init(_ kind: AggregateKind) { accumulator = AggregateAccumulator(kind) }
    }

    func step() {
        guard let place = group(creates: true) else { return functions.note(.running("there is no memory left")) }
        if place.pointee == nil {
            guard let code = values?[0], let kind = AggregateKind(code: Int(sqlite3_value_int(code))) else { return }
            place.pointee = Unmanaged.passRetained(Group(kind)).toOpaque()
        }
        guard let json = bytes(1), let value = JSONValue(canonical: json) else { return }
        do throws(QueryError) {
            let group = Unmanaged<Group>.fromOpaque(place.pointee!).takeUnretainedValue()
            try group.accumulator.add(QueryValue(value), size: json.count)
        } catch {
            functions.note(error)
        }
    }

    func finish() {
        guard let place = group(creates: false), let kept = place.pointee else { return giveNothing() }
        let group = Unmanaged<Group>.fromOpaque(kept).takeRetainedValue()
        place.pointee = nil
        give(json: group.accumulator.value)
    }

    /// Where SQLite keeps the group, which is nothing at first.
    private func group(creates: Bool) -> UnsafeMutablePointer<UnsafeMutableRawPointer?>? {
        let size = creates ? Int32(MemoryLayout<UnsafeMutableRawPointer?>.size) : 0
        return sqlite3_aggregate_context(context, size)?
            .assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    }
}
