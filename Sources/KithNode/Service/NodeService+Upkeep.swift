import KithDocument
import KithHTTPCore
import KithStore
import KithSystem
import Synchronization

// Databases as wholes: checked, repaired, compacted, copied and put back, while the node runs.

extension NodeService {
    func verify(_ name: String) async throws(ControlError) -> ControlStream {
        let file = try here(name)
        let (damage, refusal) = (node.damage, node.catalog.failure(of: name))
        return .upkeep { sink throws(ControlError) in
            try await reserved(file.name, for: "checked") { () throws(ControlError) in
                let result = await ControlStream.onThread {
                    Result { () throws(StoreError) in try Upkeep.verify(file, refusal: refusal, damage, sink) }
                }
                noteSound(file.name, result)
                await onNode { $0.changed() }
                sink.emit(.checked(database: name, try Self.get(result)))
            }
        }
    }

    /// What was taken for damaged is written to again once a complete check has found nothing.
    private func noteSound(_ name: DatabaseName, _ check: Result<Verification.Summary, StoreError>) {
        guard case .success(let summary) = check, summary.findings == 0, summary.notes.isEmpty else { return }
        node.catalog[name.string]?.noteSound()
    }

    func repair(_ name: String, waitingMilliseconds: Int64) async throws(ControlError) -> ControlStream {
        let file = try here(name)
        let (node, refusal) = (node, node.catalog.failure(of: name))
        return .upkeep { sink throws(ControlError) in
            try await reserved(file.name, for: "repaired") { () throws(ControlError) in
                let check = await ControlStream.onThread {
                    Result { () throws(StoreError) in try Upkeep.verify(file, refusal: refusal, node.damage, sink) }
                }
                noteSound(file.name, check)
                var repaired = UpkeepEvent.Repaired(database: name)
                guard try Self.get(check).findings > 0 else {
                    repaired.wasDamaged = false
                    repaired.documents = try Self.get(check).documents
                    return sink.emit(.repaired(repaired))
                }
                let report = try await exchange(file.name) { file throws(StoreError) in try Upkeep.salvage(file, sink) }
                node.damage.note(file.name, nil)
                for note in report.notes { sink.emit(.note(note)) }
                repaired.kept = report.keptPath
                await fetch(name, report, waitingMilliseconds, sink, &repaired)
                sink.emit(.repaired(repaired))
            }
        }
    }

    /// Waits until the peers have sent what they have of what was left out, and tells what is not back then.
    private func fetch(
        _ name: String, _ report: SalvageReport, _ waitingMilliseconds: Int64, _ sink: UpkeepSink,
        _ repaired: inout UpkeepEvent.Repaired
    ) async {
        let end = SystemClock().monotonicMilliseconds + UInt64(max(0, waitingMilliseconds))
        let damaged = report.damaged
        repaired.damaged = damaged.count
        var left = damaged
        var isComplete = false
        while true {
            // The peers first: what is in sync then is also here when the documents are looked at.
            let peers = await onNode { node in node.databaseStatus().first { $0.name == name } }
            let connected = peers?.peers ?? 0
            isComplete = connected > 0 && peers?.inSyncWith == connected
            left = (try? await stillMissing(left, in: name)) ?? left
            // Right after the exchange a peer that is linked may not have heard of the database yet.
            let isAlone = await onNode { node in node.peers.values.allSatisfy { $0.link == nil } }
            if isComplete || isAlone || sink.isCancelled() { break }
            if SystemClock().monotonicMilliseconds >= end { break }
            sink.emit(.progress(done: UInt64(damaged.count - left.count), total: UInt64(damaged.count)))
            try? await Task.sleep(for: .milliseconds(NodeLimits.fetchPollMilliseconds))
        }
        for document in left { sink.emit(.leftOut(document, isLost: isComplete)) }
        repaired.documents = node.catalog[name]?.summary.documents ?? report.documents
        repaired.fetched = damaged.count - left.count
        repaired.lost = isComplete ? left.count : 0
        repaired.waiting = isComplete ? 0 : left.count
        let came = repaired.documents > report.documents ? repaired.documents - report.documents : 0
        let named = UInt64(repaired.fetched)
        repaired.unnamed = report.unnamed > came - min(came, named) ? report.unnamed - (came - min(came, named)) : 0
    }

    /// Of documents of which something was left out those of which it is not here yet.
    private func stillMissing(
        _ damaged: [SalvageReport.Damaged], in name: String
    ) async throws(ControlError) -> [SalvageReport.Damaged] {
        try await reading(name) { reader throws(StoreError) in
            var missing: [SalvageReport.Damaged] = []
            for document in damaged {
                let history = try reader.history(DocumentID(unchecked: document.id))
                if !document.isBack(in: history) { missing.append(document) }
            }
            return missing
        }
    }

    func compact(_ name: String) async throws(ControlError) -> ControlStream {
        let database = try database(name)
        let file = database.file
        return .upkeep { sink throws(ControlError) in
            try await reserved(file.name, for: "compacted") { () throws(ControlError) in
                let sizes: (before: Int, after: Int)
                do throws(StoreError) { sizes = try await database.compact(isCancelled: sink.isCancelled) } catch {
                    throw ControlError(error)
                }
                sink.emit(.compacted(database: name, before: sizes.before, after: sizes.after))
            }
        }
    }

    func backup(_ name: String) async throws(ControlError) -> ControlFile {
        let file = try here(name)
        let number = node.linkNumbers.wrappingAdd(1, ordering: .relaxed).newValue
        let cancelled = Flag()
        return try await reserved(file.name, for: "copied") { () throws(ControlError) in
            let result = await withTaskCancellationHandler {
                await ControlStream.onThread {
                    Result { () throws(StoreError) in
                        try Backup.aside(file, number: number, isCancelled: { cancelled.isSet })
                    }
                }
            } onCancel: {
                cancelled.set()
            }
            return ControlFile(try Self.get(result))
        }
    }

    func restore(
        _ name: String, from body: HTTPBodyReader, replaces: Bool
    ) async throws(ControlError) -> ControlRestored {
        let database = try databaseName(name)
        // What a reader puts back nobody would take from it.
        try node.requireWriter()
        guard replaces || !node.catalog.isHere(database) else {
            throw ControlError(.exists, "there is a database \(Shown.name(name)) already; say --yes to replace it")
        }
        let file = node.catalog.file(of: database)
        return try await reserved(database, for: "restored") { () throws(ControlError) in
            defer { Restoring.discard(file) }
            try await receive(body, file)
            let ready = await ControlStream.onThread {
                Result { () throws(StoreError) in try Restoring.ready(file, environment: Upkeep.environment) }
            }
            let summary = try Self.get(ready)
            let kept = try await exchange(database) { file throws(StoreError) in
                try Restoring.install(file, at: Upkeep.moment)
            }
            node.damage.note(database, nil)
            return ControlRestored(
                database: name, documents: summary.documents, sequence: summary.position.sequence, kept: kept)
        }
    }

    /// Writes what a client sends to where a copy is made ready.
    private func receive(_ body: HTTPBodyReader, _ file: DatabaseFile) async throws(ControlError) {
        let output: OutputFile
        do throws(StoreError) { output = try Restoring.receive(file) } catch { throw ControlError(error) }
        while true {
            let chunk: [UInt8]?
            do throws(HTTPError) { chunk = try await body.next() } catch {
                throw ControlError(.failed, "the copy did not arrive whole: \(error.message)")
            }
            guard let chunk else { return }
            do throws(StoreError) { try output.write(chunk) } catch { throw ControlError(error) }
        }
    }

    // MARK: Parts

    private func databaseName(_ name: String) throws(ControlError) -> DatabaseName {
        do throws(StoreError) { return try DatabaseName(name) } catch { throw ControlError(error) }
    }

    /// Where a database lies that is here, whether it can be opened or not.
    private func here(_ name: String) throws(ControlError) -> DatabaseFile {
        let database = try databaseName(name)
        guard node.catalog.isHere(database) else {
            throw node.catalog.failure(of: name).map { ControlError($0) } ?? .unknownDatabase(name)
        }
        return node.catalog.file(of: database)
    }

    private static func get<Value>(_ result: Result<Value, StoreError>) throws(ControlError) -> Value {
        do throws(StoreError) { return try result.get() } catch { throw ControlError(error) }
    }

    private func reserved<Value>(
        _ name: DatabaseName, for what: String, _ body: () async throws(ControlError) -> Value
    ) async throws(ControlError) -> Value {
        do throws(StoreError) { try node.catalog.reserve(name, for: what) } catch { throw ControlError(error) }
        defer { node.catalog.release(name) }
        return try await body()
    }

    /// Ends the sessions of the database, closes it, lets the work have its file, opens it and makes the sessions anew.
    private func exchange<Value: Sendable>(
        _ name: DatabaseName, _ work: @escaping @Sendable (DatabaseFile) throws(StoreError) -> Value
    ) async throws(ControlError) -> Value {
        await onNode { $0.removed(name.string) }
        let catalog = node.catalog
        let (result, database) = await ControlStream.onThread { catalog.exchange(name, work) }
        switch database {
        case .success(let database)?: await onNode { $0.added(database) }
        case .failure(let error)?: if case .success = result { throw ControlError(error) }
        case nil: break
        }
        return try Self.get(result)
    }
}

extension SalvageReport.Damaged {
    /// Whether what was left out is here again, or something that came after it.
    fileprivate func isBack(in history: DocumentHistory?) -> Bool {
        guard let history, !history.nodes.isEmpty else { return false }
        let newest = history.nodes.map(\.id.generation).max() ?? 0
        return leaves.allSatisfy { leaf in history.nodes.contains { $0.id == leaf } || newest > leaf.generation }
    }
}
