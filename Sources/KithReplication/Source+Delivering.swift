internal import KithDocument

// Documents on their way to the puller.

extension Source {
    /// The store has read what it could of the first request.
    /// - Returns: false when nothing came of it, which must not be asked again.
    mutating func read(_ page: DeliveriesPage, _ facts: inout SessionFacts, _ output: inout LinkOutput) -> Bool {
        isDelivering = false
        guard !requests.isEmpty else { preconditionFailure("feed \(feed) has read documents that nobody asked for") }
        let isFinal = page.rest.isEmpty
        if !isFinal, page.deliveries.isEmpty, page.gone.isEmpty { return false }
        let request = requests[0].request
        requests[0].wants = page.rest
        if isFinal { requests.removeFirst() }
        let (deliveries, tooLarge) = Self.parts(of: page.deliveries)
        let gone = page.gone + tooLarge
        facts.pushed += UInt64(deliveries.reduce(0) { $0 + $1.delivery.items.count })
        if !deliveries.isEmpty {
            output.report(
                .documents(database: facts.database, deliveries.map(\.delivery.document), isIncoming: false))
        }
        send(deliveries, gone, request, isFinal: isFinal, &output)
        return true
    }

    private mutating func send(
        _ deliveries: [(delivery: Delivery, bytes: Int)], _ gone: [DocumentID], _ request: UInt64, isFinal: Bool,
        _ output: inout LinkOutput
    ) {
        var group: [Delivery] = []
        var bytes = gone.reduce(0) { $0 + $1.string.utf8.count + 3 }
        var gone = gone
        for (delivery, size) in deliveries {
            if size > ReplicationLimits.inlineDeliveryBytes {
                sendChunks(of: delivery, request, &output)
                continue
            }
            if !group.isEmpty, bytes + size > ReplicationLimits.inlineDeliveryBytes + ReplicationLimits.chunkBytes {
                sendFrame(group, gone, request, isFinal: false, &output)
                (group, gone, bytes) = ([], [], 0)
            }
            group.append(delivery)
            bytes += size
        }
        if isFinal || !group.isEmpty || !gone.isEmpty { sendFrame(group, gone, request, isFinal: isFinal, &output) }
    }

    private func sendFrame(
        _ deliveries: [Delivery], _ gone: [DocumentID], _ request: UInt64, isFinal: Bool, _ output: inout LinkOutput
    ) {
        var writer = CBORWriter(capacity: deliveries.reduce(256 + 64 * gone.count) { $0 + $1.encodedBytes })
        let start = writer.beginFrame(.revisions)
        writer.beginRevisions(feed, request, isFinal: isFinal, gone: gone, deliveries: deliveries.count)
        for delivery in deliveries { writer.append(delivery: delivery) }
        writer.endFrame(start)
        output.gate.enqueue(writer.bytes)
    }

    /// All parts of one document, one after the other, so that no other large one comes between.
    private func sendChunks(of delivery: Delivery, _ request: UInt64, _ output: inout LinkOutput) {
        var whole = CBORWriter(capacity: delivery.encodedBytes)
        whole.append(delivery: delivery)
        let bytes = whole.bytes
        for offset in stride(from: 0, to: bytes.count, by: ReplicationLimits.chunkBytes) {
            let part = bytes[offset..<min(offset + ReplicationLimits.chunkBytes, bytes.count)]
            var writer = CBORWriter(capacity: part.count + 64)
            let start = writer.beginFrame(.revisionChunk)
            writer.append(feed, request, bytes.count, offset, part)
            writer.endFrame(start)
            output.gate.enqueue(writer.bytes)
        }
    }

    /// The deliveries with their size; one that is too large for a delivery is divided by its revisions, and a revision
    /// that is too large by itself can't travel.
    private static func parts(
        of deliveries: [Delivery]
    ) -> (parts: [(delivery: Delivery, bytes: Int)], tooLarge: [DocumentID]) {
        var parts: [(delivery: Delivery, bytes: Int)] = []
        parts.reserveCapacity(deliveries.count)
        var tooLarge: [DocumentID] = []
        for delivery in deliveries {
            let bytes = delivery.encodedBytes
            if bytes <= ReplicationLimits.deliveryBytes, delivery.items.count <= DocumentLimits.leaves {
                parts.append((delivery, bytes))
                continue
            }
            let count = parts.count
            for item in delivery.items {
                let part = Delivery(document: delivery.document, items: [item])
                if part.encodedBytes <= ReplicationLimits.deliveryBytes { parts.append((part, part.encodedBytes)) }
            }
            if parts.count == count { tooLarge.append(delivery.document) }
        }
        return (parts, tooLarge)
    }
}
