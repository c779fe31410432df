import KithDocument
import KithMerge
import KithSystem

/// What a repair did.
package struct SalvageReport: Hashable, Sendable {
    /// A document of which something was left out.
    package struct Damaged: Hashable, Sendable {
        package let id: String
        /// Its leaves, as far as its row still told of them.
        package let leaves: [RevisionID]
        /// Whether some of it was sound and stays.
        package let isRescued: Bool
        package let reason: String
    }

    /// Documents in the new file.
    package internal(set) var documents: UInt64 = 0
    /// Ascending by id, in byte order.
    package internal(set) var damaged: [Damaged] = []
    /// Documents of which not even the id could be read, as far as the old file counted them.
    package internal(set) var unnamed: UInt64 = 0
    /// What else was lost; a sentence each.
    package internal(set) var notes: [String] = []
    /// Where the old file is.
    package internal(set) var keptPath: String?
}

/// Makes a new file of what is sound in a damaged one. Every row is taken only if its revisions are what their hashes say;
/// of a document of which a part is sound that part stays. What was left out comes back from peers: the checkpoints are
/// gone with the old file, so its digests are compared with theirs; the timelines too, so that peers do the same.
package enum Salvage {
    /// Rebuilds a database that nobody has open, or that the caller has closed.
    /// - Parameters:
    ///   - moment: the old file is called `damaged-` and this from then on, behind its name and a dot. Of those kept before
    ///     the newest stay; the report names what goes.
    ///   - progress: called with the documents done and about how many there are.
    /// - Throws: `StoreError`: `storage_full` where there is not as much space as the file has; `damaged` where the log beside
    ///   it is another file's; `foreign_file`, `newer_file`; `locked`; `cancelled`. The database is as it was then.
    package static func repair(
        _ file: DatabaseFile, at moment: String, environment: StoreEnvironment,
        isCancelled: @escaping () -> Bool = { false }, progress: (UInt64, UInt64) -> Void
    ) throws(StoreError) -> SalvageReport {
        let lock = try FileLock(file)
        defer { withExtendedLifetime(lock) {} }
        try FileReplacement.recover(file, lock)
        guard file.fileSystem.size(of: file.path) > 0 else { throw file.notThere }
        // What a log of another file holds may be sound, and belongs elsewhere.
        _ = try file.examineLog(lock.lastClaim, isNew: false)
        try file.requireSpace(file.sizes.file + file.sizes.log, to: "repair")
        defer { FileReplacement.discardPart(of: file) }
        var report: SalvageReport
        do throws(StoreError) {
            report = try Salvager(file, environment, isCancelled).run(progress)
        } catch {
            throw error.isInterruption ? .cancelled(file.name.string) : error
        }
        if isCancelled() { throw .cancelled(file.name.string) }
        report.keptPath = try FileReplacement.commit(
            file, lock, keeping: "\(KeptFile.Reason.damaged.rawValue)-\(moment)")
        for path in (try? KeptFile.trim(file, .damaged, newest: report.keptPath)) ?? [] {
            report.notes.append("\(path) was put aside by an earlier repair and is removed")
        }
        return report
    }
}
