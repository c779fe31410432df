// The encodings of ids, stamps and versions: the same bytes are hashed, stored and sent.

extension RevisionID {
    /// 24 bytes: the generation in eight, big-endian, and the digest.
    package func encode(into writer: inout ByteWriter) {
        writer.append(bigEndian: generation, digest.high, digest.low)
    }

    /// - Throws: `DocumentError.malformed` when the bytes end too early or the generation is out of range.
    package init(from reader: inout ByteReader) throws(DocumentError) {
        let generation = try reader.bigEndian(UInt64.self)
        guard generation >= 1, generation <= Self.maximumGeneration else {
            throw .malformed("a revision id has a generation out of range")
        }
        let high = try reader.bigEndian(UInt64.self)
        let low = try reader.bigEndian(UInt64.self)
        self.init(generation: generation, digest: Digest128(high: high, low: low))
    }
}

extension Stamp {
    /// 16 bytes: time and writer, big-endian.
    package func encode(into writer: inout ByteWriter) {
        writer.append(bigEndian: time, self.writer)
    }

    package init(from reader: inout ByteReader) throws(DocumentError) {
        let time = try reader.bigEndian(UInt64.self)
        let writer = try reader.bigEndian(UInt64.self)
        self.init(time: time, writer: writer)
    }
}

extension Version {
    /// 16 bytes an entry, ascending by writer: writer and time, big-endian.
    package func encode(into writer: inout ByteWriter) {
        for entry in entries {
            writer.append(bigEndian: entry.writer, entry.time)
        }
    }

    /// Reads entries to the end of the bytes.
    /// - Throws: `DocumentError.malformed` when they do not ascend, are too many, or end too early.
    package init(from reader: inout ByteReader) throws(DocumentError) {
        guard reader.remaining <= 16 * DocumentLimits.maximumEntries else {
            throw .malformed("a version has more than \(DocumentLimits.maximumEntries) entries")
        }
        var entries: [Entry] = []
        entries.reserveCapacity(reader.remaining / 16)
        while !reader.isAtEnd {
            let writer = try reader.bigEndian(UInt64.self)
            let time = try reader.bigEndian(UInt64.self)
            entries.append(Entry(writer: writer, time: time))
        }
        guard let version = Version(ascending: entries) else {
            throw .malformed("the entries of a version do not ascend")
        }
        self = version
    }
}

extension FieldStamps {
    /// The default stamp, then each exception: its path with a varint length, a byte for its state (0 visible,
    /// 1 absent, 2 hidden), its stamp, and for a hidden one the value with a varint length.
    package func encode(into writer: inout ByteWriter) {
        defaultStamp.encode(into: &writer)
        for exception in exceptions {
            writer.append(varint: UInt64(exception.path.encoded.count))
            writer.append(contentsOf: exception.path.encoded)
            switch exception.state {
            case .visible: writer.append(0)
            case .absent: writer.append(1)
            case .hidden: writer.append(2)
            }
            exception.stamp.encode(into: &writer)
            if case .hidden(let value) = exception.state {
                writer.append(varint: UInt64(value.count))
                writer.append(contentsOf: value)
            }
        }
    }

    /// The bytes that `encode` writes or a few more, never less.
    package var encodedBytes: Int {
        exceptions.reduce(16) { sum, exception in
            let value = if case .hidden(let value) = exception.state { value.count + 5 } else { 0 }
            return sum + exception.path.encoded.count + 22 + value
        }
    }

    /// Reads exceptions to the end of the bytes. Their order and fit to the body are checked by `Revision.verify`.
    package init(from reader: inout ByteReader) throws(DocumentError) {
        defaultStamp = try Stamp(from: &reader)
        var exceptions: [Exception] = []
        while !reader.isAtEnd {
            let encoded = try reader.take(try reader.count(atMost: FieldPath.maximumBytes))
            guard let path = FieldPath(validating: encoded) else { throw .malformed("a stamp has a path that is none") }
            let kind = try reader.byte()
            let stamp = try Stamp(from: &reader)
            let state: State
            switch kind {
            case 0: state = .visible
            case 1: state = .absent
            case 2: state = .hidden(try reader.take(try reader.count(atMost: DocumentLimits.documentBytes)))
            default: throw .malformed("a stamp has the unknown state \(kind)")
            }
            exceptions.append(Exception(path: path, stamp: stamp, state: state))
        }
        self.exceptions = exceptions
    }
}
