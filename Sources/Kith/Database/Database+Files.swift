import Dispatch
import KithNode
import KithStore
import KithSystem
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Databases as wholes: which there are, copies, deleting, compacting, checking.

extension Database {
    /// The names of the databases in a folder, ascending.
    public static func names(in folder: URL) throws(KithError) -> [String] {
        try store { () throws(StoreError) in try DatabaseFolder(folder.path).names().map(\.string) }
    }

    /// Whether there is a database of that name in a folder.
    public static func exists(_ name: String, in folder: URL) -> Bool {
        (try? names(in: folder).contains(name)) ?? false
    }

    /// Removes a database that nobody has open from this machine, for good. Nothing is deleted on other nodes, and a node in
    /// this folder carries it no more. Blocks.
    /// - Returns: false where there is none.
    /// - Throws: `KithError`: `inUse` while it is open, with who has it.
    @discardableResult
    public static func delete(_ name: String, in folder: URL) throws(KithError) -> Bool {
        try store { () throws(StoreError) in try DatabaseFolder(folder.path).remove(try DatabaseName(name)) }
    }

    /// Makes a database of a copy, as `copy(to:)` or `kith backup` writes it: for content that a program brings along. It has
    /// the documents with their revisions, and a timeline of its own, so it replicates as the original does. On disk when
    /// this returns. Blocks.
    /// - Throws: `KithError`: `conflict` where there is a database of that name; `notFound`, `damaged` for the copy; `invalid`
    ///   for a database in use in the place of a copy.
    public static func copy(from copy: URL, as name: String, in folder: URL) throws(KithError) {
        _ = try store { () throws(StoreError) in
            try DatabaseFolder(folder.path).copy(from: copy.path, as: try DatabaseName(name))
        }
    }

    /// Writes a copy of the database as it is at one moment to a file, only for its owner to read, while others read and write.
    /// Whole and on disk when this returns; all that a write had returned for before is in it. A file that is there is replaced
    /// then, and not before: what fails, or is cancelled, leaves it as it was and nothing beside it.
    /// - Throws: `KithError`: `storageFull`, `damaged`, `cancelled`, `inUse` while another copy or check goes on; `invalid`
    ///   for the file of a database in use.
    /// - Complexity: O(size of the database). The write-ahead log is not emptied meanwhile.
    public func copy(to file: URL) async throws(KithError) {
        let database = try home.executor().file
        try await reserved(for: "copied") { isCancelled throws(StoreError) in
            try Backup.replace(file.path, with: database, number: .random(in: 1...UInt64.max), isCancelled: isCancelled)
        }
    }

    /// Gives back the space that is no longer used. Others read and write meanwhile; at the end they wait for a moment.
    /// Cancelling the task ends it, with the database as it was.
    /// - Returns: what the file and its log took in bytes, before and after.
    /// - Throws: `KithError`: `storageFull` where there is not the room for a copy.
    @discardableResult
    public func compact() async throws(KithError) -> (before: Int, after: Int) {
        let executor = try home.executor()
        try home.reserve(for: "compacted")
        defer { home.release() }
        let cancelled = Mutex(false)
        let result = await withTaskCancellationHandler {
            await Self.compact(executor) { cancelled.withLock { $0 } }
        } onCancel: {
            cancelled.withLock { $0 = true }
        }
        do throws(StoreError) { return try result.get() } catch { throw KithError(error) }
    }

    private static func compact(
        _ executor: DatabaseExecutor, _ isCancelled: @escaping @Sendable () -> Bool
    ) async -> Result<(before: Int, after: Int), StoreError> {
        do throws(StoreError) { return .success(try await executor.compact(isCancelled: isCancelled)) } catch {
            return .failure(error)
        }
    }

    /// Checks the database: every revision by its hash, the indexes, the running numbers, the pages of the file. Others read
    /// and write meanwhile. What it finds is kept for the status of the node, until a repair or a check that finds nothing.
    /// - Throws: `KithError` where it can't be checked. Damage is no error but what it finds.
    /// - Complexity: O(size of the file).
    public func verify() async throws(KithError) -> VerificationReport {
        let executor = try home.executor()
        let damage = home.damage
        let report = Mutex(VerificationReport())
        try await reserved(for: "checked") { isCancelled throws(StoreError) in
            let sink = UpkeepSink(
                emit: { event in report.withLock { $0.note(event) } }, isCancelled: isCancelled)
            let summary = try Upkeep.verify(executor.file, refusal: nil, damage, sink)
            report.withLock { $0.note(summary) }
        }
        let found = report.withLock { $0 }
        if found.isComplete, found.findings == 0 { executor.noteSound() }
        return found
    }

    /// Runs work that blocks on a thread of its own, with nobody else at the same.
    private func reserved(
        for what: String, _ work: @escaping @Sendable (@escaping @Sendable () -> Bool) throws(StoreError) -> Void
    ) async throws(KithError) {
        try home.reserve(for: what)
        defer { home.release() }
        let cancelled = Mutex(false)
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<Void, StoreError>, Never>) in
                DispatchQueue.global().async {
                    continuation.resume(
                        returning: Result { () throws(StoreError) in try work { cancelled.withLock { $0 } } })
                }
            }
        } onCancel: {
            cancelled.withLock { $0 = true }
        }
        do throws(StoreError) { try result.get() } catch { throw KithError(error) }
    }
}

/// What a check has found.
public struct VerificationReport: Hashable, Sendable {
    /// Something that is wrong.
    public struct Finding: Hashable, Sendable {
        /// The document that it is about; nil where it is about none.
        public let document: String?
        /// What is wrong, without a full stop.
        public let message: String
    }

    /// Documents that were checked.
    public private(set) var documents = 0
    /// How much is wrong; more than is listed where there is very much.
    public private(set) var findings = 0
    /// At most a thousand.
    public private(set) var listed: [Finding] = []
    /// What could not be checked, and why.
    public private(set) var notes: [String] = []

    /// Whether everything was checked.
    public var isComplete: Bool { notes.isEmpty }
    /// Whether everything was checked and nothing is wrong.
    public var isSound: Bool { findings == 0 && isComplete }

    mutating func note(_ event: UpkeepEvent) {
        switch event {
        case .finding(_, let finding): listed.append(Finding(document: finding.document, message: finding.message))
        default: break
        }
    }

    mutating func note(_ summary: Verification.Summary) {
        documents = Int(summary.documents)
        findings = Int(summary.findings)
        notes = summary.notes
    }
}
