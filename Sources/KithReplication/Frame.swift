/// What a frame carries. Types from 0x20 to 0x2F are a source's answers and count against the link's credit; types from
/// 0x80 on are ignored where they are unknown.
package enum FrameType: UInt8, Sendable, CaseIterable {
    case hello = 0x01
    case databases = 0x02
    case statements = 0x03
    case presence = 0x04
    case ping = 0x05
    case pong = 0x06
    case goodbye = 0x07
    case credit = 0x08

    case open = 0x10
    case subscribe = 0x11
    case unsubscribe = 0x12
    case want = 0x13
    case ack = 0x14
    case refused = 0x15
    case rangeQuery = 0x16
    case rangeList = 0x17
    case compare = 0x18

    case changes = 0x20
    case revisions = 0x21
    case revisionChunk = 0x22
    case feedEnded = 0x23
    case unknown = 0x24
    case rangeDigests = 0x25
    case rangeChanges = 0x26
    case compared = 0x27

    case gossip = 0x80

    /// Whether the frame counts against the credit that the receiver granted.
    var isCredited: Bool { rawValue & 0xF0 == 0x20 }

    /// Largest payload in bytes.
    var limit: Int {
        switch self {
        case .hello, .databases, .statements, .want, .compare, .changes, .revisions, .revisionChunk, .rangeDigests,
            .rangeChanges, .compared:
            ReplicationLimits.frameBytes
        case .presence, .ping, .pong, .goodbye, .credit, .open, .subscribe, .unsubscribe, .ack, .refused, .rangeQuery,
            .rangeList, .feedEnded, .unknown, .gossip:
            ReplicationLimits.smallFrameBytes
        }
    }
}

/// One frame as it came: four bytes of length (of the payload, big-endian), one of type, the payload.
package struct Frame: Hashable, Sendable {
    /// Bytes before the payload.
    static let headBytes = 5

    package let type: FrameType
    package let payload: [UInt8]
}

/// Cuts a stream of bytes into frames, wherever it was split.
///
/// A length is judged by its type before memory is taken for it, and what is held is never more than was received.
package struct FrameDecoder {
    private var buffer: [UInt8] = []
    /// Where the bytes not yet taken begin.
    private var start = 0

    package init() {}

    /// Bytes received and not yet taken.
    package var held: Int { buffer.count - start }

    package mutating func append(_ bytes: [UInt8]) {
        if start == buffer.count {
            buffer = bytes
            start = 0
            return
        }
        if start > 0 {
            buffer.removeSubrange(..<start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// The next whole frame; nil when more bytes are needed. Frames of unknown types that may be ignored are skipped.
    package mutating func next() throws(ProtocolError) -> Frame? {
        while held >= Frame.headBytes {
            let length = (0..<4).reduce(0) { $0 << 8 | Int(buffer[start + $1]) }
            let number = buffer[start + 4]
            let type = FrameType(rawValue: number)
            if type == nil, number < 0x80 { throw ProtocolError("a frame has the unknown type \(number)") }
            let limit = type?.limit ?? ReplicationLimits.smallFrameBytes
            guard length <= limit else {
                throw ProtocolError("a frame of type \(number) has \(length) bytes, over the limit of \(limit)")
            }
            guard held >= Frame.headBytes + length else { return nil }
            let from = start + Frame.headBytes
            start = from + length
            if let type { return Frame(type: type, payload: Array(buffer[from..<start])) }
        }
        return nil
    }
}
