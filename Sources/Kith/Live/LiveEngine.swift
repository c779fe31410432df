import KithDocument
import KithNode
import KithQuery
import KithStore
import Synchronization

/// What one reader of a live query has been given, and how that is brought up to date.
///
/// Documents that have changed are read from the feed. Where each row follows from one document their rows are made anew and
/// put in their places; else the query is run again, if one of them may have part in the result, or had.
final class LiveEngine<Row: Sendable>: Sendable {
    /// Rows with what is known of each, at equal places.
    private struct Items {
        var entries: [LiveEntry] = []
        var rows: [Row] = []
    }

    private struct State {
        /// Up to where the documents were looked at; nil before the first result, and after a failure.
        var moment: DatabaseMoment?
        /// Whether the items are the result of that moment.
        var isWhole = false
        var items = Items()
        var hasResult = false
        var nextExpiry: Int64?
        /// Hashes of the ids of the documents that have part; nil where any may have.
        var participants: Set<Int>?
    }

    private let plan: LivePlan
    private let parameters: ParameterValues
    private let runs: LiveRuns
    private let decode: @Sendable (KithDocument.JSONValue) throws(KithError) -> Row
    private let state = Mutex(State())

    init(
        _ plan: LivePlan, _ parameters: ParameterValues, _ runs: LiveRuns,
        _ decode: @escaping @Sendable (KithDocument.JSONValue) throws(KithError) -> Row
    ) {
        self.plan = plan
        self.parameters = parameters
        self.runs = runs
        self.decode = decode
    }

    /// Up to where it has looked; nil where it has to at once.
    var moment: DatabaseMoment? { state.withLock(\.moment) }

    /// When the first of its documents expires, in milliseconds since 1970.
    var nextExpiry: Int64? { state.withLock(\.nextExpiry) }

    /// The result has to be made, as after a failure or of another file.
    func forget() { state.withLock { $0.moment = nil } }

    /// Brings the result up to the moment that the reader sees.
    /// - Parameter moment: of the database, before that.
    /// - Returns: nil where it is as it was.
    func update(_ access: ReadAccess, since moment: DatabaseMoment) throws -> LiveResult<Row>? {
        let reader = try access.reader()
        return try state.withLock { state in
            let before = state.isWhole ? state.moment : nil
            // Whatever fails, the next time all is made anew.
            (state.moment, state.isWhole) = (nil, false)
            let sequence = try Database.store { () throws(StoreError) in try reader.summary().position.sequence }
            let now = DatabaseMoment(sequence: sequence, purges: moment.purges)
            let items: Items?
            do { items = try self.items(&state, before, access, reader, moment) } catch let error as KithError
                where error.code == .decoding
            {
                // It does not decode before something has changed.
                state.moment = now
                throw error
            }
            (state.moment, state.isWhole) = (now, true)
            guard let items else { return nil }
            let difference = RowDifference(from: state.items.entries, to: items.entries)
            state.items = items
            state.nextExpiry = items.entries.reduce(nil) { first, entry in
                entry.expires.map { min(first ?? $0, $0) } ?? first
            }
            defer { state.hasResult = true }
            if state.hasResult, difference.isEmpty { return nil }
            return LiveResult(rows: items.rows, difference: difference, sequence: sequence)
        }
    }

    /// Nil where nothing has changed.
    private func items(
        _ state: inout State, _ before: DatabaseMoment?, _ access: ReadAccess, _ reader: StoreReader,
        _ moment: DatabaseMoment
    ) throws -> Items? {
        // What was purged is not in the feed.
        guard let before, before.purges == moment.purges else { return try run(&state, access) }
        if plan.isByDocument {
            let context = Self.context
            guard let changes = try? changes(to: state.items.entries, after: before.sequence, reader, context) else {
                return try run(&state, access)
            }
            return changes.isEmpty ? nil : try merged(state.items, changes)
        }
        return try isConcerned(state, after: before.sequence, reader) ? try run(&state, access) : nil
    }

    private static var context: FunctionContext {
        let time = RunnableQuery.time
        return FunctionContext(now: time.now, offset: time.offset)
    }

    // MARK: Running

    private func run(_ state: inout State, _ access: ReadAccess) throws -> Items {
        runs.add()
        var items = Items()
        var seen: [[UInt8]: Int] = [:]
        try RunnableQuery(plan.query, parameters).forEachRow(by: access) { row in
            let row = plan.row(row)
            // Of rows that nothing tells apart the first is the first.
            let number = plan.isByDocument ? 0 : seen[row.identity, default: 0]
            if !plan.isByDocument { seen[row.identity] = number + 1 }
            items.entries.append(entry(row, number))
            items.rows.append(try decode(row.value))
        }
        // They come in this order.
        assert(!plan.isByDocument || zip(items.entries, items.entries.dropFirst()).allSatisfy { $0.precedes($1) })
        state.participants = try participants(of: items.entries, access)
        return items
    }

    private func entry(_ row: LivePlan.Row, _ number: Int = 0) -> LiveEntry {
        var hasher = Hasher()
        row.value.canonicalBytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        return LiveEntry(
            identity: number == 0 ? row.identity : row.identity + [0] + Array("\(number)".utf8),
            hash: hasher.finalize(), place: row.place, expires: row.expires)
    }

    private func participants(of entries: [LiveEntry], _ access: ReadAccess) throws -> Set<Int>? {
        if plan.isByDocument || plan.conditions == nil { return nil }
        if plan.participants.isEmpty { return Set(entries.map { $0.identity.hashValue }) }
        var participants: Set<Int> = []
        for query in plan.participants {
            for id in try RunnableQuery(query, parameters).values(by: access).compactMap(\.string) {
                participants.insert(Array(id.utf8).hashValue)
                // Of so many any change may concern one.
                if participants.count > Limits.liveParticipants { return nil }
            }
        }
        return participants
    }

    // MARK: Changes

    private func pages(
        after sequence: UInt64, _ reader: StoreReader, _ body: ([ChangedDocument]) throws -> Bool
    ) throws {
        var sequence = sequence
        while true {
            let after = sequence
            let page = try Database.store { () throws(StoreError) in
                try reader.changedDocuments(after: after, limit: Limits.livePage)
            }
            guard try body(page.documents), !page.isAll else { return }
            sequence = page.through
        }
    }

    /// Whether one of the documents that have changed may have part in the result, or had.
    private func isConcerned(_ state: State, after sequence: UInt64, _ reader: StoreReader) throws -> Bool {
        let context = Self.context
        var isConcerned = false
        try pages(after: sequence, reader) { page in
            isConcerned = page.contains { changed in
                guard plan.conditions != nil, let participants = state.participants else {
                    return plan.conditions?.isEmpty != true
                }
                if participants.contains(Array(changed.id.string.utf8).hashValue) { return true }
                guard let document = changed.document else { return false }
                // What can't be asked of it shows when the query is run.
                return (try? plan.concerns(document, parameters, context)) ?? true
            }
            return !isConcerned
        }
        return isConcerned
    }

    private struct Changes {
        /// Documents that had rows.
        var gone: Set<[UInt8]> = []
        var rows: [LivePlan.Row] = []

        var isEmpty: Bool { gone.isEmpty && rows.isEmpty }
    }

    private func changes(
        to entries: [LiveEntry], after sequence: UInt64, _ reader: StoreReader, _ context: FunctionContext
    ) throws -> Changes {
        var changes = Changes()
        for entry in entries where (entry.expires ?? .max) <= context.now { changes.gone.insert(entry.identity) }
        try pages(after: sequence, reader) { page in
            if page.isEmpty { return true }
            let ids = Set(page.map { Array($0.id.string.utf8) })
            for entry in entries where ids.contains(entry.identity) { changes.gone.insert(entry.identity) }
            changes.rows += try plan.rows(of: page.compactMap(\.document), parameters, context)
                .filter { ($0.expires ?? .max) > context.now }
            return true
        }
        return changes
    }

    private func merged(_ items: Items, _ changes: Changes) throws -> Items {
        var new: [(entry: LiveEntry, row: Row)] = []
        for row in changes.rows { new.append((entry(row), try decode(row.value))) }
        new.sort { $0.entry.precedes($1.entry) }
        var merged = Items()
        merged.entries.reserveCapacity(items.entries.count + new.count)
        merged.rows.reserveCapacity(items.entries.count + new.count)
        var rest = new[...]
        // Rows that stay are taken by runs.
        var start = 0
        func take(upTo end: Int) {
            merged.entries += items.entries[start..<end]
            merged.rows += items.rows[start..<end]
            start = end
        }
        for (index, entry) in items.entries.enumerated() {
            while let next = rest.first, next.entry.precedes(entry) {
                take(upTo: index)
                merged.entries.append(next.entry)
                merged.rows.append(next.row)
                rest.removeFirst()
            }
            if !changes.gone.isEmpty, changes.gone.contains(entry.identity) {
                take(upTo: index)
                start = index + 1
            }
        }
        take(upTo: items.entries.count)
        merged.entries += rest.map(\.entry)
        merged.rows += rest.map(\.row)
        return merged
    }
}

/// How often a live query was run.
final class LiveRuns: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add() { count.add(1, ordering: .relaxed) }
}
