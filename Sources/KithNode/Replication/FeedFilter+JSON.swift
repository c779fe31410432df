import KithDocument
import KithReplication
import KithStore

// Filters as people and programs write them: an array of document ids, or a Mango selector.

extension FeedFilter {
    /// Reads a filter.
    /// - Throws: `ControlError` `usage` that says what is wrong with it.
    package init(json: JSONValue) throws(ControlError) {
        if let list = json.array {
            var documents: Set<DocumentID> = []
            for element in list {
                guard let text = element.string else { throw .noFilter }
                do throws(DocumentError) { documents.insert(try DocumentID(text)) } catch {
                    throw ControlError(error, document: text)
                }
            }
            self = .documents(documents.sorted())
        } else if json.object != nil {
            self = .selector(json.canonicalBytes)
        } else {
            throw .noFilter
        }
        guard bytes.count <= ReplicationLimits.filterBytes else {
            throw ControlError(
                .usage,
                "the filter has \(bytes.count) bytes; \(ReplicationLimits.filterBytes) are the most: a selector may say in "
                    + "fewer words what the documents have in common")
        }
        do throws(StoreError) { _ = try DocumentFilter(self) } catch {
            throw ControlError(.usage, error.message)
        }
    }

    /// What `init(json:)` reads.
    package var json: JSONValue {
        switch self {
        case .documents(let documents): .array(documents.map { .string($0.string) })
        case .selector(let selector): JSONValue(canonical: selector)
        }
    }
}

extension ControlError {
    fileprivate static let noFilter = ControlError(
        .usage, "a filter is an array of document ids, or a selector: {\"type\": \"task\"}")
}

extension DatabaseReplication {
    /// The filter as an array of ids or a selector; nil for none.
    package var filterJSON: JSONValue? { filter?.json }

    /// Sets a filter.
    /// - Throws: `ControlError` `usage` that says what is wrong with it.
    package mutating func setFilter(json: JSONValue?) throws(ControlError) {
        guard let json else { return filter = nil }
        filter = try FeedFilter(json: json)
    }
}
