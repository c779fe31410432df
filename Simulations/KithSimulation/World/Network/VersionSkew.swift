import KithDocument
import KithReplication

/// Which other version of the protocol a real node plays: what it says is rewritten on its way out.
enum VersionSkew: String {
    /// Says nothing that a peer may leave out.
    case older
    /// Speaks one version more, and says in every message what nobody knows yet.
    case newer
    /// Speaks no version that the others speak.
    case apart
}

/// Rewrites what one connection of a process says and hears, frame by frame. It reads CBOR by itself, so that it does not
/// depend on what it tries.
final class FrameRewriter {
    private let skew: VersionSkew
    /// Whose own presence records are rewritten too.
    private let node: NodeID
    private let world: World
    private var sent = FrameDecoder()
    private var received = FrameDecoder()

    /// What stands in the presence records of a newer node under a key that nobody knows.
    static let unknownText = Array("of a later version".utf8)
    private static let unknownKey: [UInt8] = [0x18, 99]

    init(_ skew: VersionSkew, of node: NodeID, _ world: World) {
        self.skew = skew
        self.node = node
        self.world = world
    }

    func outgoing(_ bytes: [UInt8]) -> [UInt8] {
        rewrite(bytes, &sent) { frame in
            if frame.type == .hello {
                let hello = HostileFrame.bytes(frame.type.rawValue, self.hello(frame.payload))
                return self.skew == .newer ? hello + Self.unknownFrames : hello
            }
            return HostileFrame.bytes(frame.type.rawValue, self.payload(frame))
        }
    }

    /// - Returns: what the process hears; nil where that is what came.
    func incoming(_ bytes: [UInt8]) -> [UInt8]? {
        guard skew == .apart else { return nil }
        return rewrite(bytes, &received) { frame in
            HostileFrame.bytes(
                frame.type.rawValue, frame.type == .hello ? self.hello(frame.payload) : self.payload(frame))
        }
    }

    private func rewrite(_ bytes: [UInt8], _ decoder: inout FrameDecoder, _ body: (Frame) -> [UInt8]) -> [UInt8] {
        decoder.append(bytes)
        var rewritten: [UInt8] = []
        do throws(ProtocolError) {
            while let frame = try decoder.next() { rewritten += body(frame) }
        } catch { preconditionFailure("a node said what is no frame: \(error.message)") }
        return rewritten
    }

    /// Two that are to be ignored, the one without and the one with something in it.
    private static let unknownFrames =
        HostileFrame.bytes(0xF0, []) + HostileFrame.bytes(0xFE, [UInt8](repeating: 0xC1, count: 3_000))

    private func hello(_ payload: [UInt8]) -> [UInt8] {
        var map = CBORMap(payload)
        switch skew {
        case .older: map.drop { [2, 3, 4].contains($0.key) || $0.key == 5 && $0.value == [0x80] }
        case .newer:
            map.set(1, [0x82, 1, 2])
            map.set(2, [0x82, 0x67] + Array("later/1".utf8) + [0x60])
            map.set(99, [0xA1, 0x01, 0x82, 0x41, 0xFF, 0xF5])
        case .apart: map.set(1, [0x82, 2, 2])
        }
        return map.bytes
    }

    private func payload(_ frame: Frame) -> [UInt8] {
        var map = CBORMap(frame.payload)
        switch skew {
        case .apart:
            if frame.type != .goodbye {
                world.fail(
                    Violation(
                        .versionCompatibility, "a frame \(frame.type) came between nodes without a common version"))
            }
        case .older:
            if frame.type == .ping || frame.type == .pong { map.drop { $0.key == 2 } }
            if frame.type == .ack { map.drop { $0.key > 4 } }
            if frame.type == .presence { rewriteRecord(&map) { record in record.drop { $0.key > 7 } } }
        case .newer:
            if frame.type == .goodbye, map[1] == [0] { map.set(1, [0x18, 200]) }
            if frame.type == .presence {
                rewriteRecord(&map) { $0.set(99, [0x60 + UInt8(Self.unknownText.count)] + Self.unknownText) }
            }
            // What counts against credit is left as it is: its sender counts it.
            if frame.type.rawValue & 0xF0 != 0x20 { map.set(99, [0x82, 0xA0, 0x80]) }
        }
        return map.bytes
    }

    /// Changes a presence record of the node itself; those of others travel as they came.
    private func rewriteRecord(_ map: inout CBORMap, _ change: (inout CBORMap) -> Void) {
        guard let value = map[1] else { return }
        let bytes = Array(value.dropFirst(CBORMap.headBytes(value)))
        var record = CBORMap(bytes)
        guard record[1].map({ Array($0.dropFirst(CBORMap.headBytes($0))) }) == node.bytes else { return }
        change(&record)
        var writer = CBORWriter()
        writer.append(bytes: record.bytes)
        map.set(1, writer.bytes)
    }
}

/// A map of CBOR by its keys, with the values as they are encoded.
struct CBORMap {
    private(set) var pairs: [(key: UInt64, value: [UInt8])] = []

    /// - Parameter bytes: a map in the deterministic encoding, with numbers as keys.
    init(_ bytes: [UInt8]) {
        var place = 0
        let (_, count) = Self.head(bytes, &place)
        for _ in 0..<count {
            let (_, key) = Self.head(bytes, &place)
            let start = place
            Self.skip(bytes, &place)
            pairs.append((key, Array(bytes[start..<place])))
        }
    }

    subscript(key: UInt64) -> [UInt8]? { pairs.first { $0.key == key }?.value }

    mutating func set(_ key: UInt64, _ value: [UInt8]) {
        pairs.removeAll { $0.key == key }
        pairs.append((key, value))
        pairs.sort { $0.key < $1.key }
    }

    mutating func drop(_ isDropped: ((key: UInt64, value: [UInt8])) -> Bool) { pairs.removeAll(where: isDropped) }

    var bytes: [UInt8] {
        var writer = CBORWriter()
        writer.beginMap(pairs.count)
        for (key, value) in pairs {
            writer.append(uint: key)
            writer.append(raw: value)
        }
        return writer.bytes
    }

    static func headBytes(_ bytes: [UInt8]) -> Int {
        var place = 0
        _ = head(bytes, &place)
        return place
    }

    private static func head(_ bytes: [UInt8], _ place: inout Int) -> (major: UInt8, number: UInt64) {
        let first = bytes[place]
        place += 1
        let short = first & 0x1F
        guard short >= 24 else { return (first >> 5, UInt64(short)) }
        let length = 1 << Int(short - 24)
        let number = bytes[place..<place + length].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        place += length
        return (first >> 5, number)
    }

    private static func skip(_ bytes: [UInt8], _ place: inout Int) {
        let (major, number) = head(bytes, &place)
        switch major {
        case 2, 3: place += Int(number)
        case 4: for _ in 0..<number { skip(bytes, &place) }
        case 5: for _ in 0..<2 * number { skip(bytes, &place) }
        default: break
        }
    }
}
