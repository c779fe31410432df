import KithCrypto
import KithStore
import KithSystem

/// Checks and repairs as a running node does them and as the command and the library do them where none runs: the parts
/// that are the same.
package enum Upkeep {
    /// Checks a database, tells what is found, and remembers it.
    /// - Parameter refusal: why the database can't be opened; nil where it can.
    @discardableResult
    package static func verify(
        _ file: DatabaseFile, refusal: StoreError?, _ damage: DamageBook, _ sink: UpkeepSink
    ) throws(StoreError) -> Verification.Summary {
        var first: StoreFinding?
        let check = Verification(file, refusal: refusal, isCancelled: sink.isCancelled) { finding in
            first = first ?? finding
            sink.emit(.finding(database: file.name.string, finding))
        }
        let summary = try check.run(progress: sink.progress())
        for note in summary.notes { sink.emit(.note(note)) }
        if let first {
            // What is kept goes into the status and the log, where no document is named.
            let what = first.document == nil ? first.message : "a document: \(first.message)"
            damage.note(file.name, .init(findings: summary.findings, message: what))
        } else if summary.notes.isEmpty {
            damage.note(file.name, nil)
        }
        return summary
    }

    /// Makes a new file of what is sound. The database is closed.
    static func salvage(_ file: DatabaseFile, _ sink: UpkeepSink) throws(StoreError) -> SalvageReport {
        try Salvage.repair(
            file, at: moment, environment: environment, isCancelled: sink.isCancelled,
            progress: sink.progress())
    }

    /// What real databases take from outside.
    static var environment: StoreEnvironment {
        StoreEnvironment(now: { SystemClock().wallMilliseconds }, random: { SecureRandom.number() })
    }

    /// The time in names of files.
    static var moment: String {
        String(Timestamp.text(ofMilliseconds: SystemClock().wallMilliseconds).map { $0 == ":" ? "-" : $0 })
    }
}
