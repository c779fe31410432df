import KithDocument

/// Which fresh writer wrote a leaf, for the last few thousand of them.
struct OnceWriters {
    private var writers: [RevisionID: WriterID] = [:]
    /// The leaves in the order they were written; once full, the oldest gives its place to the next.
    private var order: [RevisionID] = []
    private var oldest = 0

    subscript(leaf: RevisionID) -> WriterID? { writers[leaf] }

    mutating func insert(_ leaf: RevisionID, _ writer: WriterID) {
        guard writers.updateValue(writer, forKey: leaf) == nil else { return }
        if order.count < Limits.onceWriters {
            order.append(leaf)
        } else {
            writers[order[oldest]] = nil
            order[oldest] = leaf
            oldest = (oldest + 1) % order.count
        }
    }
}
