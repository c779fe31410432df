import KithDocument

// Rows from the pages of the file, where SQLite does not find them.

extension Salvager {
    /// Looks for rows on every page of the file.
    func carve() throws(StoreError) {
        let carver = try PageCarver(file)
        // Of a document of which several rows are found the latest counts.
        for wantsBodies in [true, false] {
            for index in 1...max(1, carver.pageCount) {
                if index.isMultiple(of: 256), isCancelled() { throw .cancelled(file.name.string) }
                for row in carver.rows(onPage: index) {
                    switch row.values.count {
                    case 4 where wantsBodies: try takeCarvedBody(row.values)
                    case 7 where !wantsBodies: try takeCarvedDocument(row)
                    default: break
                    }
                }
            }
        }
    }

    func takeCarvedBody(_ values: [PageCarver.Value]) throws(StoreError) {
        guard case .text(let id) = values[0], case .blob(let revision) = values[1], case .text(let body) = values[3]
        else { return }
        switch values[2] {
        case .null: try insertBody(id, revision, nil, body)
        case .integer(let until): try insertBody(id, revision, until, body)
        default: break
        }
    }

    func takeCarvedDocument(_ row: PageCarver.Row) throws(StoreError) {
        guard case .integer(let sequence) = row.values[1], case .text(let id) = row.values[2],
            case .integer(let flags) = row.values[3], case .blob(let revision) = row.values[4],
            case .blob(let tree) = row.values[5], sequence > 0
        else { return }
        var body: [UInt8]?
        switch row.values[6] {
        case .null: break
        case .text(let text): body = text
        default: return
        }
        let found = StoredRow(
            number: row.number, sequence: UInt64(sequence), id: id, flags: flags, revision: revision, tree: tree,
            body: body)
        if try isPurged(found) { return }
        if let present = try self.sequence(of: id) {
            // What SQLite read stands; of what was found on pages the later row does.
            guard present < found.sequence, carved.contains(id) else { return }
            guard audit.check(with(found, try bodies(of: id))).isSound else { return }
            try remove(id)
        }
        carved.insert(id)
        try take(found)
    }

    /// Whether a row is one of a document that was purged since.
    func isPurged(_ row: StoredRow) throws(StoreError) -> Bool {
        guard state.purged > 0 else { return false }
        let marker = try new.prepare("SELECT leaves FROM purged WHERE id = ?1")
        marker.bind(1, text: row.id)
        guard try marker.step() else { return false }
        let leaves = try RevisionList.decode(marker.bytes(0), of: row.shownID)
        return audit.check(row).leaves.allSatisfy { leaves.contains($0) } && !leaves.isEmpty
    }
}
