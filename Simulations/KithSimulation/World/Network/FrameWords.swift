import KithReplication

/// What is sent on a link, in words for a trace.
enum FrameWords {
    /// The types of the frames, with their bytes; what is no whole frame is counted only.
    static func of(_ bytes: [UInt8]) -> String {
        var decoder = FrameDecoder()
        decoder.append(bytes)
        var words: [String] = []
        while let frame = try? decoder.next(), words.count < 12 {
            words.append("\(frame.type)(\(frame.payload.count))")
        }
        return words.isEmpty ? "\(bytes.count) bytes" : words.joined(separator: " ")
    }
}
