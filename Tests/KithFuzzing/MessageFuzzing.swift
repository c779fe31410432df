import KithReplication

/// A frame that is read as a message is that message again when it was written and read once more.
enum MessageFuzzing {
    static func run(_ bytes: [UInt8]) throws(FuzzFailure) {
        guard let number = bytes.first, FrameType(rawValue: number) != nil else { return }
        let length = (0..<4).reversed().map { UInt8(truncatingIfNeeded: (bytes.count - 1) >> (8 * $0)) }
        var decoder = FrameDecoder()
        decoder.append(length + bytes)
        if let frame = next(&decoder) { try check(frame) }
    }

    static func check(_ frame: Frame) throws(FuzzFailure) {
        guard let message = message(of: frame), isWritable(message) else { return }
        let bytes = encoded(message)
        var decoder = FrameDecoder()
        decoder.append(bytes)
        guard let again = next(&decoder), let second = self.message(of: again) else {
            throw FuzzFailure("a message of type \(frame.type) that was read can't be read again")
        }
        // Compared as bytes: a number that is none is not equal to itself.
        try FuzzFailure.require(encoded(second) == bytes, "a message of type \(frame.type) changes when read again")
    }

    /// A document that can't be read is reported by its reader, and never sent on.
    private static func isWritable(_ message: Message) -> Bool {
        guard case .revisions(let revisions) = message else { return true }
        return revisions.deliveries.allSatisfy { delivery in
            if case .whole = delivery { true } else { false }
        }
    }

    private static func next(_ decoder: inout FrameDecoder) -> Frame? {
        do throws(ProtocolError) { return try decoder.next() } catch { return nil }
    }

    private static func message(of frame: Frame) -> Message? {
        do throws(ProtocolError) { return try Message(frame) } catch { return nil }
    }

    private static func encoded(_ message: Message) -> [UInt8] {
        var writer = CBORWriter()
        writer.append(frame: message)
        return writer.bytes
    }
}
