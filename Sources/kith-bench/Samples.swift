import KithDocument

/// Documents of about 200 bytes as an application gives them, the same in each run.
struct Samples {
    let ids: [DocumentID]
    let texts: [[UInt8]]
    /// An order of reading them.
    let order: [Int]

    init(count: Int) {
        var numbers = Numbers(state: 7)
        ids = (0..<count).map { _ in DocumentID(unchecked: "item:\(Hex.encode(numbers.next()))") }
        texts = (0..<count).map { number in
            Array(
                """
                {"name":"Document number \(number)","kind":"sample","price":\(numbers.next() % 10_000),"tags":["one","two",\
                "three"],"owner":{"id":\(numbers.next() % 1000),"mail":"owner\(number)@example.org"},"note":"some words to fill"}
                """.utf8)
        }
        order = (0..<count).map { _ in Int(numbers.next() % UInt64(count)) }
    }

    /// All of them as an import reads them: one a line, each with its id.
    var lines: [UInt8] {
        var lines: [UInt8] = []
        lines.reserveCapacity(ids.count * 256)
        for (id, text) in zip(ids, texts) {
            lines += Array(#"{"_id":"\#(id.string)","#.utf8)
            lines += text.dropFirst()
            lines.append(UInt8(ascii: "\n"))
        }
        return lines
    }
}

/// Numbers that are the same in each run (SplitMix64).
struct Numbers {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
