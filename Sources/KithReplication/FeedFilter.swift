package import KithDocument

/// Which documents of a database a part holder wants. The source looks which of its documents match; what a selector means is
/// the store's to know.
package enum FeedFilter: Hashable, Sendable {
    /// These documents, ascending, each once, whatever they are.
    case documents([DocumentID])
    /// What a Mango selector fits, as canonical JSON: of documents of which something lives, the winner is looked at.
    case selector([UInt8])

    /// A name in the hello: answers feeds with a filter.
    package static let capability = "filter"

    /// All of it in one way to write it: what two filters that are one have in common.
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        switch self {
        case .documents(let documents):
            writer.append(UInt8(1))
            for document in documents {
                writer.append(varint: UInt64(document.string.utf8.count))
                writer.append(contentsOf: document.string.utf8)
            }
        case .selector(let selector):
            writer.append(UInt8(2))
            writer.append(contentsOf: selector)
        }
        return writer.bytes
    }

    /// Reads what `bytes` gave; nil for anything else.
    package init?(bytes: [UInt8]) {
        guard let kind = bytes.first, bytes.count <= ReplicationLimits.filterBytes else { return nil }
        switch kind {
        case 1:
            var reader = ByteReader(Array(bytes.dropFirst()))
            var documents: [DocumentID] = []
            do {
                while !reader.isAtEnd {
                    let id = try reader.take(reader.count(atMost: DocumentID.maximumBytes))
                    documents.append(try DocumentID(String(decoding: id, as: UTF8.self)))
                }
            } catch { return nil }
            guard Self.isAscending(documents) else { return nil }
            self = .documents(documents)
        case 2: self = .selector(Array(bytes.dropFirst()))
        default: return nil
        }
    }

    /// Whether the documents ascend, each once.
    package static func isAscending(_ documents: [DocumentID]) -> Bool {
        zip(documents, documents.dropFirst()).allSatisfy { $0 < $1 }
    }
}
