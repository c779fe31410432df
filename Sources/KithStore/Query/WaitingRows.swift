import KithSystem

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Bytes that wait for a slow reader in a file beside the database: appended at its end, read from its beginning.
///
/// The file has no name once it is open, so it goes with this object and with the process. One thread at a time.
package final class WaitingRows {
    private let file: any OpenFile
    private let database: DatabaseFile
    private var written = 0
    private var taken = 0
    /// What may be written before the disk is looked at again.
    private var allowance = 0

    /// - Parameter number: names the file until it is open; no two at a time may be equal.
    package init(beside database: DatabaseFile, number: UInt64) throws(StoreError) {
        let files = database.fileSystem
        // An opening removes what a crash left under this name.
        let path = database.aside("\(Backup.copyEnding)rows-\(number)")
        files.discard(path)
        defer { files.discard(path) }
        self.database = database
        file = try files.require("make", path) { () throws(SystemError) in try files.open(path, .createNew) }
    }

    /// The bytes that nobody has taken.
    package var count: Int { written - taken }

    /// - Throws: `StoreError` `storage_full` before the disk is, so that writers have room; what the disk gives.
    package func append(_ bytes: [UInt8]) throws(StoreError) {
        guard count + bytes.count <= Limits.waitingRowBytes else {
            throw StoreError(
                .cancelled, database.name.string,
                "the query was given up: \(Limits.waitingRowBytes) bytes of its rows wait for their reader; read them faster, "
                    + "or ask for less")
        }
        try requireRoom(for: bytes.count)
        let place = written
        do throws(SystemError) { try file.write(bytes, at: place) } catch {
            throw StoreError("write", "the rows that wait in \(database.shortDirectory)", error)
        }
        written += bytes.count
    }

    private func requireRoom(for bytes: Int) throws(StoreError) {
        allowance -= bytes
        if allowance >= 0 { return }
        let reserve = Limits.waitingRowReserveBytes
        if let free = database.fileSystem.space(of: database.directory)?.free, free < UInt64(reserve + bytes) {
            throw StoreError(
                .storageFull, database.name.string,
                "the query was given up: its rows wait for their reader on the disk, and \(free) bytes are free in "
                    + "\(database.shortDirectory); make room, read them faster, or ask for less")
        }
        allowance = reserve / 4
    }

    /// The next part; nil where nothing waits.
    package func next() throws(StoreError) -> [UInt8]? {
        guard count > 0 else { return nil }
        let (place, length) = (taken, min(count, Limits.filePartBytes))
        do throws(SystemError) {
            let bytes = try file.read(length, at: place)
            guard bytes.count == length else { throw SystemError(EIO) }
            taken += length
            return bytes
        } catch {
            throw StoreError("read", "the rows that wait in \(database.shortDirectory)", error)
        }
    }
}
