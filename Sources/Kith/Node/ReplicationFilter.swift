import KithDocument
import KithNode

/// Which documents of a database a node takes from others: a part of it, looked for where the data is. What this node writes
/// goes out whatever it is, and what does not match is removed here once another node has it (docs/replication-control.md).
public enum ReplicationFilter: Hashable, Sendable {
    /// The documents with these ids, whatever they are, deleted ones too.
    case documents(Set<String>)
    /// The documents that a Mango selector fits, as `_find` of CouchDB has it: `["type": "task", "to": "den"]`. The shown
    /// revision is looked at; a deleted document fits nothing.
    case selector(JSONValue)

    init(_ filter: KithDocument.JSONValue) {
        self =
            if let documents = filter.array { .documents(Set(documents.compactMap(\.string))) } else {
                .selector(JSONValue(filter))
            }
    }

    /// As the node takes it; that an object is a selector is for it to say.
    var json: KithDocument.JSONValue {
        switch self {
        case .documents(let documents): .array(documents.sorted().map { .string($0) })
        case .selector(let selector): selector.tree.array == nil ? selector.tree : .null
        }
    }
}
