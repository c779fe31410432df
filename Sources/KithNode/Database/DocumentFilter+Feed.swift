import KithReplication
import KithStore

extension DocumentFilter {
    /// A feed's filter, as the store evaluates it.
    /// - Throws: `StoreError` `invalid` for a selector that is none.
    init(_ filter: FeedFilter) throws(StoreError) {
        switch filter {
        case .documents(let documents): self.init(documents, bytes: filter.bytes)
        case .selector(let selector): try self.init(selector: selector, bytes: filter.bytes)
        }
    }

    /// The same where there may be none.
    static func of(_ filter: FeedFilter?) throws(StoreError) -> DocumentFilter? {
        guard let filter else { return nil }
        return try DocumentFilter(filter)
    }
}
