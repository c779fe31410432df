import KithCrypto

/// A SHA-256 at the end of a file, so that what the disk has damaged is not read as something else.
enum Checksum {
    private static let count = 32

    static func append(to bytes: [UInt8]) -> [UInt8] { bytes + SHA256.hash(bytes).bytes }

    /// - Throws: `.malformed` where the bytes are not those that were written.
    static func removed(from bytes: [UInt8], _ what: String) throws(TransportError) -> ArraySlice<UInt8> {
        let content = bytes.dropLast(count)
        guard bytes.count >= count, SHA256.hash(Array(content)).bytes == Array(bytes.suffix(count)) else {
            throw .malformed("\(what) is damaged: its checksum is another")
        }
        return content
    }
}
