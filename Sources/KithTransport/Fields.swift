/// Writes a record as fields: numbers in fixed big-endian bytes, byte strings after their 32-bit count. One value has one
/// encoding, so that it can be signed.
struct FieldWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write(byte: UInt8) { bytes.append(byte) }

    mutating func write(number: UInt64) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    mutating func write(count: Int) {
        precondition(count >= 0 && count <= Int(UInt32.max), "a count of 32 bits, got \(count)")
        for shift in stride(from: 24, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: count >> shift)) }
    }

    mutating func write(fixed: some Collection<UInt8>) { bytes.append(contentsOf: fixed) }

    mutating func write(string: some Collection<UInt8>) {
        write(count: string.count)
        bytes.append(contentsOf: string)
    }
}

/// Reads what `FieldWriter` wrote, and never past the end.
struct FieldReader {
    private let bytes: ArraySlice<UInt8>
    private var place: Int
    private let what: String

    init(_ bytes: some Collection<UInt8>, _ what: String) {
        self.bytes = ArraySlice(bytes)
        place = self.bytes.startIndex
        self.what = what
    }

    var remaining: Int { bytes.endIndex - place }

    mutating func readByte() throws(TransportError) -> UInt8 { try readFixed(1)[0] }

    mutating func readNumber() throws(TransportError) -> UInt64 { try readFixed(8).reduce(0) { $0 << 8 | UInt64($1) } }

    mutating func readCount(atMost limit: Int) throws(TransportError) -> Int {
        let count = try readFixed(4).reduce(0) { $0 << 8 | Int($1) }
        guard count <= limit else { throw .malformed("\(what): a count of \(count), over \(limit)") }
        return count
    }

    mutating func readFixed(_ count: Int) throws(TransportError) -> [UInt8] {
        guard count <= remaining else { throw .malformed("\(what) ends too early") }
        defer { place += count }
        return Array(bytes[place..<place + count])
    }

    mutating func readString(atMost limit: Int) throws(TransportError) -> [UInt8] {
        try readFixed(try readCount(atMost: limit))
    }

    /// - Throws: `.malformed` when the bytes are no UTF-8.
    mutating func readText(atMost limit: Int) throws(TransportError) -> String {
        guard let text = String(validating: try readString(atMost: limit), as: UTF8.self) else {
            throw .malformed("\(what) holds a name that is no UTF-8")
        }
        return text
    }

    func expectEnd() throws(TransportError) {
        guard remaining == 0 else { throw .malformed("\(what) is followed by \(remaining) bytes") }
    }
}
