/// A query that was built can't be: what the compiler can't see.
public struct QueryBuilderError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One sentence for people, without the content of a document.
    public let description: String

    package init(_ description: String) { self.description = description }
}
