extension Duration {
    /// In milliseconds, a part of one as a whole; none for what is negative, and what is longer than ten thousand years as that.
    var milliseconds: Int64 {
        guard self > .zero else { return 0 }
        let longest: Int64 = 10_000 * 366 * 86_400
        guard components.seconds < longest else { return longest * 1_000 }
        let part = (components.attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return components.seconds * 1_000 + part
    }
}
