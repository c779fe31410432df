/// A call of the disk that can be counted, refused, or be the last one before the power goes.
package struct DiskCall: Sendable {
    package enum Operation: String, CaseIterable, Sendable {
        case create, open, read, write, resize, synchronize, synchronizeDirectory, makeDirectory, remove, rename, link

        /// Whether something on the disk changes by it: of these calls `VirtualDisk.changes` counts.
        package var isChange: Bool { self != .open && self != .read }
    }

    package let operation: Operation
    package let path: String
    /// Of reads and writes.
    package let range: Range<Int>
    /// Counts the changes before it.
    package let change: Int
}

/// What becomes of a call.
package enum DiskOutcome: Sendable {
    case done
    /// It is done, and takes so long besides: see `VirtualDisk.takeElapsed`.
    case delayed(microseconds: Int)
    /// It fails with this error of the system; of a write the first half is there, and a synchronisation that failed
    /// makes nothing durable, ever.
    case failed(Int32)
    /// The power goes before it.
    case powerGoes
    /// It is said to be done, and was not: a write that the disk lost, so that what was there before is read, or a
    /// synchronisation that it did not make.
    case pretended
    /// The write went to another place of the same file.
    case misdirected(to: Int)
}

/// How long the calls of a disk take, in microseconds.
package struct DiskSpeed: Hashable, Sendable {
    package var read: Int
    package var write: Int
    /// For each whole KiB of a read or write.
    package var kibibyte: Int
    /// For each synchronisation, of a file or a directory.
    package var synchronize: Int

    package init(read: Int = 0, write: Int = 0, kibibyte: Int = 0, synchronize: Int = 0) {
        self.read = read
        self.write = write
        self.kibibyte = kibibyte
        self.synchronize = synchronize
    }

    func microseconds(_ call: DiskCall) -> Int {
        switch call.operation {
        case .read: read + call.range.count / 1_024 * kibibyte
        case .synchronize, .synchronizeDirectory: synchronize
        default: write + call.range.count / 1_024 * kibibyte
        }
    }
}
