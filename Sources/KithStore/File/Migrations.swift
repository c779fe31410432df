import KithSystem

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// One change of the format, from a version to the next.
package struct Migration: Sendable {
    /// Runs within a transaction and changes tables and rows; it must not end the transaction, nor set the version.
    let run: @Sendable (Connection) throws(StoreError) -> Void

    init(_ run: @escaping @Sendable (Connection) throws(StoreError) -> Void) { self.run = run }

    /// A change that is statements of SQL and nothing else.
    package init(_ statements: String) { run = { (connection) throws(StoreError) in try connection.run(statements) } }
}

/// The changes of the format since the oldest version that is read, in their order: the whole table of them.
///
/// To change the format: change `Schema` as new files have it, and add the step that makes it of the version before.
package struct Migrations: Sendable {
    /// The oldest version that is read; the first step begins there.
    let oldest: Int64
    let steps: [Migration]

    /// The version that the steps end with: that of new files.
    var version: Int64 { oldest + Int64(steps.count) }

    package static let current = Migrations(oldest: 1, steps: [])

    package init(oldest: Int64, steps: [Migration]) {
        self.oldest = oldest
        self.steps = steps
    }

    /// Brings a file to the present version. A copy of it as it was is made first and kept beside it, as
    /// `NAME.sqlite3.before-N` with N the version it had; one such copy is kept, the latest. All steps are one
    /// transaction: whatever fails leaves the file as it was, for this program and for the one before.
    /// - Throws: `StoreError` with what failed; what the disk gives.
    /// - Complexity: O(size of the file).
    func run(on connection: Connection, from version: Int64, _ file: DatabaseFile) throws(StoreError) {
        try keepCopy(of: connection, version, file)
        do throws(StoreError) {
            try connection.run("BEGIN IMMEDIATE")
            for step in steps[Int(version - oldest)...] { try step.run(connection) }
            try connection.run("PRAGMA user_version=\(self.version); COMMIT")
        } catch {
            if connection.isInTransaction { try? connection.run("ROLLBACK") }
            throw StoreError(
                error.code, file.path,
                "\(file.shortName) stays in format \(version): the step to \(self.version) failed: \(error.message)",
                sqliteCode: error.sqliteCode)
        }
        for old in Self.copies(of: file) where old != Self.copyPath(of: file, version) { file.fileSystem.discard(old) }
    }

    private func keepCopy(
        of connection: Connection, _ version: Int64, _ file: DatabaseFile
    ) throws(StoreError) {
        let (copy, aside) = (Self.copyPath(of: file, version), Self.copyPath(of: file, version) + ".new")
        file.fileSystem.discard(aside)
        do throws(StoreError) {
            try connection.copy(to: aside, on: file.fileSystem)
            try file.fileSystem.requireDurable(file: aside)
            try file.fileSystem.requireRenamed(aside, to: copy)
            try file.fileSystem.requireDurable(directory: file.directory)
        } catch {
            file.fileSystem.discardDatabase(aside)
            throw StoreError(
                error.code, file.path,
                "\(file.shortName) stays in format \(version): no copy could be made before the change: \(error.message)",
                sqliteCode: error.sqliteCode)
        }
    }

    static func copyPath(of file: DatabaseFile, _ version: Int64) -> String { file.aside("before-\(version)") }

    /// The copies that are kept of a database, and unfinished ones.
    static func copies(of file: DatabaseFile) -> [String] {
        let start = file.asideName("before-")
        let names = (try? file.fileSystem.names(in: file.directory)) ?? []
        return names.filter { $0.hasPrefix(start) }.map { "\(file.directory)/\($0)" }
    }
}
