import CSQLite
import KithDocument
import KithStore
import KithVirtualDisk

/// The kinds of work of a store that change something on its disk, each as one piece.
package enum CrashWork: String, CaseIterable, Sendable {
    case making, opening, writing, deleting, purging, receiving, merging, compacting, migrating, backingUp, restoring

    /// Below so many changes on the disk the work did not do what it is called.
    var leastChanges: Int { self == .opening ? 3 : 5 }

    private static let documents = 12

    /// A disk with a database that was in use when its process ended, and a peer's database beside it.
    func prepare() throws -> VirtualDisk {
        let disk = VirtualDisk()
        guard self != .making else { return disk }
        defer { disk.discard() }
        do {
            let peer = try OpenedStore(disk, OpenedStore.peer, seed: 7)
            for number in 0..<Self.documents { try peer.put("p\(number)", #"{"by":"peer","n":\#(number)}"#) }
        }
        let own = try OpenedStore(disk, seed: 1)
        for number in 0..<Self.documents { try own.put("d\(number)", #"{"by":"own","n":\#(number)}"#) }
        try own.put("shared", #"{"n":1,"x":1}"#)
        if self == .merging {
            // Both edit one document that both know.
            let peer = try OpenedStore(disk, OpenedStore.peer, seed: 7)
            try peer.pull(own, as: OpenedStore.node(1))
            try peer.put("shared", #"{"n":2,"x":1}"#)
            try own.put("shared", #"{"n":1,"x":2}"#)
        }
        if self == .deleting || self == .purging { try own.delete("d11") }
        if self == .restoring {
            try Backup.write(own.file, to: Self.backup(disk))
            // What is put back is not what is there.
            try own.put("d0", #"{"by":"later","n":0}"#)
            try own.put("new", "{}")
            try own.delete("d1")
            try own.purge("d2")
        }
        // Copied while it is open: as a process that is killed leaves it.
        return disk.copied()
    }

    private static func backup(_ disk: VirtualDisk) -> String { disk.directory + "/copy" }

    /// What the backup on a disk holds.
    private static func contentsOfBackup(on disk: VirtualDisk) throws -> [String: String] {
        let copy = VirtualDisk()
        defer { copy.discard() }
        copy.put(OpenedStore.file(copy).path, disk.content(of: backup(disk)) ?? [])
        return try OpenedStore(copy, seed: 5).contents()
    }

    /// Does the work, and keeps account of what is acknowledged.
    func run(_ disk: VirtualDisk, _ ledger: inout CrashLedger) throws {
        if self == .restoring { return try ledger.become(try Self.contentsOfBackup(on: disk)) { try restore(disk) } }
        var own: OpenedStore? = try OpenedStore(disk, seed: 2, migrations: migrations)
        let store = own!
        switch self {
        case .making, .writing:
            for number in 0..<4 { try ledger.put(store, "d\(number)", #"{"by":"later","n":\#(number + 100)}"#) }
        case .opening, .migrating, .restoring: break
        case .deleting:
            for id in ["d0", "d1", "d2"] { try ledger.take([id: OpenedStore.deleted]) { try store.delete(id) } }
        case .purging:
            for id in ["d0", "d1", "d11"] {
                try ledger.take([id: nil, OpenedStore.purged(id): ""]) { try store.purge(id) }
            }
        case .receiving, .merging: try receive(disk, store, &ledger)
        case .compacting:
            try Compaction.write(store.file)
            try ledger.put(store, "d1", #"{"by":"meanwhile","n":1}"#)
            try store.store.completeCopy()
            let file = store.file
            store.close()
            own = nil
            try Compaction.install(file)
        case .backingUp: try Backup.write(store.file, to: Self.backup(disk))
        }
        ledger.position = own.flatMap { try? $0.reader.summary().position }
        own?.close()
    }

    /// Takes all that the peer has in one batch, with the checkpoint, and merges it.
    private func receive(_ disk: VirtualDisk, _ store: OpenedStore, _ ledger: inout CrashLedger) throws {
        let peer = try OpenedStore(disk, OpenedStore.peer, seed: 7)
        var batch: [String: String?] = try peer.contents()
        if batch["shared"] != nil { batch["shared"] = #"{"n":2,"x":2}"# }
        batch[OpenedStore.checkpoint] = "\(try peer.reader.summary().position.sequence)"
        try ledger.take(batch) { try store.pull(peer, as: OpenedStore.node(7)) }
    }

    /// Puts the copy in the place of a database that went on: afterwards either is there, as a whole.
    private func restore(_ disk: VirtualDisk) throws {
        let file = OpenedStore.file(disk)
        try Restoring.receive(file).write(disk.content(of: Self.backup(disk)) ?? [])
        _ = try Restoring.ready(file, environment: OpenedStore.environment(seed: 9))
        _ = try Restoring.install(file, at: "1")
    }

    /// Whether the file that the work leaves is in the format that it was to have.
    func hasItsFormat(_ path: String) -> Bool {
        guard self == .migrating else { return true }
        var database: OpaquePointer?
        var statement: OpaquePointer?
        defer {
            sqlite3_finalize(statement)
            sqlite3_close(database)
        }
        guard sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, nil) == SQLITE_OK,
            sqlite3_prepare_v2(
                database, "SELECT count(*) FROM documents WHERE colour IS NOT 'red'", -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW
        else { return false }
        return sqlite3_column_int64(statement, 0) == 0
    }

    /// The steps with which a database is opened in this work and after it.
    var migrations: Migrations { self == .migrating ? Self.steps : .current }

    private static let steps = Migrations(
        oldest: 1,
        steps: [Migration("ALTER TABLE documents ADD COLUMN colour TEXT; UPDATE documents SET colour = 'red'")])
}
