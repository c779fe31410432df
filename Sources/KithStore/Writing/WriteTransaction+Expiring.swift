import KithDocument

// Documents that expire are hidden by who reads them, at their time by the clock. What is here drops them, later.

extension WriteTransaction {
    /// Drops documents that were expired for a day of running, without a tombstone and without a marker: other nodes do the
    /// same by their own clocks, and what they still have is left out when digests are compared.
    /// - Parameter isClockOff: whether the wall clock is known to be wrong: nothing is dropped, and the time does not count.
    /// - Returns: whether there may be more.
    func dropExpired(limit: Int, isClockOff: Bool) throws(StoreError) -> Bool {
        guard memory.hasExpiryIndex else { return false }
        let elapsed = elapsedMilliseconds()
        guard !isClockOff, let certain = try noteClock(elapsed) else { return false }
        var expired: [DocumentID] = []
        let list = try connection.statement(.expired)
        defer { list.reset() }
        list.bind(1, certain)
        list.bind(2, Int64(limit))
        while try list.step() { expired.append(DocumentID(unchecked: list.string(0))) }
        list.reset()
        for id in expired {
            guard let row = try load(id).row else { continue }
            try drop(row, of: id)
            noteDropped(id)
        }
        return expired.count == limit
    }

    /// Counts the time that the store was open, for when documents that expired are dropped: before it is closed.
    package func noteRunningTime() throws(StoreError) {
        if memory.hasExpiryIndex { _ = try noteClock(elapsedMilliseconds()) }
    }

    /// What the clock has said for a day, where there are documents that expire.
    private func noteClock(_ elapsed: UInt64) throws(StoreError) -> Int64? {
        guard try connection.number("SELECT 1 FROM documents WHERE flags & 16 LIMIT 1") != nil else { return nil }
        let before = try ExpiryWatch.read(connection)
        var watch = before
        watch.note(wall: environment.now(), elapsed: elapsed)
        if watch != before { try watch.write(connection) }
        return watch.certain
    }

    func noteDropped(_ id: DocumentID) {
        memory.dropped?.insert(id)
        if let count = memory.dropped?.count, count > Limits.droppedDocuments { memory.dropped = nil }
    }

    /// Whether the document may have been dropped in this timeline.
    func wasDropped(_ id: DocumentID) -> Bool { memory.dropped?.contains(id) ?? true }

    /// Before the first document that expires: most databases have none, and pay nothing for it.
    func requireExpiryIndex() throws(StoreError) {
        if memory.hasExpiryIndex { return }
        try connection.run(Schema.expiryIndex)
        memory.hasExpiryIndex = true
    }

    /// Since it was last asked, by the clock that only goes forward; 0 the first time.
    private func elapsedMilliseconds() -> UInt64 {
        let now = environment.monotonic()
        defer { askedAt = now }
        return askedAt.map { now - min($0, now) } ?? 0
    }
}
