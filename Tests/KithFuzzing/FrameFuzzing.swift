import KithReplication

/// A stream of frames gives the same frames and the same error wherever it is cut.
enum FrameFuzzing {
    static func run(_ bytes: [UInt8]) throws(FuzzFailure) {
        let whole = frames(of: bytes, parts: [bytes.count])
        let single = frames(of: bytes, parts: Array(repeating: 1, count: bytes.count))
        try FuzzFailure.require(whole == single, "the frames depend on how the stream was cut")
        for frame in whole.frames { try MessageFuzzing.check(frame) }
    }

    private struct Outcome: Equatable {
        var frames: [Frame] = []
        var error: String?
    }

    private static func frames(of bytes: [UInt8], parts: [Int]) -> Outcome {
        var decoder = FrameDecoder()
        var outcome = Outcome()
        var start = 0
        for part in parts {
            decoder.append(Array(bytes[start..<start + part]))
            start += part
            do throws(ProtocolError) {
                while let frame = try decoder.next() { outcome.frames.append(frame) }
            } catch {
                outcome.error = error.message
                return outcome
            }
        }
        return outcome
    }
}
