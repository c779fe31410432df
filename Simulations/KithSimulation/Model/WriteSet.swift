/// A set of the writes of one document, by their numbers.
struct WriteSet: Equatable {
    private var words: [UInt64] = []

    init() {}

    init(_ number: Int) { insert(number) }

    mutating func insert(_ number: Int) {
        while words.count <= number / 64 { words.append(0) }
        words[number / 64] |= 1 << UInt64(number % 64)
    }

    func contains(_ number: Int) -> Bool {
        number / 64 < words.count && words[number / 64] & (1 << UInt64(number % 64)) != 0
    }

    mutating func formUnion(_ other: WriteSet) {
        while words.count < other.words.count { words.append(0) }
        for index in other.words.indices { words[index] |= other.words[index] }
    }

    /// The lowest number that is in this set and not in the other.
    func firstMissing(in other: WriteSet, ignoring ignored: WriteSet) -> Int? {
        for number in 0..<(64 * words.count) where contains(number) {
            if !other.contains(number), !ignored.contains(number) { return number }
        }
        return nil
    }

    static func == (left: Self, right: Self) -> Bool {
        let count = max(left.words.count, right.words.count)
        return (0..<count).allSatisfy { left.word($0) == right.word($0) }
    }

    private func word(_ index: Int) -> UInt64 { index < words.count ? words[index] : 0 }
}
