import KithDocument
import KithHTTPCore
import KithNode
import Synchronization

/// A body in parts of at most 1,000 bytes, or one that is collected.
final class BodyParts: Sendable {
    private let bytes: Mutex<[UInt8]>

    init(_ bytes: [UInt8]) { self.bytes = Mutex(bytes) }

    var all: [UInt8] { bytes.withLock { $0 } }

    func append(_ more: [UInt8]) { bytes.withLock { $0 += more } }

    func next() -> [UInt8]? {
        bytes.withLock { bytes in
            if bytes.isEmpty { return nil }
            // Large bodies in large parts, so that a test of a limit is quick.
            let count = max(1_000, bytes.count / 4)
            let part = Array(bytes.prefix(count))
            bytes.removeFirst(part.count)
            return part
        }
    }
}
