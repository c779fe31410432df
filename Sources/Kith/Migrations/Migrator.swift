import KithNode

/// Brings the documents of a database from what earlier versions of a program made of them to what this one wants.
///
///     var migrator = Migrator()
///     migrator.add("tags") { batch in ... }
///     migrator.addForEach("status") { document in
///         guard let done = document.bool("done") else { return }
///         document["status"] = done ? "completed" : "pending"
///         document["done"] = nil
///     }
///     try await migrator.migrate(database)
///
/// Each step runs once in a database, in the order in which they were added, all that are due in one transaction: when one
/// throws nothing was changed. Which ones have run is kept in the database, and goes along with a copy of it; it does not
/// replicate. Nodes that run the same step apart write the same revisions, where they had the same before and the step makes
/// the same of it: it should ask for no time, no chance and no setting. docs/migrations.md says how to change a step's documents
/// under nodes that have an older version of the program.
public struct Migrator: Sendable {
    private struct Step: Sendable {
        let name: String
        let change: @Sendable (WriteBatch) throws -> Void
    }

    private var steps: [Step] = []

    /// One without steps.
    public init() {}

    /// Adds a step.
    /// - Parameters:
    ///   - name: 1 to 128 bytes, another for each step. It stays what it is once the step was shipped, and the step stays in its
    ///     place: later ones are added behind it.
    ///   - change: what is to be done. The batch excludes all other writers until all steps are through.
    public mutating func add(_ name: String, _ change: @escaping @Sendable (WriteBatch) throws -> Void) {
        steps.append(Step(name: name, change: change))
    }

    /// Adds a step that is given each document that lives, by ascending id; those that it changes are saved. Of a document in
    /// conflict that is the revision that a plain read gives.
    public mutating func addForEach(
        _ name: String, _ change: @escaping @Sendable (inout Document) throws -> Void
    ) {
        add(name) { batch in
            var last: String?
            while true {
                let page = try batch.documents(after: last, limit: Limits.migrationPage)
                for var document in page {
                    let id = document.id
                    try change(&document)
                    try document.requireID(id)
                    if document.isChanged { try batch.save(document, .replace) }
                }
                guard page.count == Limits.migrationPage else { return }
                last = page.last?.id
            }
        }
    }

    /// Runs the steps that are due. On disk when this returns.
    /// - Returns: the names of the steps that ran.
    /// - Throws: `MigrationError` with what a step threw; `KithError`: `newerFile` where the database has a step that this
    ///   migrator does not know, `invalid` for steps that are named twice or were put before one that has run, `forbidden` on a
    ///   node that only reads, where a step writes; what the disk gives. Nothing was changed then.
    @discardableResult
    public func migrate(_ database: Database) async throws -> [String] {
        guard try await !due(in: database).isEmpty else { return [] }
        return try await database.write { try run(in: $0, database.name) }
    }

    /// The same, blocking.
    @discardableResult
    public func migrate(_ database: Database) throws -> [String] {
        guard try !due(in: database).isEmpty else { return [] }
        return try database.write { try run(in: $0, database.name) }
    }

    /// The names of the steps that have not run, in their order.
    /// - Throws: as `migrate`.
    public func due(in database: Database) async throws -> [String] {
        try await database.read { try due($0.migrationsDone(), database.name).map(\.name) }
    }

    /// The same, blocking.
    public func due(in database: Database) throws -> [String] {
        try database.read { try due($0.migrationsDone(), database.name).map(\.name) }
    }

    private func run(in batch: WriteBatch, _ database: String) throws -> [String] {
        let done = try batch.migrationsDone()
        let due = try due(done, database)
        for step in due {
            batch.migration = step.name
            defer { batch.migration = nil }
            do { try step.change(batch) } catch { throw MigrationError(step: step.name, error: error) }
        }
        let names = due.map(\.name)
        if !names.isEmpty { try batch.noteMigrations(done + names) }
        return names
    }

    private func due(_ done: [String], _ database: String) throws(KithError) -> [Step] {
        var names: Set<String> = []
        for step in steps {
            guard !step.name.isEmpty, step.name.utf8.count <= Limits.migrationNameBytes, !step.name.contains("\0")
            else {
                throw KithError(
                    .invalid, Shown.name(step.name),
                    "the name of a migration's step has 1 to \(Limits.migrationNameBytes) bytes, and no NUL")
            }
            guard names.insert(step.name).inserted else {
                throw KithError(.invalid, Shown.name(step.name), "two steps of the migration have this name")
            }
        }
        if let unknown = done.first(where: { !names.contains($0) }) {
            throw KithError(
                .newerFile, database,
                "a newer version of the program has migrated \(database) by the step '\(Shown.name(unknown))': start that one"
            )
        }
        let due = steps.filter { !done.contains($0.name) }
        guard let first = due.first, let last = done.last, let place = steps.firstIndex(where: { $0.name == last }),
            let before = steps[..<place].first(where: { $0.name == first.name })
        else { return due }
        throw KithError(
            .invalid, Shown.name(before.name),
            "the step stands before '\(Shown.name(last))', which has run in \(database): add new steps behind all others"
        )
    }
}

/// A step of a migration threw; nothing was changed.
public struct MigrationError: Error, CustomStringConvertible {
    /// The step's name.
    public let step: String
    /// What it threw.
    public let error: any Error

    /// One sentence: which step, and what it threw.
    public var description: String { "the step '\(Shown.name(step))' failed, and nothing was changed: \(error)" }
}
