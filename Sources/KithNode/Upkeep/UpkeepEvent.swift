import KithStore
import KithSystem

/// What checking, repairing, compacting and making an index tell while they go on: a line of JSON each; docs/control.md lists them.
package enum UpkeepEvent: Sendable {
    /// So much of about so much, in documents or bytes.
    case progress(done: UInt64, total: UInt64)
    case finding(database: String, StoreFinding)
    /// A sentence for people.
    case note(String)
    /// A document of which something was damaged and is not back.
    case leftOut(SalvageReport.Damaged, isLost: Bool)
    case checked(database: String, Verification.Summary)
    case repaired(Repaired)
    case compacted(database: String, before: Int, after: Int)
    /// An index was made.
    case indexed(database: String, index: String)

    /// What came of a repair.
    package struct Repaired: Sendable {
        package var database: String
        /// Whether there was anything to repair.
        package var wasDamaged = true
        package var documents: UInt64 = 0
        package var damaged = 0
        package var fetched = 0
        package var lost = 0
        package var waiting = 0
        /// Documents of which not even the id could be read, and that are not back.
        package var unnamed: UInt64 = 0
        package var kept: String?

        package init(database: String) { self.database = database }
    }

    /// The event as a line.
    package var line: [UInt8] {
        var object = JSONObjectWriter()
        switch self {
        case .progress(let done, let total):
            object.add("event", "progress")
            object.add("done", done)
            object.add("total", total)
        case .finding(let database, let finding):
            object.add("event", "finding")
            object.add("database", database)
            object.add("kind", finding.kind.rawValue)
            object.add("document", finding.document)
            object.add("message", finding.message)
            object.add("action", "kith repair \(database)")
        case .note(let text):
            object.add("event", "note")
            object.add("message", text)
        case .leftOut(let document, let isLost):
            object.add("event", "left_out")
            object.add("document", document.id)
            object.add("state", isLost ? "lost" : "waiting")
            object.add("message", document.reason)
        case .checked(let database, let summary):
            object.add("event", "done")
            object.add("database", database)
            object.add("documents", summary.documents)
            object.add("findings", summary.findings)
            object.add("complete", summary.notes.isEmpty)
        case .repaired(let repaired): repaired.add(to: &object)
        case .compacted(let database, let before, let after):
            object.add("event", "done")
            object.add("database", database)
            object.add("bytes_before", before)
            object.add("bytes_after", after)
        case .indexed(let database, let index):
            object.add("event", "done")
            object.add("database", database)
            object.add("index", index)
        }
        return object.bytes + [UInt8(ascii: "\n")]
    }
}

extension UpkeepEvent.Repaired {
    fileprivate func add(to object: inout JSONObjectWriter) {
        object.add("event", "done")
        object.add("database", database)
        object.add("damaged", wasDamaged)
        object.add("documents", documents)
        object.add("left_out", damaged)
        object.add("fetched", fetched)
        object.add("lost", lost)
        object.add("waiting", waiting)
        object.add("unnamed", unnamed)
        object.add("kept", kept)
    }
}

/// Where the events of long work go, and how it hears that nobody wants it any more.
package struct UpkeepSink: Sendable {
    package let emit: @Sendable (UpkeepEvent) -> Void
    package let isCancelled: @Sendable () -> Bool

    package init(emit: @escaping @Sendable (UpkeepEvent) -> Void, isCancelled: @escaping @Sendable () -> Bool) {
        self.emit = emit
        self.isCancelled = isCancelled
    }

    /// Tells of progress ten times a second at most.
    func progress() -> (UInt64, UInt64) -> Void {
        var toldAt: UInt64 = 0
        return { done, total in
            let now = SystemClock().monotonicMilliseconds
            guard now - toldAt >= 100 else { return }
            toldAt = now
            emit(.progress(done: done, total: total))
        }
    }
}
